"""What several exercises share: how an answer is read, judges, and tables of wrong parts.

A table of wrong parts has, by the sentence that names it, what some learners write in the place
of a part of the right answer: ``mistakes=mistaken(slope, fit=FITS)``, see
:func:`~grokkit.classroom.checks.exercise.mistaken`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grokkit.classroom.checks.exercise import Judge
from grokkit.classroom.checks.expect import any_of, as_array, as_floats, require

# --- how an answer is read ----------------------------------------------------------------


def as_tensor(given: Any, shape: Sequence[int], asked: str) -> torch.Tensor:
    """An answer as a tensor of finite numbers in float64; see ``expect.as_floats``."""
    return torch.from_numpy(as_floats(given, shape, asked))


def parts(given: Any, shapes: Sequence[Sequence[int]], asked: str) -> list[np.ndarray]:
    """Several arrays that came back together, in float64.

    Args:
        given: what the learner's code gave.
        shapes: what each must have.
        asked: the sentence that says so.

    Raises:
        Wrong: they are not so many, have other shapes, or an entry is no finite number.
    """
    several = list(given) if isinstance(given, tuple | list | torch.Tensor | np.ndarray) else []
    require(len(several) == len(shapes), asked, given)
    return [as_floats(one, shape, asked) for one, shape in zip(several, shapes, strict=True)]


def tensors(given: Any, like: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A dict of tensors that came back, in float64, with the names, shapes and order of ``like``.

    Raises:
        Wrong: it is no dict, names are missing or too many, or a shape differs.
    """
    require(isinstance(given, dict), "The answer is to be a dict by name.", given)
    missing, more = like.keys() - given.keys(), given.keys() - like.keys()
    names = [f"{', '.join(sorted(missing))} is missing."] if missing else []
    names += [f"{', '.join(sorted(map(str, more)))} does not belong there."] if more else []
    require(not names, f"The answer has the names {', '.join(like)}. {' '.join(names)}")
    made = {}
    for name, one in like.items():
        array, shape = as_array(given[name]), tuple(one.shape)
        require(array is not None, f"{name} is to be a tensor.", given[name])
        made[name] = torch.as_tensor(array).double()
        found = tuple(made[name].shape)
        require(found == shape, f"{name} has the shape {found}; expected: {shape}.")
    return made


def distribution(given: Any, length: int, least: float = 0.0) -> np.ndarray:
    """An attention that came back, in float64.

    Args:
        given: what the learner's code gave.
        length: the number of positions.
        least: no share is below it.

    Raises:
        Wrong: it is no distribution over so many positions.
    """
    made = as_floats(given, [length], f"An attention over {length} positions: a tensor [pos].")
    require(made.min() >= least * (1 - 1e-4), f"A share is below {least:g}.", given)
    require(abs(made.sum() - 1) < 1e-5, "Attention sums to 1.", given)
    return made


# --- judges -------------------------------------------------------------------------------


def drawn_from(what: str, of: Callable[[Any], Any] = lambda given: given) -> Judge:
    """A judge of three or more calls: two with one seed, the others with other seeds.

    Args:
        what: the seed, in words.
        of: takes the numbers out of what came back.
    """

    def judge(given: Sequence[Any], *calls: Any) -> None:
        first, again, *others = (np.asarray(as_array(of(one))) for one in given)
        require(
            np.array_equal(first, again),
            f"Called twice with one {what} it gave two answers: a run could not be repeated. Make "
            f"the numbers from the {what}.",
        )
        require(
            not all(np.array_equal(first, other) for other in others),
            f"Another {what} gave the same numbers: make them from the {what}.",
        )

    return judge


# --- tables of wrong parts ----------------------------------------------------------------


def least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Slope and intercept of the line of least squares.

    Raises:
        ValueError: a number is not finite; of that LAPACK would print a line into the notebook.
    """
    return np.polyfit(np.asarray_chkfinite(x), np.asarray_chkfinite(y), 1)


FITS = {
    "x and y are exchanged in the fit.": lambda x, y: np.polyfit(y, x, 1),
    "polyfit gives the slope first, then the intercept.": lambda x, y: np.polyfit(x, y, 1)[::-1],
    "The line was forced through the origin; it has an intercept.": lambda x, y: (
        (x * y).sum() / (x * x).sum(),
        0.0,
    ),
    "The line goes through two of the points; take the line of least squares.": any_of(
        lambda x, y: np.polyfit(x[[0, -1]], y[[0, -1]], 1),
        lambda x, y: np.polyfit(x[[0, 1]], y[[0, 1]], 1),
        lambda x, y: np.polyfit(x[[-2, -1]], y[[-2, -1]], 1),
        lambda x, y: ((np.diff(y) / np.diff(x)).mean(), 0.0),
    ),
}
"""In place of :func:`least_squares`."""

LOG_FITS = FITS | {
    "A logarithm is missing: take that of both before the fit.": any_of(
        lambda x, y: np.polyfit(np.exp(x), y, 1),
        lambda x, y: np.polyfit(x, np.exp(y), 1),
        lambda x, y: np.polyfit(np.exp(x), np.exp(y), 1),
    ),
}
"""The same, where x and y are logarithms."""


def spectral(w: torch.Tensor) -> torch.Tensor:
    """The largest singular value of a matrix."""
    return torch.linalg.matrix_norm(w, 2)


MATRIX_NORMS = {
    "The matrix norm is not the largest singular value, which is matrix_norm(W, 2).": any_of(
        torch.linalg.matrix_norm,
        lambda w: torch.linalg.matrix_norm(w, 1),
        lambda w: torch.linalg.matrix_norm(w, torch.inf),
        lambda w: torch.linalg.matrix_norm(w, "nuc"),
        lambda w: w.abs().max(),
    ),
}
"""In place of :func:`spectral`."""


def joint(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """The Frobenius norm of several tensors together."""
    return torch.stack([part.norm() for part in parts]).norm()


JOINT_NORMS = {
    "The norms are added; the joint norm is the root of the sum of their squares.": (
        lambda parts: sum(part.norm() for part in parts)
    ),
    "This is a norm of another kind: it is the root of the sum of all squares.": any_of(
        lambda parts: sum(part.abs().sum() for part in parts),
        lambda parts: torch.stack([part.abs().sum() for part in parts]).norm(),
        lambda parts: torch.stack([torch.linalg.norm(part, 2) for part in parts]).norm(),
        lambda parts: max(part.abs().max() for part in parts),
    ),
    "The square root is missing in the norm.": lambda parts: sum(
        part.square().sum() for part in parts
    ),
}
"""In place of :func:`joint`."""
