"""Cross-entropy that stays exact where grokking happens: the core's, for any batch axes."""

from grokkit.core.loss import cross_entropy, loss_and_gradient

__all__ = ["cross_entropy", "loss_and_gradient"]
