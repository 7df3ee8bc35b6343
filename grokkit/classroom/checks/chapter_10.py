"""Checks of the exercises on chapter 10: censoring, verdicts, a grid with its control, peeking."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import expect, require
from grokkit.engine import RunSpec, grid, presets

NAN = math.nan

# --- 10.1 which of two came first ---------------------------------------------------------

ex_10_1 = Exercise(
    "ex_10_1",
    answers=("came_sooner",),
    hints=(
        "Four cases: both came, one of the two did not, the other did not, neither did. "
        "`math.isnan(epoch)` asks whether it did not.",
        "If only the other is censored, its epoch lies beyond its last. So factor times its epoch "
        "lies beyond factor times that last. Where must mine lie for a yes? Otherwise nothing is "
        "known.",
        "If only mine is censored, it lies beyond my last. When is that a no for certain?",
    ),
    afterword="In grokkit: Times.sooner in grokkit.experiments.times, for all seeds at once.",
)


def times_sooner(mine: float, my_last: float, its: float, its_last: float, factor: float) -> Any:
    """The package's own answer for one seed."""
    from grokkit.experiments.times import Times

    one, other = (
        Times(np.array([a]), np.array([b])) for a, b in ((mine, my_last), (its, its_last))
    )
    return one.sooner(other, factor)[0]


def sooner_case(
    answer: Any, *case: float, cause: str, mistakes: dict[bool | None, str] | None = None
) -> None:
    """One case of ex_10_1, with the sentence that each wrong answer deserves."""
    got, right = answer(*case), times_sooner(*case)
    require(
        got is None or isinstance(got, bool | np.bool_),
        "The answer is to be True, False or None.",
        got,
        repr(right),
    )
    expect(got, right, cause=cause, mistakes={say: one for one, say in (mistakes or {}).items()})


@ex_10_1.property("if both came, the epochs decide")
def _(sooner):
    for mine, its, factor, cause in (
        (300.0, 500.0, 1.0, "300 is sooner than 500."),
        (500.0, 300.0, 1.0, "500 is later than 300."),
        (
            450.0,
            500.0,
            0.8,
            "It had to be there by 0.8 x 500 = 400. The factor belongs to the other.",
        ),
        (400.0, 500.0, 0.8, "Exactly at 0.8 x 500 = 400 is in time."),
        (550.0, 500.0, 1.2, "It had time until 1.2 x 500 = 600. The factor belongs to the other."),
    ):
        sooner_case(sooner, mine, 1000.0, its, 1000.0, factor, cause=cause)


@ex_10_1.property("if neither came, nothing can be said")
def _(sooner):
    sooner_case(
        sooner,
        *(NAN, 500.0, NAN, 1000.0, 1.0),
        cause="Neither came: None.",
        mistakes={
            False: "Neither came by its last epoch, so nobody knows: None, and not False. (A "
            "comparison with nan is always False.)",
            True: "Neither came by its last epoch: None. When a run was stopped says nothing of "
            "when it would have come.",
        },
    )


@ex_10_1.property("if the other one is censored, it came after its last epoch, if ever")
def _(sooner):
    sooner_case(
        sooner,
        *(300.0, 1000.0, NAN, 1000.0, 1.0),
        cause="Mine came at 300, the other had not come by 1000: mine is sooner.",
        mistakes={
            False: "Mine came at 300 and the other had not come by 1000. (A comparison with nan is "
            "always False.)",
            None: "The other had not come by 1000: that is enough to know that 300 is sooner.",
        },
    )
    sooner_case(
        sooner,
        *(900.0, 1000.0, NAN, 1000.0, 0.8),
        cause="Asked is 900 <= 0.8 x something beyond 1000: it may be 1100 or 5000, so None.",
        mistakes={
            True: "The factor applies to the censored one, too: its epoch is beyond 1000, so 0.8 "
            "of it is beyond 800. Whether it is beyond 900 nobody knows.",
            False: "The other's last epoch was taken for its epoch. It lies beyond, nobody knows "
            "how far.",
        },
    )
    sooner_case(
        sooner,
        *(800.0, 1000.0, NAN, 1000.0, 0.8),
        cause="The other one's epoch is beyond 1000, so 0.8 of it is beyond 800: at 800 mine is in "
        "time.",
        mistakes={
            None: "The other one had not come *at* its last epoch, 1000: it comes later, and 0.8 "
            "of that is more than 800. So at 800 mine is in time."
        },
    )
    sooner_case(
        sooner,
        *(900.0, 1000.0, NAN, 600.0, 1.0),
        cause="The other one was stopped at 600: would it have come before 900? Nobody knows.",
        mistakes={
            True: "The other one was stopped at 600. It may have come at 700.",
            False: "The other one was stopped at 600, not there. It may have come at 5000.",
        },
    )


