"""Lottery tickets and Bayesian tickets (section 6, Figure 4).

A **lottery ticket** is what magnitude pruning leaves of a trained network: which weights
there are. A run under its mask begins with the initial weights of its own seed; where that
is the seed of the trained network this is the usual rewinding, elsewhere it is the transfer
of the mask to a fresh seed. A **Bayesian ticket** is no file at all: fresh weights, none of
them pruned, and a constant KL prior that says where to look.

The paper lets the two race, and gives only one of them the oracle. The row ``tickets``
(:mod:`grokkit.experiments.tickets`) has the fair comparisons too. Single steps: :func:`draw`
trains the source, :func:`prune` and :func:`save_ticket` make the ticket, then
``train(spec.with_(ticket="lottery.safetensors"))``.
"""

from grokkit.engine.ticket import Ticket, TicketError, load_ticket, save_ticket
from grokkit.tickets.pruning import Pruning, draw, prunable, prune, shuffled
