"""What is missing is named with the command that mends it, before a simulator is thought of."""

import subprocess
import sys

import pytest

from envs.calvin import CAMERAS, Calvin, checkout
from harness.components import build
from harness.failures import UsageError
from harness.protocols import Actuation, Chained, Manipulation

TARGET = {"_target_": "envs.calvin.Calvin"}


def what(problems):
    return " ".join(problem.what for problem in problems)


def test_importing_the_config_is_light():
    code = (
        "import sys, envs.calvin; "
        "print([name for name in ('numpy', 'scipy', 'pybullet', 'omegaconf', 'yaml', 'mujoco') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_root_the_variable_and_the_clones_are_named(monkeypatch):
    monkeypatch.delenv("CALVIN_ROOT", raising=False)
    (problem,) = checkout.checkout_problems(None)
    for part in ("mees/calvin_env", "mees/calvin ", "CALVIN_ROOT", "env.root"):
        assert part in problem.fix
    with pytest.raises(UsageError, match="does not know where CALVIN's code is"):
        Calvin().suite()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    gone = tmp_path / "gone"
    assert str(gone) in what(checkout.checkout_problems(str(gone)))
    with pytest.raises(UsageError, match="there is no folder"):
        Calvin(root=str(gone)).open()


def test_a_missing_repository_and_a_missing_file_are_named(fake_root):
    assert checkout.checkout_problems(str(fake_root)) == []
    scene = fake_root / "calvin_env" / "conf" / "scene" / "calvin_scene_D.yaml"
    scene.unlink()
    assert str(scene) in what(checkout.checkout_problems(str(fake_root)))
    (fake_root / "calvin").rename(fake_root / "other")
    told = what(checkout.checkout_problems(str(fake_root)))
    assert str(fake_root / "calvin") in told and str(scene) not in told


def test_the_configs_root_goes_before_the_variable(fake_root, tmp_path, monkeypatch):
    monkeypatch.setenv("CALVIN_ROOT", str(tmp_path / "elsewhere"))
    assert checkout.required(str(fake_root)).root == fake_root
    monkeypatch.setenv("CALVIN_ROOT", str(fake_root))
    assert checkout.required(None).root == fake_root


def test_missing_packages_are_named_by_the_name_to_install_them_by(monkeypatch):
    monkeypatch.setattr(checkout.importlib.util, "find_spec", lambda name: None if name == "cv2" else True)
    (problem,) = checkout.package_problems()
    assert "opencv-python-headless" in problem.what and "pybullet" not in problem.what
    assert problem.fix == "pip install -e '.[calvin]'"


def test_keys_are_those_of_the_yaml(fake_root):
    config = build({**TARGET, "suite": "chains", "root": str(fake_root)}, "env")
    assert [task.name for task in config.suite()] == ["chain"]
    assert config.interfaces() == (Manipulation, Actuation, Chained)
    assert config.cameras() == CAMERAS


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"suite": "paper"}, "paper50, chains"),
        ({"noise": -1.0}, "0 \\(off\\) or more"),
        ({"noise": float("nan")}, "noise is nan"),
    ],
)
def test_values_that_cannot_be_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        build({**TARGET, **values}, "env")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"suite": "chains", "scenes": 1001}, "1000 scenes of chain, not 1001; lower env.scenes"),
        ({"scenes": 30}, "500 scenes of open_drawer, not 750"),  # 25 of the first 50 chains begin with it
        ({"scenes": 30, "tasks": ["turn_on_led"]}, "250 scenes of turn_on_led, not 390"),
    ],
)
def test_more_scenes_than_there_are_are_refused_before_anything_is_played(fake_root, values, message):
    with pytest.raises(UsageError, match=message):
        build({**TARGET, "root": str(fake_root), **values}, "env").suite()
    assert build({**TARGET, "root": str(fake_root), **values, "scenes": 2}, "env").suite()


def test_sentences_are_read_by_task(fake):
    assert fake.validation_sentences()["open_drawer"] == "please open_drawer"
    assert len(fake.training_sentences()["stack_block"]) == 7


@pytest.mark.parametrize("text", ["- a list", "open_drawer: [unclosed", "just words"])
def test_a_file_that_holds_no_sentences_is_named(fake, text):
    path = fake.benchmark / "calvin_models/conf/annotations/new_playtable_validation.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match="new_playtable_validation"):
        fake.validation_sentences()
