"""Small tasks and models that differ in everything that the model can tell apart."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.func import functional_call
from torch.nn import functional

from grokkit import core
from grokkit.model import Batch, Layout, ModelSpec, Parameters
from grokkit.tasks import (
    AutoregressiveParity,
    KOperandAddition,
    LongerAddition,
    MarkedAddition,
    ModularAddition,
    ModularDivision,
    PermutationComposition,
    SparseParity,
    Task,
)

TASKS: dict[str, Task] = {
    "no distractors": ModularAddition(p=7, length=3, train_fraction=0.5),
    "alphabet": ModularAddition(p=5, length=5, train_fraction=0.6),
    "constant, moved": ModularAddition(
        p=7, length=6, positions=(4, 1), distractors="constant", train_fraction=0.5
    ),
    "random, draws": ModularAddition(
        p=5, length=4, distractors="random", draws=2, train_fraction=0.5
    ),
    "division": ModularDivision(p=7, length=5, positions=(3, 0), train_fraction=0.5),
    "three operands": KOperandAddition(p=3, k=3, length=7, train_fraction=0.5),
    "permutations": PermutationComposition(n=3, length=4),
    "parity": SparseParity(bits=6, k=2),
    "marked": MarkedAddition(p=5, length=6, train_fraction=0.5),
    "longer": LongerAddition(p=5, length=5, longer=(7, 9), train_fraction=0.5),
}

# Every position is a query. Apart from the others, which the handwritten step can train.
NEXT_TOKEN: dict[str, Task] = {
    "two bits": AutoregressiveParity(bits=2, k=1),
    "five bits": AutoregressiveParity(bits=5, k=2, positions=(3, 1)),
    "nine bits": AutoregressiveParity(bits=9, k=3, examples=20),
}

MODELS: dict[str, ModelSpec] = {
    f"{heads} heads {attention} {readout}{' W_O' if projection else ''}": ModelSpec(
        d_model=12,
        d_mlp=10,
        heads=heads,
        attention=attention,
        readout=readout,
        output_projection=projection,
    )
    for heads in (1, 2, 3, 4)
    for attention in ("softmax", "relu")
    for readout in ("classifier", "residual")
    for projection in (False, True)
}

SEEDS = (0, 3, 11)


def block(norm: str = "none", **changes: Any) -> ModelSpec:
    """A small model with the residual readout, unless told otherwise."""
    sizes: dict[str, Any] = {"d_model": 12, "d_mlp": 10, "heads": 2, "readout": "residual"}
    sizes |= {"norm": norm} | changes
    return ModelSpec(**sizes)


def group(
    task: Task, model: ModelSpec, dtype: torch.dtype = torch.float64, seeds: tuple[int, ...] = SEEDS
) -> tuple[Batch, Parameters]:
    """The train sets of some seeds, and random weights, biases too."""
    data = [task.build(seed) for seed in seeds]
    batch = Batch.of([one.train for one in data], dtype=dtype)
    layout = Layout.of(model, data[0].n_tokens, data[0].max_length, data[0].n_classes)
    generator = torch.Generator().manual_seed(5)
    flat = 0.4 * torch.randn(len(seeds), layout.size, generator=generator, dtype=torch.float64)
    return batch, Parameters(layout, flat.to(dtype))


def core_of(model: ModelSpec, weights: Parameters, run: int) -> core.Transformer:
    """The core's network with the weights of one run."""
    n_tokens, length = (len(weights[f"{of}_embedding"][run]) for of in ("token", "position"))
    n_classes = weights["b_2" if model.readout == "classifier" else "W_U"].shape[-1]
    settings = core.Model(**{name: getattr(model, name) for name in vars(core.Model())})
    twin = core.Transformer(settings, n_tokens, length, n_classes).to(weights.flat.dtype)
    twin.load_state_dict({name: value[run].detach() for name, value in weights.items()})
    return twin


def seen_by(
    twin: core.Transformer, tokens: torch.Tensor, rows: Sequence[int] | None = None
) -> core.Seen:
    """What the core computes of these sequences.

    Args:
        twin: the core's network.
        tokens: ``[example, pos]``.
        rows: the rows of the position embedding; by default the query has the last of all,
            whatever the length.
    """
    rows = [*range(tokens.shape[1] - 1), -1] if rows is None else list(rows)
    embedding = {"position_embedding": twin.position_embedding[rows]}
    return functional_call(twin, embedding, (tokens,))


def objective(
    seen: core.Seen,
    targets: torch.Tensor,
    oracle: torch.Tensor | None = None,
    kl_strength: float = 0.0,
) -> torch.Tensor:
    """Mean cross-entropy, in PyTorch's words, plus beta times the mean divergence."""
    loss = functional.cross_entropy(seen.logits, targets)
    if kl_strength == 0:
        return loss
    assert oracle is not None
    return loss + kl_strength * core.divergence(oracle, seen.log_attention).mean()


def assert_gradients(
    weights: Parameters, twin: core.Transformer, run: int, tolerance: float
) -> None:
    """Every gradient of the run equals the core's, relative to its norm."""
    for name, parameter in twin.named_parameters():
        ours, theirs = weights.gradient[name][run], parameter.grad
        assert theirs is not None
        scale = max(theirs.norm().item(), 1e-3)
        assert (ours - theirs).norm().item() <= tolerance * scale, name
