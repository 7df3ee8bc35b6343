"""What a task must be, counted one sequence at a time in plain Python."""

from grokkit.tasks import Sequences, TaskData


def rows(sequences: Sequences) -> list[tuple[tuple[int, ...], int, tuple[bool, ...], int]]:
    """Each sequence as (tokens, target, informative, group)."""
    return [
        (tuple(tokens), target, tuple(informative), group)
        for tokens, target, informative, group in zip(
            sequences.tokens.tolist(),
            sequences.targets.tolist(),
            sequences.informative.tolist(),
            sequences.group.tolist(),
            strict=True,
        )
    ]


def operands(sequences: Sequences, positions: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The operand tokens of each sequence, read off the given positions."""
    return [tuple(tokens[i] for i in positions) for tokens, *_ in rows(sequences)]


def marked_operands(sequences: Sequences) -> list[tuple[int, ...]]:
    """The operand tokens of each sequence, read off its own informative mask."""
    return [
        tuple(token for token, inside in zip(tokens, informative, strict=True) if inside)
        for tokens, _, informative, _ in rows(sequences)
    ]


def mirrored(data: TaskData) -> list[bool]:
    """For each test sequence, whether another order of its operands is trained on."""
    trained = {tuple(sorted(pair)) for pair in marked_operands(data.train)}
    return [tuple(sorted(pair)) in trained for pair in marked_operands(data.test)]


def mirror_rate(data: TaskData) -> float:
    """The fraction of test sequences some other order of whose operands is trained on."""
    flags = mirrored(data)
    return sum(flags) / len(flags)
