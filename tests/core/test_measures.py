"""The core's measures, prior and ticket against plain counting and the paper's statements."""

import math

import pytest
import torch

from grokkit import core
from grokkit.core.measures import min_informative_mass
from grokkit.core.tickets import begin, largest

DOUBLE = torch.float64
TASK = core.Task(p=7, train_fraction=0.5)


def trained(epochs: int = 60, **changes) -> core.Result:
    run = core.Run(
        task=TASK,
        model=core.Model(d_model=12, d_mlp=20, heads=2),
        optimizer=core.AdamW(learning_rate=1e-2),
        epochs=epochs,
        dtype=DOUBLE,
        **changes,
    )
    return core.train(run)


def test_accuracy_is_counted_and_told_apart_by_mirror_images():
    result = trained()
    data = TASK.build(0)
    answers = result.net(data.test.tokens).logits.argmax(dim=1).tolist()
    right = [a == t for a, t in zip(answers, data.test.targets.tolist(), strict=True)]
    pairs = [tuple(row) for row in data.train.tokens[:, [0, 2]].tolist()]
    mirrored = [(b, a) in pairs for a, b in data.test.tokens[:, [0, 2]].tolist()]
    for name, among in (
        ("test_accuracy", [True] * len(right)),
        ("mirrored_accuracy", mirrored),
        ("unmirrored_accuracy", [not one for one in mirrored]),
    ):
        chosen = [hit for hit, yes in zip(right, among, strict=True) if yes]
        assert result.records[-1][name] == sum(chosen) / len(chosen)
    subtraction = core.train(core.Run(core.Task("a-b", p=5), core.Model(8, 8), epochs=1))
    assert math.isnan(subtraction.records[0]["mirrored_accuracy"])


