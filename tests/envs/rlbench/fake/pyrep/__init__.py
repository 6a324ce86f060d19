from pyrep.pyrep import PyRep

__all__ = ["PyRep"]
