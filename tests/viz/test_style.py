"""The five looks: told apart by everyone, and on grey paper."""

import itertools
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

from grokkit.viz import LOOKS, png, style
from grokkit.viz.style import VARIABLES, picture
from tests.viz.colors import VISION, lab, linear_of


@pytest.mark.parametrize("vision", VISION)
def test_any_two_colours_differ_for_every_eye(vision: str):
    seen = {}
    for name, look in LOOKS.items():
        seen[name] = lab(np.array(VISION[vision]) @ linear_of(look.color))
    for a, b in itertools.combinations(seen, 2):
        assert np.linalg.norm(seen[a] - seen[b]) > 15, (a, b)


@pytest.mark.parametrize("vision", VISION)
def test_the_two_parts_of_the_test_accuracy_are_light_and_dark_for_every_eye(vision: str):
    light, dark = (
        lab(np.array(VISION[vision]) @ linear_of(VARIABLES[name].line["color"]))
        for name in ("mirrored_accuracy", "unmirrored_accuracy")
    )
    assert light[0] - dark[0] > 30
    assert VARIABLES["mirrored_accuracy"].line["linestyle"] != "-"  # and on grey paper


def test_any_two_lines_differ_on_grey_paper():
    assert len(LOOKS) == 5
    assert len({(repr(look.linestyle), look.marker) for look in LOOKS.values()}) == 5


def test_variables_of_one_quantity_differ_in_more_than_colour():
    kinds = {"accuracy", "loss"}
    for look in LOOKS:
        lines = [
            (repr(shown.line["linestyle"]), repr(shown.line["marker"]))
            for name, shown in VARIABLES.items()
            if shown.look == look and name not in {f"{look}_{kind}" for kind in kinds}
        ]
        if look != "norm":  # of its two, no picture shows both
            assert len(set(lines)) == len(lines), look


def test_the_style_leaves_matplotlib_as_it_was():
    before = dict(matplotlib.rcParams)
    with pytest.raises(ZeroDivisionError), style():
        assert matplotlib.rcParams["figure.dpi"] <= 110
        raise ZeroDivisionError
    assert dict(matplotlib.rcParams) == before


def test_the_style_does_not_depend_on_what_the_user_has_set():
    def made() -> bytes:
        with style():
            figure = picture(2, 2)
            figure.subplots().plot([1, 2])
        return png(figure)

    first = made()
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.facecolor": "red"}):
        assert made() == first


@pytest.mark.slow
def test_drawing_uses_no_pyplot():
    code = (
        "import sys; from tests.viz.small import small_history; from grokkit import viz\n"
        "viz.png(viz.four_panels(small_history()))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
