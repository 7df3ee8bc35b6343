"""Checks of the exercises on chapter 10: censoring, verdicts, a grid with its control, peeking."""

import math
from itertools import product

import numpy as np

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, numbers, require
from grokkit.engine import RunSpec, grid, presets

NAN = math.nan

# --- 10.1 which of two came first ---------------------------------------------------------


def sooner(mine, my_last, its, its_last, factor):
    """The package's own answer for one seed."""
    from grokkit.experiments.times import Times

    one, other = (
        Times(np.array([a]), np.array([b])) for a, b in ((mine, my_last), (its, its_last))
    )
    return one.sooner(other, factor)[0]


def yes_no_or_none(got, *case):
    array = as_array(got)
    require(
        got is None or (array is not None and array.dtype.kind == "b" and array.ndim == 0),
        "The answer is to be True, False or None.",
        got,
        repr(sooner(*case)),
    )


def came(*case, cause, **mistakes):
    """One case, with the sentence that each wrong answer deserves: yes=..., no=..., none=..."""
    answers = {"yes": True, "no": False, "none": None}
    return Ask(case, cause, {said: answers[name] for name, said in mistakes.items()})


ex_10_1 = Exercise(
    "ex_10_1",
    Function(
        "came_sooner",
        right=sooner,
        form=yes_no_or_none,
        cases={
            "if both came, the epochs decide": [
                came(mine, 1000.0, its, 1000.0, factor, cause=cause)
                for mine, its, factor, cause in (
                    (300.0, 500.0, 1.0, "300 is sooner than 500."),
                    (500.0, 300.0, 1.0, "500 is later than 300."),
                    (
                        450.0,
                        500.0,
                        0.8,
                        "It had to be there by 0.8 x 500 = 400: the factor is the other's.",
                    ),
                    (400.0, 500.0, 0.8, "Exactly at 0.8 x 500 = 400 is in time."),
                    (
                        550.0,
                        500.0,
                        1.2,
                        "It had time until 1.2 x 500 = 600: the factor is the other's.",
                    ),
                )
            ],
            "if neither came, nothing can be said": [
                came(
                    *(NAN, mine, NAN, its, factor),
                    cause="Neither came: None.",
                    no="Neither came by its last epoch, so nobody knows: None, and not False. (A "
                    "comparison with nan is always False.)",
                    yes="Neither came by its last epoch: None. When a run was stopped says nothing "
                    "of when it would have come.",
                )
                for mine, its, factor in ((500.0, 1000.0, 1.0), (1000.0, 500.0, 0.5))
            ],
            "if the other one is censored, it came after its last epoch, if ever": [
                came(
                    *(300.0, 1000.0, NAN, 1000.0, 1.0),
                    cause="Mine came at 300, the other had not come by 1000: mine is sooner.",
                    no="Mine came at 300 and the other had not come by 1000. (A comparison with "
                    "nan is always False.)",
                    none="The other had not come by 1000: that is enough to know that 300 is "
                    "sooner.",
                ),
                came(
                    *(900.0, 1000.0, NAN, 1000.0, 0.8),
                    cause="Asked is 900 <= 0.8 x something beyond 1000: it may be 1100 or 5000, so "
                    "None.",
                    yes="The factor applies to the censored one, too: its epoch is beyond 1000, so "
                    "0.8 of it is beyond 800. Whether it is beyond 900 nobody knows.",
                    no="The other's last epoch was taken for its epoch. It lies beyond, nobody "
                    "knows how far.",
                ),
                came(
                    *(800.0, 1000.0, NAN, 1000.0, 0.8),
                    cause="At 800 mine is in time.",
                    none="The other one had not come *at* its last epoch, 1000: it comes later, "
                    "and 0.8 of that is more than 800. So at 800 mine is in time.",
                ),
                came(
                    *(900.0, 1000.0, NAN, 600.0, 1.0),
                    cause="The other one was stopped at 600: would it have come before 900?",
                    yes="The other one was stopped at 600. It may have come at 700.",
                    no="The other one was stopped at 600, not there. It may have come at 5000.",
                ),
            ],
            "if mine is censored, it came after my last epoch, if ever": [
                came(
                    *(NAN, 1000.0, 700.0, 1000.0, 1.0),
                    cause="Mine had not come by 1000, the other was there at 700: False.",
                    none="Mine had not come by 1000, so it cannot have come by 700: that is known.",
                    yes="Mine had not come by 1000.",
                ),
                came(
                    *(NAN, 500.0, 700.0, 1000.0, 1.0),
                    cause="Mine was stopped at 500: it may have come by 700, or not. None.",
                    no="Mine was stopped at 500 already: it may have come at 600, before it.",
                    yes="My last epoch was taken for mine. It lies beyond.",
                ),
                came(
                    *(NAN, 600.0, 700.0, 1000.0, 0.8),
                    cause="It had to be there by 0.8 x 700 = 560, and at 600 it was not: False.",
                    none="It had to be there by 0.8 x 700 = 560. At 600 it was not: so much is "
                    "known. (The factor belongs to the other one here, too.)",
                ),
                came(
                    *(NAN, 560.0, 700.0, 1000.0, 0.8),
                    cause="At 560, the last moment to be in time, mine had not come: False.",
                    none="Mine had not come *at* its last epoch, 560, and 0.8 x 700 = 560 was the "
                    "last moment to be in time. So it comes later: False.",
                ),
            ],
        },
    ),
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

# --- 10.2 the verdict ---------------------------------------------------------------------

T, F, U = True, False, None
WORDS = ("reproduced", "partly", "not reproduced", "undecided")


def verdict(parts):
    """The package's own verdict."""
    from grokkit.experiments.claims import Part, verdict_of

    return verdict_of([Part("", tuple(one), "") for one in parts])


def one_of_the_words(got, parts):
    require(
        got is None or (isinstance(got, str) and got in WORDS),
        f"The answer is to be one of the words {', '.join(map(repr, WORDS))}, as they stand.",
        got,
        repr(verdict(parts)),
    )


def counted(needed=lambda n: math.ceil(4 * n / 5), open_as=None, whole=False):
    """A verdict with another number needed, open seeds taken for a yes or a no, or lumped."""

    def answer(parts):
        if whole:
            parts = [[seed for part in parts for seed in part]]
        if open_as == "out":
            parts = [[seed for seed in part if seed is not None] for part in parts]
        elif open_as is not None:
            parts = [[open_as if seed is None else seed for seed in part] for part in parts]
        yes = [part.count(True) >= needed(len(part)) for part in parts]
        no = [part.count(True) + part.count(None) < needed(len(part)) for part in parts]
        if all(yes):
            return "reproduced"
        return "undecided" if not any(no) else "partly" if any(yes) else "not reproduced"

    return answer


def on_one(mistakes, *cases):
    return [Ask(([part],), cause, mistakes) for part, cause in cases]


YES, NO, OPEN = [T] * 5, [F] * 5, [U] * 5

ex_10_2 = Exercise(
    "ex_10_2",
    Function(
        "verdict",
        right=verdict,
        form=one_of_the_words,
        cases={
            "one part, five seeds, all of them known": on_one(
                {
                    "All seeds are asked for; four fifths are enough.": counted(lambda n: n),
                    "More than half is not enough: four fifths.": counted(lambda n: n // 2 + 1),
                },
                *(
                    ([T] * yes + [F] * (5 - yes), f"It holds for {yes} of 5 seeds; 4 are needed.")
                    for yes in range(6)
                ),
            ),
            "a seed that does not tell is neither a yes nor a no": on_one(
                {
                    "An open seed was counted as a no, or left out.": any_of(
                        counted(open_as=False), counted(open_as="out")
                    ),
                    "An open seed was counted as a yes.": counted(open_as=True),
                },
                (
                    [T, T, T, U, F],
                    "Three hold; with the open seed it would be four: still undecided.",
                ),
                (
                    [T, T, U, F, F],
                    "Two hold, and the open seed could only make it three: it could no longer "
                    "hold, so it fails.",
                ),
                ([T, T, T, T, U], "Four hold, whatever the fifth would say."),
                ([U, U, U, U, U], "Nobody knows anything: undecided."),
                ([U, U, U, U, F], "The four open seeds might all say yes: undecided."),
            ),
            "needed are four fifths of the seeds, rounded up": on_one(
                {
                    "Four fifths are rounded up, not down or to the nearest.": any_of(
                        counted(lambda n: 4 * n // 5), counted(lambda n: round(4 * n / 5))
                    )
                },
                ([T] * 8 + [F] * 2, "Of 10 seeds 8 are needed. Is a 4 or a 5 in the code?"),
                ([T] * 7 + [F] * 3, "Of 10 seeds 8 are needed. Is a 4 or a 5 in the code?"),
                ([T, T, F], "Four fifths of 3 are 2.4, rounded up 3. Is a 4 or a 5 in the code?"),
                ([T] * 5 + [F], "Four fifths of 6 are 4.8, rounded up 5."),
                ([T] * 4 + [F, F], "Four fifths of 6 are 4.8, rounded up 5."),
                ([T] * 6 + [F, U], "Four fifths of 8 are 6.4, rounded up 7: one may be the 7th."),
            ),
            "several parts": [
                Ask(
                    (parts,),
                    cause,
                    {
                        "The seeds of all parts are counted together; parts are judged one by "
                        "one.": counted(whole=True)
                    },
                )
                for parts, cause in (
                    ([YES, YES], "Every part holds: reproduced."),
                    ([YES, NO], "One holds and one fails: partly."),
                    ([NO, NO], "Both fail and none holds: not reproduced."),
                    (
                        [YES, OPEN],
                        "None fails, and not all hold: undecided. For partly some part would have "
                        "to fail.",
                    ),
                    ([OPEN, OPEN], "None fails, and not all hold: undecided."),
                    ([NO, OPEN], "One fails, none holds: not reproduced, whatever the open one."),
                    ([YES, NO, OPEN], "One holds and one fails: whatever the third is, partly."),
                    ([[T, T, F, F, F], YES], "Parts are judged one by one: 7 of 10 do not count."),
                    ([YES, NO, YES, YES, YES, YES], "One part fails: partly, however many hold."),
                )
            ],
        },
    ),
    hints=(
        "First one part: count True, count None, and what is needed, 4/5 of n rounded up.",
        "It holds if there are enough True; it fails if True and None together are too few; "
        "otherwise it is open. (None is not False.)",
        "Then the claim: all hold; else if any fails: does any hold? else nothing has failed, and "
        "not all hold.",
    ),
    afterword="In grokkit: Part.holds and verdict_of in grokkit.experiments.claims.",
)

# --- 10.3 a grid with its control ---------------------------------------------------------

ARMS = {
    "baseline": {"kl_strength": 0.0, "penalty_gradient": "true"},
    "prior": {"penalty_gradient": "true"},
    "noise": {"penalty_gradient": "noise"},
    "shuffled": {"penalty_gradient": "shuffled"},
}


def is_the_experiment(given, base, strength, seeds):
    """Whether it has four arms, paired by seed, that differ in what their names say alone."""
    require(
        isinstance(given, dict) and given.keys() == ARMS.keys(),
        f"The answer is to be a dict with the names {', '.join(ARMS)}.",
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
        require(
            [spec.seed for spec in specs] == list(seeds),
            f"{name} has other seeds than were given, or in another order. A comparison by seed "
            "needs the same in every arm: same data, same initial weights.",
            [spec.seed for spec in specs],
            str(seeds),
        )
        changes = {"prior": "kl", "kl_strength": strength, **ARMS[name]}
        for spec, want in zip(specs, grid(base.with_(**changes), seed=seeds), strict=True):
            # Where there is no prior, what stands in for its gradient is of no account.
            same = name == "baseline" and spec == want.with_(
                penalty_gradient=base.settings()["penalty_gradient"]
            )
            if spec != want and not same:
                said, got, asked = _what_differs(name, spec, want, base)
                require(False, said, got, asked)


def _what_differs(name, spec, want, base):
    """What is to be said of a spec that is not the one wanted."""
    got, asked, own = spec.settings(), want.settings(), base.settings()
    other = [key for key in asked if got.get(key) != asked[key]]
    if not other:
        return f"{name} has a spec of another kind than base.", None, ""
    setting = next((key for key in other if key != "kl_strength"), other[0])
    stand_in = "A stand-in for the prior's gradient needs the prior, at its full strength: " + (
        "otherwise there is no gradient to stand in for."
    )
    if setting == "kl_strength":
        said = {"baseline": "A baseline has no prior at all, even if base has one."}
        said |= {"noise": stand_in, "shuffled": stand_in}
        cause = said.get(
            name,
            "This is the strength of base; take the argument, which is given for all arms with a "
            "prior."
            if got.get(setting) == own.get(setting)
            else "It is to be the strength that was given, as it is.",
        )
    elif setting == "penalty_gradient" and name == "baseline":
        cause = "Without a prior nothing can stand in for its gradient: leave it as is."
    elif setting == "penalty_gradient":
        cause = "This is what makes the control a control, or the prior a prior."
    elif own.get(setting) == asked[setting]:
        cause = "That setting is base's, and no arm is to change it. Begin from base."
    else:
        cause = "Only the prior and what stands in for its gradient may differ."
    said = f"{name} has {setting} = {got.get(setting)!r}, not {asked[setting]!r}. {cause}"
    return said, got.get(setting), repr(asked[setting])


LIVE = presets["live"]

ex_10_3 = Exercise(
    "ex_10_3",
    Function(
        "experiment",
        judge=is_the_experiment,
        cases={
            "four arms with the same seeds, and nothing differs but what the arm's name says": [
                # Settings that are nobody's defaults; the third base has a stand-in already.
                Ask((LIVE.with_(p=19, learning_rate=0.004, stop_after=3), 0.7, [3, 4, 8])),
                Ask((LIVE.with_(weight_decay=0.6, d_mlp=48, kl_strength=0.2), 2.0, [1, 0])),
                Ask((LIVE.with_(kl_strength=0.3, penalty_gradient="noise"), 1.5, [2, 5])),
            ]
        },
    ),
    hints=(
        "Begin every arm from `base`: `base.with_(...)` changes what you name and nothing else.",
        'The baseline has no prior: kl_strength=0. The three others have prior="kl" and the same '
        "strength; they differ in penalty_gradient.",
        "`grid(spec, seed=seeds)` from grokkit.engine makes a list, one spec for each seed.",
    ),
    afterword="The row kl-acceleration has these arms; experiments.claims shows what they said.",
)

# --- 10.4 peeking -------------------------------------------------------------------------


def enough(outcomes, n, needed=lambda n: math.ceil(4 * n / 5)):
    return sum(outcomes[:n]) >= needed(n)


def chance(looks, share, quantifier=any, enough=enough):
    """The chance, by going through every sequence of outcomes."""
    share, found = float(share), 0.0
    for one in product([True, False], repeat=max(looks)):
        if quantifier(enough(one, n) for n in looks):
            found += math.prod(share if yes else 1 - share for yes in one)
    return found


def new_ones(looks):
    return [n - before for before, n in zip([0, *looks], looks, strict=False)]


def a_chance(got, looks, share):
    """Near, and not it: a simulation."""
    array, want = as_array(got), chance(looks, share)
    if array is None or array.ndim or array.dtype.kind not in "if":
        return
    near = 1e-5 * want < abs(float(array) - want) < 0.02 * want
    require(
        not near,
        "It is near, and not it. If it is a simulation: the exact chance is asked for, and there "
        "are few enough cases to add it up.",
        got,
        f"{want:.6g}",
    )


ex_10_4 = Exercise(
    "ex_10_4",
    Function(
        "chance_of_a_yes",
        right=chance,
        form=a_chance,
        cases={
            "one look at five seeds is the rule of lesson 10": [
                Ask(([5], share), "Four yes of five, in any order, or five.")
                for share in (0.5, 0.9, 0.2)
            ],
            "needed are four fifths of the seeds so far, rounded up": [
                Ask(
                    ([n], 0.6),
                    f"Of {n} seeds {math.ceil(0.8 * n)} are needed. Is a 4 in the code, or is it "
                    "rounded down?",
                )
                for n in (3, 8, 10)
            ],
            "a yes at any look is a yes": [
                Ask(
                    (looks, share),
                    "Go seed by seed: whoever has had enough yes at a look has stopped, the others "
                    "go on.",
                )
                for looks, share in (
                    ([5, 10], 0.5),
                    ([3, 4, 7], 0.6),
                    ([5, 6, 7, 8, 9, 10], 0.3),
                    ([1, 2, 9], 0.4),
                )
            ],
        },
        mistakes={
            "All five count as well: at least four fifths.": lambda looks, s: chance(
                looks, s, enough=lambda one, n: sum(one[:n]) == math.ceil(4 * n / 5)
            ),
            "Four of five may come in five different orders.": lambda looks, s: (
                s**4 * (1 - s) + s**5
            ),
            "This is the chance that all say yes.": lambda looks, s: s ** looks[-1],
            "share is the chance of a yes; here it was taken for that of a no.": lambda looks, s: (
                chance(looks, 1 - s)
            ),
            "The answer is the same whatever the share; a yes need not be a coin's.": (
                lambda looks, s: chance(looks, 0.5)
            ),
            "Only the last look counts here; at the earlier ones you might have stopped.": (
                lambda looks, s: chance(looks[-1:], s)
            ),
            "Only the first look counts here, or the best one: at a later look some say yes who "
            "have not done so before.": any_of(
                lambda looks, s: max(chance([n], s) for n in looks),
                lambda looks, s: chance(looks[:1], s),
            ),
            "The chances of the looks are added: whoever had a yes at both is counted twice.": (
                lambda looks, s: sum(chance([n], s) for n in looks)
            ),
            "The looks are taken for independent, but they share their seeds.": lambda looks, s: (
                1 - math.prod(1 - chance([n], s) for n in looks)
            ),
            "At a look all seeds so far count, not only those that are new.": lambda looks, s: (
                1 - math.prod(1 - chance([n], s) for n in new_ones(looks))
            ),
            "It is looked after every seed; look only at the numbers in `looks`.": any_of(
                lambda looks, s: chance(list(range(1, looks[-1] + 1)), s),
                lambda looks, s: chance(list(range(looks[0], looks[-1] + 1)), s),
            ),
            "This is the chance that there is a yes at every look.": lambda looks, s: chance(
                looks, s, all
            ),
            "Four fifths are rounded up, not down or to the nearest.": any_of(
                lambda looks, s: chance(
                    looks, s, enough=lambda one, n: enough(one, n, lambda n: 4 * n // 5)
                ),
                lambda looks, s: chance(
                    looks, s, enough=lambda one, n: enough(one, n, lambda n: round(4 * n / 5))
                ),
            ),
            "The chance is a number from 0 to 1, and no percentage.": lambda looks, s: (
                100 * chance(looks, s)
            ),
        },
    ),
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

# --- 10.5 looking early without paying for it ---------------------------------------------


def yes_by(looks, needed, share):
    """The chance that enough seeds have said yes by each look."""
    going, stopped, found = {0: 1.0}, 0.0, []
    for n in range(1, looks[-1] + 1):
        after: dict[int, float] = {}
        for yes, one in going.items():
            after[yes + 1] = after.get(yes + 1, 0.0) + one * share
            after[yes] = after.get(yes, 0.0) + one * (1 - share)
        going = after
        if n in looks:
            border = needed[looks.index(n)]
            stopped += sum(one for yes, one in going.items() if yes >= border)
            going = {yes: one for yes, one in going.items() if yes < border}
            found.append(stopped)
    return found


def keeps_its_word(given, looks, luck):
    asked = f"A list of {len(looks)} whole numbers is asked for."
    array = numbers(given, [len(looks)], asked)
    require((array == array.round()).all(), asked, given)
    needed = [int(one) for one in array]
    by_luck, by_effect = (yes_by(looks, needed, share) for share in (0.5, 0.9))
    singles = [yes_by([n], [border], 0.5)[0] for n, border in zip(looks, needed, strict=True)]
    cause = "Ask for more yes."
    if max(singles) <= luck:
        cause = (
            "Each look by itself keeps to it; together they do not. What the first look has spent "
            "is spent."
        )
    require(
        by_luck[-1] <= luck * (1 + 1e-9),
        f"By luck the claim holds at some look with a chance of {by_luck[-1]:.3g}. {cause}",
        needed,
        f"{luck:g} or less",
    )
    require(
        by_effect[-1] >= 0.8,
        f"An effect in nine of ten seeds is found with a chance of {by_effect[-1]:.2g} only: more "
        "yes are asked for than luck makes necessary.",
        needed,
        "0.8 or more",
    )
    require(
        by_effect[-2] >= 0.5,
        f"Before the last look it is found with a chance of {by_effect[-2]:.2g} only: spend more "
        "of the luck on the earlier looks.",
        needed,
        "0.5 or more",
    )


ex_10_5 = Exercise(
    "ex_10_5",
    Function(
        "needed_at",
        judge=keeps_its_word,
        cases={
            "little luck, an effect found, and mostly found early": [
                Ask((looks, luck))
                for looks, luck in (
                    ([5, 10, 20], 0.05),
                    ([6, 12], 0.1),
                    ([8, 16, 24], 0.02),
                    ([5, 6, 7, 8, 20], 0.05),
                    ([10, 12], 0.03),
                )
            ]
        },
    ),
    hints=(
        "Think of the luck as a budget. How much does asking for five of five cost at the first "
        "look?",
        "Go through the seeds as in 10.4, with a share of 1/2. At a look take out the largest "
        "numbers of yes, one after the other, as long as the budget lasts.",
        "What was taken out is spent, and is not there any more at the next look.",
    ),
    afterword="Trials in medicine are planned like this. A sealed claim could be, too.",
)
