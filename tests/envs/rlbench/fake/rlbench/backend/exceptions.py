class InvalidActionError(Exception):
    pass


class TaskEnvironmentError(Exception):
    pass
