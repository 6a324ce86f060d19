from rlbench import faults

from pyrep import world


class PyRep:
    running = False

    def step(self) -> None:
        faults.tick()

    def shutdown(self) -> None:
        PyRep.running = False
        world.NODES.clear()
        if faults.bad_shutdown:
            raise RuntimeError("it will not go")
