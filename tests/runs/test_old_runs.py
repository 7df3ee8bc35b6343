"""What was recorded before the model had norms and layers is still what the code makes."""

import pytest

from grokkit import experiments, runs
from grokkit.engine import RunSpec
from grokkit.model import ModelSpec
from grokkit.runtime import any_specs_of
from grokkit.settings import plain

NEW = ("norm", "layers", "causal", "readout_scale", "init", "toeplitz_length")

OMIT_IF_DEFAULT = {
    "ln-placement", "readout-scale", "lr-and-decay", "med-tracking", "holes", "toeplitz",
    "polynomial-ceiling", "depth", "ln-placement-again", "polynomial-ceiling-again",
    "polynomial-ceiling-factors", "lazy-to-rich",
}  # fmt: skip
"""The recordings of what the model has learned since."""


@pytest.mark.parametrize("name", runs.names())
def test_every_recorded_spec_is_written_as_it_was(name):
    history = runs.load(name)
    texts = [str(text) for text in history.spec.values]
    assert any(f'"{new}"' in text for new in NEW for text in texts) == (name in OMIT_IF_DEFAULT)
    assert [spec.to_json() for spec in any_specs_of(history)] == texts


@pytest.mark.parametrize("name", ["live", "geometry"])
def test_first_epochs_of_recordings_come_out_again(name):
    """The hand-written step, and with the summed prior and several heads, too."""
    history = runs.load(name)
    first = history.isel(run=slice(0, None, 5))
    assert experiments.differences(first, epochs=25, progress=False) == []


def test_a_new_setting_is_in_the_text_where_it_is_used():
    spec = RunSpec().with_(readout="residual", norm="M+A*", layers=2, norm_eps=0.0)
    assert set(spec.to_dict()["model"]) - set(plain(ModelSpec())) == {"norm", "layers", "norm_eps"}
    assert RunSpec.from_json(spec.to_json()) == spec
