"""Arms of one seed share the initial weights that they can share."""

import pytest
import torch

from grokkit.engine import RunSpec, Trainer, presets
from grokkit.runtime import spec_key
from grokkit.tasks import SparseParity

LIVE = presets["live"]


def weights(spec: RunSpec) -> dict[str, torch.Tensor]:
    return {name: array[0].detach() for name, array in Trainer([spec]).weights.items()}


@pytest.mark.parametrize(
    "change",
    [
        {"distractors": "constant"},
        {"distractors": "random"},
        {"alphabet": 9},
        {"length": 8},
        {"length": 3},
        {"task": SparseParity()},
    ],
    ids=str,
)
def test_arms_share_all_that_both_have(change: dict[str, object]):
    arm = LIVE.with_(**change)
    ours, theirs = weights(LIVE), weights(arm)
    for name in ("W_Q", "W_K", "W_V", "W_1", "b_1", "b_2"):
        if ours[name].shape == theirs[name].shape:
            assert torch.equal(ours[name], theirs[name]), name
    rows = min(len(ours["token_embedding"]), len(theirs["token_embedding"]))
    assert torch.equal(ours["token_embedding"][:rows], theirs["token_embedding"][:rows])
    ours_p, theirs_p = ours["position_embedding"], theirs["position_embedding"]
    both = min(len(ours_p), len(theirs_p)) - 1
    assert torch.equal(ours_p[-1], theirs_p[-1])  # the query's
    assert torch.equal(ours_p[:both], theirs_p[:both])


def test_arrays_are_independent():
    ours = weights(LIVE)
    flat = {n: w.flatten() for n, w in ours.items() if w.dim() == 2 and w.numel() >= 320}
    names = sorted(flat)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            size = min(len(flat[one]), len(flat[other]))
            pair = torch.stack([flat[one][:size], flat[other][:size]])
            assert abs(torch.corrcoef(pair)[0, 1]) < 5 / size**0.5


def test_a_file_from_before_means_one_stream():
    old = LIVE.with_(weight_streams="one")
    written = old.to_dict()
    assert "weight_streams" not in written["model"]
    assert RunSpec.from_dict(written) == old
    assert RunSpec.from_json(LIVE.to_json()) == LIVE
    # The name under which the live preset was stored before there was a choice.
    assert spec_key(old) == "e21a6985dc41a5b4"
    assert spec_key(LIVE) != spec_key(old)


def test_one_stream_makes_other_weights():
    one, array = weights(LIVE.with_(weight_streams="one")), weights(LIVE)
    assert not any(torch.equal(one[n], array[n]) for n in ("W_Q", "W_2", "token_embedding"))
