"""The check that the first lesson begins with."""

import pytest

from grokkit.classroom import check_installation, installation


def test_it_says_what_is_installed_and_how_long_the_live_run_takes(capsys):
    check_installation()
    out = capsys.readouterr().out
    for words in ("Python 3", "torch ", "jupyterlab ", "epochs a second", "All is well."):
        assert words in out


def test_something_missing_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(installation, "NEEDED", ("torch", "no_such_package"))
    with pytest.raises(ModuleNotFoundError, match=r"no_such_package is missing; .*pip install"):
        check_installation()