@ex_10_1.property("if mine is censored, it came after my last epoch, if ever")
def _(sooner):
    sooner_case(
        sooner,
        *(NAN, 1000.0, 700.0, 1000.0, 1.0),
        cause="Mine had not come by 1000, the other was there at 700: False.",
        mistakes={
            None: "Mine had not come by 1000, so it cannot have come by 700: that is known.",
            True: "Mine had not come by 1000.",
        },
    )
    sooner_case(
        sooner,
        *(NAN, 500.0, 700.0, 1000.0, 1.0),
        cause="Mine was stopped at 500: it may have come by 700, or not. None.",
        mistakes={
            False: "Mine was stopped at 500 already: it may have come at 600, before the other.",
            True: "My last epoch was taken for mine. It lies beyond.",
        },
    )
    sooner_case(
        sooner,
        *(NAN, 600.0, 700.0, 1000.0, 0.8),
        cause="It had to be there by 0.8 x 700 = 560, and at 600 it was not: False.",
        mistakes={
            None: "It had to be there by 0.8 x 700 = 560. At 600 it was not: so much is known. "
            "(The factor belongs to the other one here, too.)",
        },
    )
    sooner_case(
        sooner,
        *(NAN, 560.0, 700.0, 1000.0, 0.8),
        cause="At 560, the last moment to be in time, mine had not come: False.",
        mistakes={
            None: "Mine had not come *at* its last epoch, 560, and 0.8 x 700 = 560 was the last "
            "moment to be in time. So it comes later: False."
        },
    )


# --- 10.2 the verdict ---------------------------------------------------------------------

ex_10_2 = Exercise(
    "ex_10_2",
    answers=("verdict",),
    hints=(
        "First one part: count True, count None, and what is needed, 4/5 of n rounded up.",
        "It holds if there are enough True; it fails if True and None together are too few; "
        "otherwise it is open. (None is not False.)",
        "Then the claim: all hold; else if any fails: does any hold? else nothing has failed, and "
        "not all hold.",
    ),
    afterword="In grokkit: Part.holds and verdict_of in grokkit.experiments.claims.",
)

T, F, U = True, False, None
WORDS = ("reproduced", "partly", "not reproduced", "undecided")


def word_on(verdict: Any, parts: Sequence[Sequence[bool | None]]) -> Any:
    """The learner's verdict, refused if it is none of the four words."""
    got = verdict(parts)
    require(
        got is None or (isinstance(got, str) and got in WORDS),
        f"The answer is to be one of the words {', '.join(map(repr, WORDS))}, as they stand.",
        got,
        repr(right_verdict(parts)),
    )
    return got


def right_verdict(parts: Sequence[Sequence[bool | None]]) -> str:
    """The package's own verdict."""
    from grokkit.experiments.claims import Part, verdict_of

    return verdict_of([Part("", tuple(one), "") for one in parts])


@ex_10_2.property("one part, five seeds, all of them known")
def _(verdict):
    for yes in range(6):
        part = [[T] * yes + [F] * (5 - yes)]
        expect(
            word_on(verdict, part),
            right_verdict(part),
            cause=f"It holds for {yes} of 5 seeds; 4 are needed.",
            mistakes={
                "All five are asked for; 4 of 5 are enough.": "not reproduced"
                if yes == 4
                else "impossible",
                "More than half is not enough: 4 of 5.": "reproduced" if yes == 3 else "impossible",
                "All seeds are known, so it is not undecided.": "undecided",
            },
        )


