"""Magnitude pruning: how many go, which ones, and what a run then begins with."""

from pathlib import Path

import pytest
import torch

from grokkit.engine import RunSpec, Trainer, load_weights
from grokkit.errors import SettingError
from grokkit.model import Layout, Parameters
from grokkit.tickets import Pruning, draw, load_ticket, prunable, prune, save_ticket, shuffled
from tests.engine.small import SMALL

SOURCE = SMALL.with_(seed=9)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunSpec, Parameters]:
    return load_weights(draw(SOURCE, tmp_path_factory.mktemp("source") / "s.safetensors"))


def ticket_file(ticket, tmp_path: Path) -> str:
    return str(save_ticket(ticket, tmp_path / f"{ticket.digest}.safetensors"))


def test_a_source_is_the_run_at_its_end(source):
    trainer = Trainer([SOURCE])
    trainer.advance()
    assert source[0] == SOURCE and source[1].flat.equal(trainer.weights.flat)


@pytest.mark.parametrize("sparsity", [0.01, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("pruned", ["all", "all_but_scores", "mlp"])
def test_the_share_is_exact_and_the_smallest_go(source, sparsity, pruned):
    spec, weights = source
    by_layer = prune(spec, weights, Pruning(sparsity, pruned=pruned))
    by_all = prune(spec, weights, Pruning(sparsity, "global", pruned))
    names = prunable(weights.layout, pruned)
    assert tuple(by_layer.kept) == tuple(by_all.kept) == names
    size = {name: weights[name][0].detach().abs() for name in names}
    for name, kept in by_layer.kept.items():
        assert (~kept).sum().item() == round(sparsity * kept.numel())
        assert (
            not kept.any()
            or (~kept).sum() == 0
            or size[name][kept].min() >= size[name][~kept].max()
        )
    flat = torch.cat([kept.flatten() for kept in by_all.kept.values()])
    assert (~flat).sum().item() == round(sparsity * flat.numel())
    values = torch.cat([size[name].flatten() for name in names])
    assert not flat.any() or values[flat].min() >= values[~flat].max()


def test_equal_weights_do_not_make_it_inexact():
    weights = Parameters(Trainer([SMALL]).weights.layout, Trainer([SMALL]).weights.flat.sign())
    for scope in ("layer", "global"):
        ticket = prune(SMALL, weights, Pruning(0.3, scope))
        kept = torch.cat([one.flatten() for one in ticket.kept.values()])
        share = (~kept).double().mean().item()
        assert share == pytest.approx(0.3, abs=len(ticket.kept) / len(kept))


@pytest.mark.parametrize(
    ("which", "classifier", "residual"),
    [
        ("all", "QKV12", "QKVO12U"),
        ("all_but_scores", "V12", "VO12U"),
        ("mlp", "12", "12U"),
    ],
)
def test_what_is_pruned_has_a_name(which, classifier, residual):
    plain = Layout.of(SMALL.model, 6, 5, 5)
    usual = SMALL.with_(readout="residual", output_projection=True)
    assert prunable(plain, which) == tuple(f"W_{letter}" for letter in classifier)
    assert prunable(Layout.of(usual.model, 6, 5, 5), which) == tuple(f"W_{c}" for c in residual)


def test_rewinding_and_transfer(source, tmp_path):
    """Under its own seed a run begins where the source began; under another, where that does."""
    spec, weights = source
    own, rewound = (prune(spec, weights, Pruning(0.5, start=start)) for start in ("own", "rewound"))
    assert own.initial is None and own.kept.keys() == rewound.kept.keys()
    paths = [ticket_file(ticket, tmp_path) for ticket in (own, rewound)]
    for seed, path, begins_as in ((9, 0, 9), (9, 1, 9), (2, 0, 2), (2, 1, 9)):
        dense = Trainer([SOURCE.with_(seed=begins_as)]).weights
        run = Trainer([SOURCE.with_(seed=seed, ticket=paths[path])])
        for name, value in run.weights.items():
            kept = own.kept.get(name, torch.ones_like(value[0], dtype=torch.bool))
            assert value[0].equal(dense[name][0] * kept)


def test_a_pruned_network_can_be_pruned_further(source, tmp_path):
    first = prune(source[0], source[1], Pruning(0.5))
    path = ticket_file(first, tmp_path)
    spec, weights = load_weights(draw(SOURCE.with_(ticket=path), tmp_path / "w.safetensors"))
    second = prune(spec, weights, Pruning(0.8, start="rewound"))
    for name, kept in second.kept.items():
        assert not (kept & ~first.kept[name]).any()
    assert second.initial is not None
    assert not second.initial["W_1"][~first.kept["W_1"]].any(), "what that run began with"


def test_a_random_mask_is_as_sparse_in_every_matrix(source, tmp_path):
    ticket = prune(source[0], source[1], Pruning(0.8, "global", start="rewound"))
    one, other = shuffled(ticket, 0), shuffled(ticket, 1)
    for name, kept in ticket.kept.items():
        assert one.kept[name].sum() == other.kept[name].sum() == kept.sum()
    assert len({ticket.digest, one.digest, other.digest, shuffled(ticket, 0).digest}) == 3
    assert one.initial is ticket.initial
    assert load_ticket(ticket_file(one, tmp_path)).origin == {
        "spec": SOURCE.to_dict(),
        "pruning": {"sparsity": 0.8, "scope": "global", "pruned": "all", "start": "rewound"},
        "mask": "random",
        "mask_seed": 0,
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [("sparsity", 0.0), ("sparsity", 1.0), ("sparsity", float("nan")), ("scope", "model"),
     ("pruned", "attention"), ("start", "fresh")],
)  # fmt: skip
@pytest.mark.usefixtures("unchecked")
def test_settings_that_make_no_sense_are_refused_by_name(field, value):
    with pytest.raises(SettingError) as refused:
        Pruning(**{field: value})
    assert refused.value.field == field


def test_weights_that_cannot_be_pruned_are_refused():
    weights = Trainer([SMALL, SMALL.with_(seed=1)]).weights
    with pytest.raises(SettingError, match=r"^weights: got '2 runs'"):
        prune(SMALL, weights)
    broken = weights.run(0)
    broken.flat[0, -20] = float("nan")
    with pytest.raises(SettingError, match=r"^weights: .*not finite"):
        prune(SMALL, broken)