def test_b_gamma_bounds_the_divergence():
    """Corollary 4.5: alpha_j >= gamma on I* implies KL(alpha* || alpha) <= log(1 / (k gamma))."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(200, 1, 5, generator=generator, dtype=DOUBLE)
    attention, log_attention = core.attend(scores, "softmax")
    train = core.Task(p=21).build(0).train[torch.arange(100).repeat(2)]
    gamma = attention[:, 0][train.informative].view(-1, 2).amin(dim=1)
    divergence = core.divergence(train.oracle, log_attention)[:, 0]
    assert (divergence <= (1 / (2 * gamma)).log() + 1e-12).all()
    nothing = scores.new_zeros(())
    seen = core.Seen(scores, attention, log_attention, nothing, nothing)
    assert min_informative_mass(seen, train) == gamma.min()


def test_the_gradient_of_the_penalty_on_a_score_is_beta_times_attention_minus_oracle():
    """Equation (45), per example and head; and the loss does not occur in it."""
    net = trained(epochs=20).net
    train = TASK.build(0).train
    seen = net(train.tokens)
    prior = core.Prior(strength=0.7)
    (slope,) = torch.autograd.grad(core.penalty(prior, seen, train, 0), seen.scores)
    pull = 0.7 * (seen.attention - train.oracle.unsqueeze(1)) / len(train) / 2
    torch.testing.assert_close(slope, pull.detach(), rtol=1e-12, atol=1e-15)


def test_the_score_gradient_starves_as_lemma_5_1_says():
    """|dL_CE/dl_j| <= 2 L_f |W_V| sqrt(2 L_CE) times the largest norm of an embedding."""
    net = trained().net
    train = TASK.build(0).train
    seen = net(train.tokens)
    loss = core.cross_entropy(seen.logits, train.targets)
    (slope,) = torch.autograd.grad(loss.sum(), seen.scores)
    norm = torch.linalg.matrix_norm
    l_f = norm(net.W_1, ord=2) * norm(net.W_2, ord=2)
    e = net.token_embedding[train.tokens] + net.position_embedding
    bound = 2 * l_f * norm(net.W_V, ord=2) * (2 * loss).sqrt() * e.norm(dim=-1).amax()
    assert (slope.abs().amax(dim=(1, 2)) <= bound).all()


def test_summed_heads_may_share_the_work():
    """Two heads on one operand each are no divergence together, and far from alpha* alone."""
    scores = torch.tensor([[[200.0, 0, -200, 0], [-200, 0, 200, 0]]], dtype=DOUBLE)
    attention, log_attention = core.attend(scores, "softmax")
    train = core.Task(p=5, length=4).build(0).train[torch.arange(1)]
    nothing = scores.new_zeros(())
    seen = core.Seen(scores, attention, log_attention, nothing, nothing)
    each = core.penalty(core.Prior(strength=1.0), seen, train, 0)
    summed = core.penalty(core.Prior(strength=1.0, head_reduction="summed"), seen, train, 0)
    assert each.item() == pytest.approx(200 - math.log(2)) and abs(summed.item()) < 1e-12


def test_attention_is_a_point_of_the_simplex_and_frozen_where_it_is_the_oracle():
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(50, 2, 4, generator=generator, dtype=DOUBLE) - 1
    oracle = torch.tensor([0.5, 0, 0.5, 0], dtype=DOUBLE).expand(50, 4)
    for kind in ("softmax", "relu", "oracle"):
        attention, log_attention = core.attend(scores, kind, oracle)
        assert (attention >= 0).all()
        torch.testing.assert_close(attention.sum(dim=-1), torch.ones(50, 2, dtype=DOUBLE))
        assert log_attention.isfinite().all()
    dead = (scores <= 0).all(dim=-1)
    assert dead.any() and (core.attend(scores, "relu")[0][dead] == 0.25).all()
    assert (core.attend(scores, "oracle", oracle)[0] == oracle.unsqueeze(1)).all()


@pytest.mark.parametrize("scope", ["layer", "global"])
def test_a_ticket_keeps_the_largest_weights_and_the_others_stay_0(scope):
    dense = trained(epochs=20)
    start = core.Transformer(dense.run.model, 12, 5, 7, seed=0).double().state_dict()
    ticket = core.prune(dense.net.state_dict(), 0.7, scope, rewind_to=start)
    assert set(ticket.kept) == {"W_Q", "W_K", "W_V", "W_1", "W_2"}
    sizes = {name: dense.net.get_parameter(name).abs() for name in ticket.kept}
    for name, kept in ticket.kept.items():
        if scope == "layer":
            assert int((~kept).sum()) == round(0.7 * kept.numel())
            assert sizes[name][kept].min() >= sizes[name][~kept].max()
    pruned = torch.cat([sizes[name][~kept] for name, kept in ticket.kept.items()])
    assert scope == "layer" or len(pruned) == round(0.7 * sum(s.numel() for s in sizes.values()))

    sparse = trained(ticket=ticket)
    for name, kept in ticket.kept.items():
        assert not sparse.net.get_parameter(name)[~kept].any()
    rewound = core.Transformer(dense.run.model, 12, 5, 7, seed=9).double()
    begin(ticket, rewound)
    for name, W in rewound.named_parameters():
        expected = start[name] * ticket.kept.get(name, torch.tensor(True))
        assert torch.equal(W, expected), name
    control = core.shuffled(ticket, seed=1)
    for name, kept in control.kept.items():
        assert int(kept.sum()) == int(ticket.kept[name].sum())
        assert not torch.equal(kept, ticket.kept[name])
    assert largest(torch.tensor([2.0, 1.0, 1.0, 3.0]), 0.25).tolist() == [True, False, True, True]


def test_a_run_on_the_sphere_keeps_its_norm_and_a_run_that_holds_stops():
    result = trained(mlp_radius=2.5)
    assert result.records[-1]["mlp_norm"] == pytest.approx(2.5, rel=1e-12)
    parity = core.Run(
        core.Parity(16, 2, examples=400),
        core.Model(32, 64),
        core.AdamW(learning_rate=3e-3),
        stop_after=50,
    )
    result = core.train(parity)
    assert result.grokked is not None and result.epochs[-1] == result.grokked + 50


def test_a_run_that_diverges_says_when():
    huge = core.Run(TASK, core.Model(8, 8), core.SGD(learning_rate=1e30, clip=math.inf), epochs=9)
    with pytest.raises(FloatingPointError, match=r"loss not finite at epoch [1-9]"):
        core.train(huge)
