"""Tickets that are cut gently: what the source can still do under a mask, and who says so."""

from itertools import pairwise

import pytest

from grokkit.engine import Trainer, load_weights
from grokkit.engine.ticket import Ticket, load_ticket, save_ticket
from grokkit.experiments import Evidence, sources
from grokkit.experiments.tickets import keeps
from grokkit.tickets import Pruning, prune
from tests.experiments.tiny import made, shrink


@pytest.fixture
def source(tmp_path):
    """A folder with a tiny trained network."""
    made("lottery.safetensors")
    path = made("source.safetensors")
    (tmp_path / "source.safetensors").write_bytes(path.read_bytes())
    return tmp_path


def test_under_a_mask_that_keeps_all_the_source_answers_as_it_did(source):
    spec, weights = load_weights(source / "source.safetensors")
    trainer = Trainer([spec])
    trainer.advance()
    whole = prune(spec, weights, Pruning(sparsity=0.5))
    whole = Ticket({name: kept | True for name, kept in whole.kept.items()})
    save_ticket(whole, source / "whole.safetensors")
    records = trainer.records.values
    last = tuple(float(records[f"{side}_accuracy"][-1]) for side in ("train", "test"))
    assert sources.right_under(str(source / "whole.safetensors")) == pytest.approx(last)


def test_under_a_mask_that_keeps_nothing_all_pairs_get_one_answer(source):
    spec, weights = load_weights(source / "source.safetensors")
    none = prune(spec, weights, Pruning(sparsity=0.5))
    none = Ticket({name: kept & False for name, kept in none.kept.items()})
    save_ticket(none, source / "none.safetensors")
    data = spec.task.build(spec.seed)
    shares = sources.right_under(str(source / "none.safetensors"))
    for share, part in zip(shares, (data.train, data.test), strict=True):
        counts = part.targets.bincount() / len(part.targets)
        assert min(abs(float(one) - share) for one in counts) < 1e-6


@pytest.mark.parametrize(("right", "kept"), [((1.0, 0.97), True), ((1.0, 0.94), False)])
def test_a_mask_keeps_the_function_or_does_not(monkeypatch, right: tuple, kept: bool):
    from grokkit.experiments import tickets
    from grokkit.experiments.tickets import AGAIN

    monkeypatch.setattr(tickets, "right_under", lambda file: right)
    spec = shrink(AGAIN.arms(seeds=[0])["lottery 0.5"][0])

    class There(Evidence):
        def arm(self, name):
            return None

    there = There(None, {"lottery 0.5": [spec, spec.with_(seed=1)]})
    for holds in (True, False):
        (part,) = keeps("lottery 0.5", holds=holds)(there)
        assert part.outcomes == (kept == holds,) * 2
        assert "test 0.9" in part.seen


def test_gentler_masks_keep_what_deeper_ones_keep_and_more():
    """Of one source: the largest weights are kept, so the masks lie inside each other."""
    files = [sources.ticket("classroom", f"lottery-{s:g}") for s in sources.WHOLE]
    masks = [load_ticket(file).kept for file in (*files, sources.ticket("classroom", "lottery"))]
    for gentle, deep in pairwise(masks):
        assert all(bool((gentle[name] | ~deep[name]).all()) for name in deep)
