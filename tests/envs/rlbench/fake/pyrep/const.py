from enum import Enum


class ObjectType(Enum):
    ALL = -1
    SHAPE = 0
    JOINT = 1
    DUMMY = 4
