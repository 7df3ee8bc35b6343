"""Settings that came later are written only where they are used."""

from dataclasses import dataclass, field

from grokkit.settings import OMIT_IF_DEFAULT, plain


@dataclass(frozen=True)
class Old:
    size: int = 3


@dataclass(frozen=True)
class New(Old):
    kind: str = field(default="usual", metadata=OMIT_IF_DEFAULT)


def test_a_later_field_is_left_out_at_its_default_and_only_there():
    assert plain(New()) == plain(Old()) == {"size": 3}
    assert plain(New(kind="other")) == {"size": 3, "kind": "other"}
    assert plain(New(4)) == {"size": 4}


def test_what_is_written_reads_back_as_the_same_settings():
    for one in (New(), New(kind="other"), New(5, "other")):
        assert New(**plain(one)) == one
