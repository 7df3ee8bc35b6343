"""A run under a ticket: what is pruned is 0 and stays so, and the file says whose it is."""

import dataclasses
import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from grokkit.engine import Trainer, save_weights
from grokkit.engine.ticket import (
    HEADER,
    Ticket,
    TicketError,
    load_ticket,
    save_ticket,
)
from grokkit.errors import SettingError
from grokkit.model import MLP_WEIGHTS
from grokkit.runtime import spec_key, train
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from tests.engine.forged import forge
from tests.engine.small import SMALL, same

SHORT = SMALL.with_(epochs=12, record_every=6)
RUNS = {
    "adamw": SHORT,
    "muon": SHORT.with_(optimizer="muon"),
    "adam, minibatches": SHORT.with_(optimizer="adam", batch_size=5),
    "lion, grokfast": SHORT.with_(optimizer="lion", accelerator="grokfast"),
    "sgd, orthogonal": SHORT.with_(optimizer="sgd", accelerator="orthogonal"),
    "norm-matching": SHORT.with_(mlp_radius=3.0, qk_penalty=0.5),
    "autograd": SHORT.with_(readout="residual", attention="relu", kl_strength=0.5),
    "noise": SHORT.with_(kl_strength=0.5, penalty_gradient="noise"),
}


def make(spec, initial=False, seed=0) -> Ticket:
    """A random half of every matrix, and perhaps initial weights that no seed gives."""
    stream = torch.Generator().manual_seed(seed)
    shapes = Trainer([spec]).weights.layout.shapes
    kept = {
        name: torch.rand(shape, generator=stream) < 0.5
        for name, shape in shapes.items()
        if name.startswith("W_")
    }
    values = {name: torch.randn(shape, generator=stream) for name, shape in shapes.items()}
    return Ticket(kept, values if initial else None, {"mask": "by a test"})


def pruned_of(trainer, ticket) -> torch.Tensor:
    """The pruned places of the flat buffer."""
    flat = torch.zeros(trainer.weights.layout.size, dtype=torch.bool)
    for name, place, _ in trainer.weights.layout.slices():
        if name in ticket.kept:
            flat[place] = ~ticket.kept[name].flatten()
    return flat


def whole(specs) -> Trainer:
    trainer = Trainer(specs)
    trainer.advance()
    return trainer


def resumed(specs, tmp_path) -> Trainer:
    """Stopped after 7 epochs, saved, read again, and trained to the end."""
    halted = Trainer(specs)
    halted.advance(7)
    trainer = load_checkpoint(save_checkpoint(halted, tmp_path / "checkpoint.safetensors"))
    trainer.advance()
    return trainer


@pytest.fixture
def path(tmp_path):
    return str(save_ticket(make(SMALL), tmp_path / "ticket.safetensors"))


# --- training under a mask ----------------------------------------------------------------


@pytest.mark.parametrize("spec", RUNS.values(), ids=RUNS)
def test_pruned_weights_are_0_before_and_after_every_step(spec, tmp_path):
    ticket = make(spec)
    path = str(save_ticket(ticket, tmp_path / "t.safetensors"))
    group = [spec.with_(ticket=path, seed=seed) for seed in (0, 4)]
    trainer = Trainer(group)
    pruned = pruned_of(trainer, ticket)
    assert 0.3 < pruned.float().mean() < 0.6
    for _ in range(spec.epochs):
        before = trainer.weights.flat.clone()
        assert not before[:, pruned].any()
        trainer.advance(1)
        assert not trainer.weights.flat_grad[:, pruned].any()
        assert not trainer.weights.flat[:, pruned].any()
    assert (trainer.weights.flat != before)[:, ~pruned].float().mean() > 0.5, "the rest learns"
    if spec.controls.mlp_radius is not None:
        norms = trainer.weights.flat[:, trainer.weights.columns(MLP_WEIGHTS)].norm(dim=1)
        torch.testing.assert_close(norms, torch.tensor([3.0, 3.0]))


@pytest.mark.parametrize("spec", RUNS.values(), ids=RUNS)
def test_resumed_it_is_the_same_run_and_in_a_group_nearly(spec, tmp_path):
    """A group sums in another order than a run alone, and so equals it to the last bits."""
    path = str(save_ticket(make(spec), tmp_path / "t.safetensors"))
    specs = [spec.with_(ticket=path, seed=seed) for seed in (0, 4)]
    together = whole(specs)
    assert resumed(specs, tmp_path).weights.flat.equal(together.weights.flat)
    for run, one in enumerate(specs):
        alone = whole([one])
        assert resumed([one], tmp_path).weights.flat.equal(alone.weights.flat)
        torch.testing.assert_close(
            alone.weights.flat[0], together.weights.flat[run], atol=1e-5, rtol=1e-5
        )


def test_a_resumed_run_keeps_the_mask_that_it_began_with(tmp_path, path):
    spec = SMALL.with_(ticket=path)
    expected, halted = whole([spec]), Trainer([spec])
    halted.advance(7)
    checkpoint = save_checkpoint(halted, tmp_path / "checkpoint.safetensors")
    save_ticket(make(SMALL, seed=1), path)
    trainer = load_checkpoint(checkpoint)
    trainer.advance()
    assert trainer.weights.flat.equal(expected.weights.flat)


def test_what_is_pruned_has_no_say_in_the_clipping(path):
    """A network without those weights would take the same first step."""
    spec = SMALL.with_(optimizer="sgd", momentum=0.0, warmup=0, learning_rate=1.0, clip=0.01,
                       weight_decay=0.0, ticket=path)  # fmt: skip
    trainer = Trainer([spec])
    before = trainer.weights.flat.clone()
    trainer.advance(1)
    assert (trainer.weights.flat - before).norm().item() == pytest.approx(0.01, rel=1e-3)