@ex_10_2.property("a seed that does not tell is neither a yes nor a no")
def _(verdict):
    for part, cause in (
        ([T, T, T, U, F], "Three hold; with the open seed it would be four: still undecided."),
        ([T, T, U, F, F], "Two hold, and the open seed could only make it three: it fails."),
        ([T, T, T, T, U], "Four hold, whatever the fifth would say."),
        ([U, U, U, U, U], "Nobody knows anything: undecided."),
        ([U, U, U, U, F], "The four open seeds might all say yes: undecided."),
    ):
        right = right_verdict([part])
        expect(
            word_on(verdict, [part]),
            right,
            cause=cause,
            mistakes={
                f"An open seed was counted as a no, or left out. {cause}": "not reproduced"
                if right == "undecided"
                else "impossible",
                f"An open seed was counted as a yes. {cause}": "reproduced",
                f"It could no longer hold, so it fails. {cause}": "undecided",
            },
        )


@ex_10_2.property("needed are four fifths of the seeds, rounded up")
def _(verdict):
    for part, cause in (
        ([T] * 8 + [F] * 2, "Of 10 seeds 8 are needed."),
        ([T] * 7 + [F] * 3, "Of 10 seeds 8 are needed."),
        ([T, T, F], "Four fifths of 3 are 2.4, rounded up 3."),
        ([T] * 5 + [F], "Four fifths of 6 are 4.8, rounded up 5."),
        ([T] * 4 + [F, F], "Four fifths of 6 are 4.8, rounded up 5."),
        ([T] * 6 + [F, U], "Four fifths of 8 are 6.4, rounded up 7: the open one may be the 7th."),
    ):
        expect(
            word_on(verdict, [part]),
            right_verdict([part]),
            cause=f"{cause} Is a 4 or a 5 in the code?",
        )


@ex_10_2.property("several parts")
def _(verdict):
    yes, no, open_ = [T] * 5, [F] * 5, [U] * 5
    for parts, cause in (
        ([yes, yes], "Every part holds: reproduced."),
        ([yes, no], "One holds and one fails: partly."),
        ([no, no], "Both fail and none holds: not reproduced."),
        (
            [yes, open_],
            "None fails, and not all hold: undecided. For partly some part would have to fail.",
        ),
        ([open_, open_], "None fails, and not all hold: undecided."),
        ([no, open_], "One fails, none holds: not reproduced. The open one may stay open."),
        ([yes, no, open_], "One holds and one fails: whatever the third is, it is partly so."),
        ([[T, T, F, F, F], [T] * 5], "Parts are judged one by one: 7 of 10 outcomes do not count."),
    ):
        expect(word_on(verdict, parts), right_verdict(parts), cause=cause)


# --- 10.3 a grid with its control ---------------------------------------------------------

ex_10_3 = Exercise(
    "ex_10_3",
    answers=("experiment",),
    hints=(
        "Begin every arm from `base`: `base.with_(...)` changes what you name and nothing else.",
        'The baseline has no prior: kl_strength=0. The three others have prior="kl" and the same '
        "strength; they differ in penalty_gradient.",
        "`grid(spec, seed=seeds)` from grokkit.engine makes a list, one spec for each seed.",
    ),
    afterword="The row kl-acceleration has these arms; experiments.claims shows what they said.",
)

WANTED = {
    "baseline": {"kl_strength": 0.0, "penalty_gradient": "true"},
    "prior": {"penalty_gradient": "true"},
    "noise": {"penalty_gradient": "noise"},
    "shuffled": {"penalty_gradient": "shuffled"},
}


