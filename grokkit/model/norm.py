"""Normalisation in a block: where it stands (the placement) and what it does.

With x the stream into a block, y the stream after attention, z the stream after the MLP:

    none     y = x + Attn(x)              z = y + MLP(y)
    A*       y = x + Attn(LN(x))          queries, keys and values read LN(x)
    A^qk     queries and keys read LN(x), values read x
    A^v      values read LN(x), queries and keys read x
    M        z = y + MLP(LN(y))
    M+A*     A* and M: the usual pre-norm block
    M+A^v    A^v and M
    post     y = LN(x + Attn(x))          z = LN(y + MLP(y))
    peri     y = x + LN(Attn(LN(x)))      z = y + LN(MLP(LN(y)))

Each LN has its own gain and bias where it has any. No norm stands before the unembedding.

The first six are those of arXiv 2602.06702; ``peri`` is that of arXiv 2502.02732, without its
norm of the embeddings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NormPlacement = Literal["none", "A*", "A^qk", "A^v", "M", "M+A*", "M+A^v", "post", "peri"]
NormKind = Literal["layer", "rms"]


@dataclass(frozen=True)
class Placement:
    """What a placement normalises.

    Attributes:
        scores: what W_Q and W_K read.
        values: what W_V reads.
        mlp: what the MLP reads.
        added: what attention and the MLP add, before they add it.
        stream: the stream, after each addition.
    """

    scores: bool = False
    values: bool = False
    mlp: bool = False
    added: bool = False
    stream: bool = False

    @property
    def in_readout(self) -> bool:
        """Whether a norm stands between the pooled representation and the logits."""
        return self.mlp or self.added or self.stream

    @property
    def norms(self) -> tuple[str, ...]:
        """The names of the norms of a block, in the order in which the stream meets them."""
        there = {
            "A": self.scores or self.values,
            "A_added": self.added,
            "A_stream": self.stream,
            "M": self.mlp,
            "M_added": self.added,
            "M_stream": self.stream,
        }
        return tuple(name for name, is_there in there.items() if is_there)


PLACEMENTS: Mapping[NormPlacement, Placement] = {
    "none": Placement(),
    "A*": Placement(scores=True, values=True),
    "A^qk": Placement(scores=True),
    "A^v": Placement(values=True),
    "M": Placement(mlp=True),
    "M+A*": Placement(scores=True, values=True, mlp=True),
    "M+A^v": Placement(values=True, mlp=True),
    "post": Placement(stream=True),
    "peri": Placement(scores=True, values=True, mlp=True, added=True),
}
"""Every placement by its name."""

IN_ATTENTION = tuple(name for name, place in PLACEMENTS.items() if not place.in_readout)
"""The placements that leave the readout alone."""
