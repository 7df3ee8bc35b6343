"""What the README and lesson 01 promise of the live preset, run anew."""

import pytest

from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.engine import grid, presets
from grokkit.runtime import train


@pytest.mark.slow
def test_the_live_preset_memorises_and_groks_when_it_should_for_four_of_five_seeds():
    live = presets["live"].with_(epochs=1800, record_every=50, stop_after=0)
    history = train(grid(live, seed=range(5)), workers=1, progress=False)
    memorised = memorise_epoch(history) <= 150
    grokked = (grok_epoch(history, 0.95) >= 700) & (grok_epoch(history, 0.95) <= 1800)
    assert int((memorised & grokked).sum()) >= 4
