"""Sections 4 and 5 and the appendices: every statement on random inputs; no training."""

from grokkit.experiments.row import Arms, Row, Size

# The claims come from grokkit.experiments.theory_claims (being written).


def setup(size: Size) -> Arms:
    """Nothing is trained."""
    return {}


ROW = Row("theory", "sections 4 and 5, appendices A to D", "Do the statements hold?", setup, ())