def bases() -> list[tuple[RunSpec, float, list[int]]]:
    """Settings that are nobody's defaults, a strength, and seeds."""
    live = presets["live"]
    return [
        (live.with_(p=19, learning_rate=0.004, epochs=700, stop_after=3), 0.7, [3, 4, 8]),
        (live.with_(weight_decay=0.6, d_mlp=48, kl_strength=0.2), 2.0, [1, 0]),
    ]


def right_arms(base: RunSpec, strength: float, seeds: list[int]) -> dict[str, list[RunSpec]]:
    """The four arms."""
    return {
        name: grid(base.with_(**{"prior": "kl", "kl_strength": strength, **changes}), seed=seeds)
        for name, changes in WANTED.items()
    }


@ex_10_3.property("four arms, each a list with a spec for every seed")
def _(arms):
    for base, strength, seeds in bases():
        given = arms(base, strength, seeds)
        require(
            isinstance(given, dict) and given.keys() == WANTED.keys(),
            f"The answer is to be a dict with the names {', '.join(WANTED)}.",
            list(given) if isinstance(given, dict) else given,
        )
        for name, specs in given.items():
            require(
                isinstance(specs, list | tuple) and all(isinstance(s, RunSpec) for s in specs),
                f"{name} is to be a list of specs: a RunSpec for every seed.",
                specs,
            )
            require(
                len(specs) == len(seeds),
                f"{name} has {len(specs)} spec{'s' * (len(specs) != 1)}; there are {len(seeds)} "
                "seeds, and each is to have one.",
            )


@ex_10_3.property("the arms are paired: each has the same seeds")
def _(arms):
    for base, strength, seeds in bases():
        for name, specs in arms(base, strength, seeds).items():
            expect(
                [spec.seed for spec in specs],
                seeds,
                cause=f"{name} has other seeds than were given, or in another order. A comparison "
                "by seed needs the same in every arm: same data, same initial weights.",
            )


@ex_10_3.property("nothing differs but what the arm's name says")
def _(arms):
    for base, strength, seeds in bases():
        right = right_arms(base, strength, seeds)
        for name, specs in arms(base, strength, seeds).items():
            for spec, want in zip(specs, right[name], strict=True):
                if spec == want:
                    continue
                got, asked, own = spec.settings(), want.settings(), base.settings()
                other = [key for key in asked if got.get(key) != asked[key]]
                setting = next((k for k in other if k not in ("kl_strength",)), other[0])
                said = f"{name} has {setting} = {got.get(setting)!r}, not {asked[setting]!r}. "
                if setting == "kl_strength":
                    cause = (
                        "A baseline has no prior at all, even if base has one."
                        if name == "baseline"
                        else "A stand-in for the prior's gradient needs the prior, at its full "
                        "strength: otherwise there is no gradient to stand in for."
                        if name in ("noise", "shuffled")
                        else "This is the strength of base; take the argument, which is given "
                        "for all arms with a prior."
                        if got.get(setting) == own.get(setting)
                        else "It is to be the strength that was given, as it is."
                    )
                elif setting == "penalty_gradient" and name == "baseline":
                    cause = "Without a prior nothing can stand in for its gradient: leave it as is."
                elif setting == "penalty_gradient":
                    cause = "This is what makes the control a control, or the prior a prior."
                elif own.get(setting) == asked[setting]:
                    cause = "That setting is base's, and no arm is to change it. Begin from base."
                else:
                    cause = "Only the prior and what stands in for its gradient may differ."
                require(False, said + cause, got.get(setting), repr(asked[setting]))


# --- 10.4 peeking -------------------------------------------------------------------------

ex_10_4 = Exercise(
    "ex_10_4",
    answers=("chance_of_a_yes",),
    hints=(
        "One look at n seeds: add up `math.comb(n, yes) * share**yes * (1 - share)**(n - yes)` "
        "over all yes from 4/5 n, rounded up.",
        "Several looks are not independent: the first five seeds are among the ten. So go "
        "through seed by seed, and keep the chance of every number of yes so far.",
        "At a look, take out those numbers that are enough: they have stopped. Their chance is "
        "added to the answer; the others go on.",
    ),
    afterword="So the number of seeds belongs into the claim, before the first run.",
)