def test_a_run_begins_with_its_own_seeds_weights_or_with_the_tickets(tmp_path, path):
    dense, masked = Trainer([SMALL.with_(seed=3)]), Trainer([SMALL.with_(seed=3, ticket=path)])
    pruned = pruned_of(masked, load_ticket(path))
    assert masked.weights.flat[:, ~pruned].equal(dense.weights.flat[:, ~pruned])
    ticket = make(SMALL, initial=True)
    rewound = str(save_ticket(ticket, tmp_path / "rewound.safetensors"))
    group = Trainer(
        [SMALL.with_(seed=seed, ticket=rewound, precision="float64") for seed in (3, 4)]
    )
    assert ticket.initial is not None
    for name, value in ticket.initial.items():
        here = group.weights[name].detach()
        kept = ticket.kept.get(name, torch.ones_like(value, dtype=torch.bool))
        assert here.equal((value * kept).double().expand_as(here))


def test_without_a_ticket_nothing_changes(path):
    assert SMALL.controls.ticket is None
    assert Trainer([SMALL])._ticket is None
    assert "pruned" not in Trainer([SMALL]).state()[1]
    assert spec_key(SMALL) != spec_key(SMALL.with_(ticket=path))
    assert spec_key(SMALL) == spec_key(SMALL.with_(ticket=path).with_(ticket=None))
    everything = {name: torch.ones_like(kept) for name, kept in make(SMALL).kept.items()}
    full = str(save_ticket(Ticket(everything), path))
    assert same(train(SMALL), train(SMALL.with_(ticket=full)))


def test_a_group_has_one_ticket(path):
    specs = [SMALL.with_(ticket=path, seed=seed) for seed in (0, 4)]
    assert same(train(specs[1]), train(specs).isel(run=[1]))
    with pytest.raises(SettingError, match=r"^specs: "):
        Trainer([SMALL, SMALL.with_(ticket=path)])


# --- the file -----------------------------------------------------------------------------


@pytest.mark.parametrize("initial", [False, True])
def test_a_ticket_comes_back_from_its_file(tmp_path, initial):
    ticket = make(SMALL, initial)
    again = load_ticket(save_ticket(ticket, tmp_path / "t.safetensors"))
    assert again.digest == ticket.digest
    assert again.origin == {"mask": "by a test"}
    assert (again.initial is not None) == initial
    assert again.tensors.keys() == ticket.tensors.keys()
    for name, tensor in ticket.tensors.items():
        assert again.tensors[name].equal(tensor)
    assert make(SMALL, seed=1).digest != ticket.digest
    assert dataclasses.replace(ticket, origin={}).digest == ticket.digest


def test_a_file_that_is_no_ticket_is_refused_naming_the_field(tmp_path, path):
    good = (tmp_path / "ticket.safetensors").read_bytes()
    (tmp_path / "text").write_text("a ticket")
    (tmp_path / "cut").write_bytes(good[:-20])
    flipped = bytearray(good)
    flipped[-3] ^= 1
    (tmp_path / "flipped").write_bytes(flipped)
    trainer = Trainer([SMALL])
    save_checkpoint(trainer, tmp_path / "checkpoint")
    save_weights(trainer, tmp_path / "weights")
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()[HEADER])
    tensors = load_file(path)
    for name, change in (("newer", {"format": 99}), ("undated", {"digest": None})):
        forge(tmp_path / name, HEADER, header | change, tensors)
    whole = {name: kept.to(torch.uint8) for name, kept in tensors.items()}
    forge(tmp_path / "integers", HEADER, header, whole)
    for name in ("text", "cut", "flipped", "checkpoint", "weights", "newer", "undated", "integers"):
        with pytest.raises(TicketError) as problem:
            load_ticket(tmp_path / name)
        assert "\n" not in str(problem.value)
        refused(SMALL.with_(ticket=str(tmp_path / name)))
    assert "no such file" in refused(SMALL.with_(ticket=str(tmp_path / "nowhere")))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (dict(d_mlp=13), "W_1 of shape (8, 13)"),
        (dict(p=7), "W_2 of shape (12, 7)"),
        (dict(readout="residual"), "W_2 of shape (12, 8)"),
    ],
)
def test_a_ticket_of_another_shape_is_refused_naming_what_differs(path, changes, named):
    assert named in refused(SMALL.with_(ticket=path, **changes))


def test_initial_weights_must_be_those_of_the_model(tmp_path):
    ticket = make(SMALL.with_(output_projection=True), initial=True)
    path = str(save_ticket(ticket, tmp_path / "more.safetensors"))
    assert "without W_O" in refused(SMALL.with_(ticket=path))
    assert ticket.initial is not None
    few = {name: value for name, value in ticket.initial.items() if name not in ("W_O", "b_1")}
    path = str(save_ticket(Ticket({}, few), tmp_path / "few.safetensors"))
    assert "initial weights for b_1" in refused(SMALL.with_(ticket=path))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("value", ["", 3, True])
def test_what_is_no_name_of_a_file_is_refused(value):
    with pytest.raises(SettingError, match=r"^ticket: "):
        SMALL.with_(ticket=value)


def refused(spec) -> str:
    with pytest.raises(SettingError) as problem:
        Trainer([spec])
    line = str(problem.value)
    assert line.startswith("ticket: got ") and "\n" not in line
    return line
