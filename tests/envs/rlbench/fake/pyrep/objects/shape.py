from pyrep.objects.object import Object


class Shape(Object):
    pass