def by_all_outcomes(looks: list[int], share: float) -> float:
    """The chance, by going through every sequence of outcomes."""
    found = 0.0
    for one in product([True, False], repeat=max(looks)):
        if any(sum(one[:n]) >= math.ceil(4 / 5 * n) for n in looks):
            found += math.prod(share if yes else 1 - share for yes in one)
    return found


def one_look(n: int, share: float) -> float:
    """The chance with a single look."""
    return by_all_outcomes([n], share)


def unless_near(got: Any, want: float, cause: str) -> str:
    """The cause, or that a simulation is not exact."""
    near = isinstance(got, float | np.floating) and abs(got - want) < 0.1 * want
    return (
        "It is near, and not it. If it is a simulation: the exact chance is asked for, and there "
        f"are few enough cases to add it up. Otherwise: {cause}"
        if near
        else cause
    )


@ex_10_4.property("one look at five seeds is the rule of lesson 10")
def _(chance):
    for share in (0.5, 0.9, 0.2):
        exactly = math.comb(5, 4) * share**4 * (1 - share)
        got, want = chance([5], share), one_look(5, share)
        expect(
            got,
            want,
            cause=unless_near(got, want, "Four yes of five, in any order, or five."),
            mistakes={
                "All five count as well: at least four.": exactly,
                "Four of five may come in five different orders.": share**4 * (1 - share)
                + share**5,
                "This is the chance of five of five.": share**5,
                "share is the chance of a yes; here it was taken for that of a no.": one_look(
                    5, 1 - share
                ),
                "The answer is the same whatever the share; a yes need not be a coin's.": (
                    one_look(5, 0.5)
                ),
                "It is looked after every seed; look only at the numbers in `looks`.": (
                    by_all_outcomes([1, 2, 3, 4, 5], share)
                ),
                "The chance is a number from 0 to 1, and no percentage.": 100 * want,
            },
        )


@ex_10_4.property("needed are four fifths of the seeds so far, rounded up")
def _(chance):
    for n in (3, 8, 10):
        expect(
            chance([n], 0.6),
            one_look(n, 0.6),
            cause=f"Of {n} seeds {math.ceil(4 / 5 * n)} are needed. Is a 4 in the code, or is it "
            "rounded down?",
        )


@ex_10_4.property("a yes at any look is a yes")
def _(chance):
    for looks, share in (([5, 10], 0.5), ([3, 4, 7], 0.5), ([5, 6, 7, 8, 9, 10], 0.3)):
        singles = [one_look(n, share) for n in looks]
        independent = 1 - math.prod(1 - one for one in singles)
        new = [n - before for before, n in zip([0, *looks], looks, strict=False)]
        got, want = chance(looks, share), by_all_outcomes(looks, share)
        expect(
            got,
            want,
            cause=unless_near(
                got,
                want,
                "Go seed by seed: whoever has had enough yes at a look has stopped, the others "
                "go on.",
            ),
            mistakes={
                "Only the last look counts here; at the earlier ones you might have stopped.": (
                    singles[-1]
                ),
                "Only the first look counts here, or the best one: at a later look some say yes "
                "who have not done so before.": max(singles),
                "The chances of the looks are added: whoever had a yes at both is counted twice.": (
                    sum(singles)
                ),
                "The looks are taken for independent, but they share their seeds.": independent,
                "At a look all seeds so far count, not only those that are new.": 1
                - math.prod(1 - one_look(n, share) for n in new),
                "It is looked after every seed; look only at the numbers in `looks`.": (
                    by_all_outcomes(list(range(looks[0], looks[-1] + 1)), share)
                ),
                "This is the chance that there is a yes at every look.": sum(
                    math.prod(share if yes else 1 - share for yes in one)
                    for one in product([True, False], repeat=looks[-1])
                    if all(sum(one[:n]) >= math.ceil(4 / 5 * n) for n in looks)
                ),
            },
        )
