import sys

import pytest

from envs.robots import maker


class Part:
    def __init__(self, name=""):
        self.name = name


def test_a_part_is_made_without_or_with_what_stands_behind_a_colon(monkeypatch):
    monkeypatch.setitem(sys.modules, "some_parts", sys.modules[__name__])
    assert maker("some_parts.Part")().name == ""
    assert maker("some_parts.Part:0123:4")().name == "0123:4"


@pytest.mark.parametrize("path", ["some", "no_such_module.Part", "envs.robots.Nothing", ""])
def test_what_is_not_there_is_an_import_error(path):
    with pytest.raises(ImportError):
        maker(path)
