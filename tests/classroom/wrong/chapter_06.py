"""Wrong answers to the exercises on chapter 06."""

import numpy as np
import torch

from tests.classroom.variant import Variant


def pull(scores, oracle, beta):
    return beta * (scores.softmax(dim=1) - oracle) / len(scores)


def with_nan(scores, oracle, beta):
    """By autograd, of a KL with 0 log 0 in it."""
    scores = scores.clone().requires_grad_()
    kl = (oracle * oracle.log() - oracle * scores.log_softmax(dim=1)).sum(dim=1).mean()
    return torch.autograd.grad(beta * kl * kl / kl.detach(), scores)[0]


def ends(times, divergence, since):
    x, y = np.log(times[times >= since]), np.log(divergence[times >= since])
    return (y[0] - y[-1]) / (x[-1] - x[0])


def two_points(betas, epochs):
    slope = (epochs[-1] - epochs[0]) / (1 / betas[-1] - 1 / betas[0])
    missed = epochs - (epochs[0] + slope * (1 / betas - 1 / betas[0]))
    spread = ((epochs - epochs.mean()) ** 2).sum()
    return epochs[0] - slope / betas[0], slope, 1 - (missed**2).sum() / spread


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


def power(x, y, since):
    return -np.polyfit(np.log(x[x >= since]), np.log(y[x >= since]), 1)[0]


def law(betas, epochs):
    slope, floor = np.polyfit(1 / betas, epochs, 1)
    return floor, slope, np.corrcoef(1 / betas, epochs)[0, 1] ** 2


VARIANTS = {
    "ex_6_1": [
        Variant("sign is the other way", lambda s, o, b: -pull(s, o, b)),
        Variant("over the examples", lambda s, o, b: b * (s.softmax(dim=0) - o) / len(s)),
        Variant("no attention yet", lambda s, o, b: b * (s - o) / len(s)),
        Variant("respect to the attention", lambda s, o, b: -b * o / s.softmax(1) / len(s)),
        Variant("no attention yet: each row", lambda s, o, b: b * (s.exp() - o) / len(s)),
        Variant("half of it is missing", lambda s, o, b: -b * o / len(s)),
        Variant("taken for uniform", lambda s, o, b: b * (s.softmax(1) - 1 / s.shape[1]) / len(s)),
        Variant("taken for uniform", lambda s, o, b: pull(s, (o > 0) / (o > 0).sum(1)[:, None], b)),
        Variant("0 times the logarithm of 0", with_nan),
        Variant("beta is missing", lambda s, o, b: pull(s, o, 1.0)),
        Variant("each counts 1/n", lambda s, o, b: b * (s.softmax(dim=1) - o)),
        Variant("all entries", lambda s, o, b: pull(s, o, b) / (1 if len(s) == 1 else s.shape[1])),
        Variant("number of positions", lambda s, o, b: pull(s, o, b) * len(s) / s.shape[1]),
    ],
    "ex_6_2": [
        Variant("both matrices together", jointly, turned),
        Variant("divide the random numbers by their own norm", expected, turned),
        Variant("each *entry*", per_entry, turned),
        Variant("gradient's own entries", turned, turned),
        Variant("a direction that lasts", lambda g, s: noise(g, 0), turned),
        Variant(
            "never by that of the gradient",
            lambda g, s: {
                n: x / x.norm() * g[n].norm() ** 2 / g[n].norm() for n, x in noise(g, s).items()
            },
            turned,
        ),
        Variant("moved to other places", noise, moved),
        Variant("and with nothing else", noise, noise),
        Variant("whole rows", noise, rows),
        Variant("second kind of noise", noise, lambda g, s: turned(g, int(g["W_Q"].sum() * 10))),
        Variant("same signs", noise, lambda g, s: turned(g, 0)),
        Variant("kept their sign", noise, lambda g, s: g),
    ],
    "ex_6_3": [
        Variant("every entry above 0", near(lambda k, n, c, w: 0.0), far),
        Variant("smaller c is", near(lambda k, n, c, w: w / 2), far),
        Variant("leave less on the distractors", near(lambda k, n, c, w: min(c / 4, 0.4)), far),
        Variant("inside I*", inside, far),
        Variant("sums to 1", lambda k, n, c, w: 2 * small_enough(k, n, c, w), far),
        Variant("go further away", small_enough, lambda o: (torch.arange(len(o)) + o).softmax(0)),
        Variant(
            "every entry above 0", small_enough, lambda o: (o == o.max()) / (o == o.max()).sum()
        ),
        Variant("the oracle itself", small_enough, lambda o: o),
    ],
    "ex_6_4": [
        Variant("minus the slope", lambda x, y, s: -power(x, y, s), law),
        Variant("rate of an exponential", lambda x, y, s: power(np.exp(x), y, np.exp(s)), law),
        Variant("all records are used", lambda x, y, s: power(x, y, 0), law),
        Variant("itself is left out", lambda x, y, s: power(x, y, s + 1e-9), law),
        Variant("to the last one", ends, law),
        Variant("through two of the points", power, two_points),
        Variant("exchanged", power, lambda b, e: (law(b, e)[1], law(b, e)[0], law(b, e)[2])),
        Variant("over 1/beta", power, lambda b, e: law(1 / b, e)),
        Variant("not its square", power, lambda b, e: (*law(b, e)[:2], law(b, e)[2] ** 0.5)),
        Variant("does not explain", power, lambda b, e: (*law(b, e)[:2], 1 - law(b, e)[2])),
    ],
}
