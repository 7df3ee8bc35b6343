"""Lottery tickets and Bayesian tickets (section 6, Figure 4).

A **lottery ticket** is what magnitude pruning leaves of a trained network: which weights
there are. A run under its mask begins with the initial weights of its own seed; where that
is the seed of the trained network this is the usual rewinding, elsewhere it is the transfer
of the mask to a fresh seed. A **Bayesian ticket** is no file at all: fresh weights, none of
them pruned, and a constant KL prior that says where to look.

The paper lets the two race, and gives only one of them the oracle. :func:`matched` makes
the fair comparisons too::

    from grokkit import presets, train
    from grokkit.tickets import Pruning, draw, matched

    draw(presets["live"].with_(seed=100), "source.safetensors")
    race = matched("source.safetensors", range(5), "tickets", Pruning(sparsity=0.8))
    history = race.label(train(race.specs))
    grok_epoch(history).groupby("arm").median()

Single steps: :func:`prune` and :func:`save_ticket`, then
``train(spec.with_(ticket="lottery.safetensors"))``.
"""

from grokkit.engine.ticket import Ticket, TicketError, load_ticket, save_ticket
from grokkit.tickets.comparison import ARMS, Matched, bayesian, matched
from grokkit.tickets.pruning import Pruning, draw, prunable, prune, shuffled
