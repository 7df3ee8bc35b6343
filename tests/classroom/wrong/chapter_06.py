"""Wrong answers to the exercises on chapter 06."""

import torch

from tests.classroom.variant import Variant


def normal(gradients, step):
    random = torch.Generator().manual_seed(step)
    return {name: torch.randn(one.shape, generator=random) for name, one in gradients.items()}


def noise(gradients, step):
    drawn = normal(gradients, step)
    return {
        name: drawn[name] * (one.norm() / drawn[name].norm()) for name, one in gradients.items()
    }


def jointly(gradients, step):
    drawn = normal(gradients, step)
    length = [torch.cat([x.flatten() for x in one.values()]).norm() for one in (gradients, drawn)]
    return {name: one * length[0] / length[1] for name, one in drawn.items()}


def expected(gradients, step):
    """Scaled by the norm that noise has on average."""
    drawn = normal(gradients, step)
    return {n: drawn[n] * one.norm() / one.numel() ** 0.5 for n, one in gradients.items()}


def per_entry(gradients, step):
    drawn = normal(gradients, step)
    return {
        name: drawn[name] / drawn[name].square().mean().sqrt() * one.norm()
        for name, one in gradients.items()
    }


def turned(gradients, seed):
    return {name: normal(gradients, seed)[name].sign() * one for name, one in gradients.items()}


def moved(gradients, seed):
    random = torch.Generator().manual_seed(seed)
    return {
        name: one.flatten()[torch.randperm(one.numel(), generator=random)].view_as(one)
        for name, one in gradients.items()
    }


def rows(gradients, seed):
    return {n: normal(gradients, seed)[n][:, :1].sign() * one for n, one in gradients.items()}


def near(share):
    """`share` of the attention on the distractors, evenly."""

    def answer(k, length, constant, within):
        left = share(k, length, constant, within)
        return torch.tensor([(1 - left) / k] * k + [left / (length - k)] * (length - k)).double()

    return answer


small_enough = near(lambda k, n, c, within: min(c / (1 / k + 1 / (n - k)), within, 0.5) / 2)


def inside(k, length, constant, within):
    attention = small_enough(k, length, 1e-9, 1e-9)
    attention[0] += 0.02 * within**0.5
    attention[k - 1] -= 0.02 * within**0.5
    return attention


def far(oracle):
    return (-100 * (oracle > oracle.min()).double() - torch.arange(len(oracle))).softmax(dim=0)


VARIANTS = {
    "ex_6_2": [
        Variant("divide each matrix by its own norm", jointly, turned),
        Variant("its own norm", expected, turned),
        Variant("norm of its own gradient", per_entry, turned),
        Variant("its entries", turned, turned),
        Variant("another step gave the same", lambda g, s: noise(g, 0), turned),
        Variant(
            "never by that of the gradient",
            lambda g, s: {
                n: x / x.norm() * g[n].norm() ** 2 / g[n].norm() for n, x in noise(g, s).items()
            },
            turned,
        ),
        Variant("keeps its place", noise, moved),
        Variant("and with nothing else", noise, noise),
        Variant("not for a whole row", noise, rows),
        Variant("from the seed alone", noise, lambda g, s: turned(g, int(g["W_Q"].sum() * 10))),
        Variant("another seed gave the same", noise, lambda g, s: turned(g, 0)),
        Variant("with the same chance", noise, lambda g, s: g),
    ],
    "ex_6_3": [
        Variant("every entry above 0", near(lambda k, n, c, w: 0.0), far),
        Variant("the smaller c", near(lambda k, n, c, w: w / 2), far),
        Variant("leave less on the distractors", near(lambda k, n, c, w: min(c / 4, 0.4)), far),
        Variant("inside I* nothing", inside, far),
        Variant("sums to 1", lambda k, n, c, w: 2 * small_enough(k, n, c, w), far),
        Variant("the oracle itself", small_enough, lambda o: o),
    ],
}
