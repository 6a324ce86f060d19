"""What goes over the wire: the answers of the task server, and the parts of its requests that are JSON. Field names are the
published server's.

    POST /tasks                         form: global_instruction, observer_window_size, planner_execution_mode, use_observer,
                                        use_memory, human_intervene_for_planner, reset_planner_conversation, annotation;
                                        files: initial_image, initial_waist_image                           -> TaskState
    POST /tasks/{task_id}/step          files: image, waist_image, one of each a moment, oldest first;
                                        form: annotation, none or one a moment                              -> TaskState
    POST /tasks/{task_id}/user_instruction      JSON: UserInstruction                                       -> TaskState
    GET  /resume_state                                                                                      -> ResumeState

What cannot be used is answered with a status of 4xx and `{"detail": "what is wrong"}`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, StringConstraints

RuntimeState = Literal["observing", "planner_running", "done", "failed"]
PlannerStatus = Literal["idle", "running", "failed"]
Mode = Literal["sync", "async"]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]
"""What a user says."""


class Refused(Exception):
    """What was sent is not taken, and nothing of it has happened; `status` is HTTP's."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


class TaskState(BaseModel):
    """Where a task is."""

    task_id: str
    is_done: bool
    """The planner sees nothing left to do. A later user instruction takes the task up again."""
    runtime_state: RuntimeState
    """`failed`: a model could not be asked or gave no answer that can be used. The next step tries again."""
    planner_status: PlannerStatus
    plan_list: str
    """One step a line, each with its state first: `[done]`, `[current]`, `[pending]`."""
    summary: str
    """The planner's last one; when something failed, what it was."""
    current_subtask_description: str | None
    """What the executor is to do; None when there is nothing to do, or no plan yet."""


class ResumeState(BaseModel):
    """What the server goes on with."""

    has_resumed_task: bool
    task: TaskState | None = None
    """The one that is not done and was spoken to last."""
    tasks: list[TaskState] = []
    """All that it knows, the one that was spoken to last first."""


class UserInstruction(BaseModel):
    user_new_instruction: Words


def _ordered(box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    left, top, right, bottom = box
    if not (0 <= left < right and 0 <= top < bottom):
        raise ValueError("a box is left, top, right, bottom in pixels, the last two not included")
    return box


class Mark(BaseModel):
    """A thing that a camera sees."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[^\s;:](?:[^\n\r;]*[^\s;])?$", max_length=100)]
    """On one line, without a semicolon: frames list marks on a line, separated by those."""
    box: Annotated[tuple[int, int, int, int], AfterValidator(_ordered)]


class Annotation(RootModel[dict[str, Annotated[list[Mark], Field(max_length=200)]]]):
    """What the cameras see at one moment, by the served method's names for them (`method.cameras`):
    `{"wrist": [{"name": "mug", "box": [10, 20, 30, 40]}], "third_person": []}`."""
