"""Other people's optimizers, set up to do what one of ours should: tests only."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from grokkit.engine.optimizers import SGD, Adam, AdamW, Lion, Muon, OptimizerSpec, hidden_matrices
from grokkit.model import Layout, Parameters


class Reference:
    """One run under somebody else's optimizer.

    Args:
        spec: our settings.
        layout: the parameters.
        flat: their first values, ``[parameter]``.
    """

    def __init__(self, spec: OptimizerSpec, layout: Layout, flat: Tensor) -> None:
        self.spec = spec
        self.layout = layout
        self.hidden = hidden_matrices(layout, spec.muon_readout) if isinstance(spec, Muon) else ()
        views = Parameters(layout, flat.clone().unsqueeze(0))
        # PyTorch's layers keep (outputs, inputs), and Muon's scale depends on which is which.
        self.parameters = {
            name: nn.Parameter(self.turn(name, views[name][0].detach()).clone()) for name in views
        }
        self.optimizers = self.make()
        self.steps = 0

    def turn(self, name: str, value: Tensor) -> Tensor:
        return value.T if name in self.hidden else value

    def make(self) -> list[Any]:
        spec, parameters = self.spec, self.parameters
        common: dict[str, Any] = {"lr": spec.learning_rate, "weight_decay": spec.weight_decay}
        everything = list(parameters.values())
        if isinstance(spec, Lion):
            from pytorch_optimizer import Lion as TheirLion

            return [TheirLion(everything, betas=(spec.beta1, spec.beta2), **common)]
        if isinstance(spec, SGD):
            return [torch.optim.SGD(everything, momentum=spec.momentum, **common)]
        assert isinstance(spec, AdamW)
        adam: dict[str, Any] = {"betas": (spec.beta1, spec.beta2), "eps": spec.eps} | common
        if isinstance(spec, Adam):
            return [torch.optim.Adam(everything, **adam)]
        if isinstance(spec, Muon):
            muon = torch.optim.Muon(
                [parameters[name] for name in self.hidden],
                momentum=spec.momentum,
                nesterov=spec.nesterov,
                eps=spec.eps,
                adjust_lr_fn={"rms": "match_rms_adamw", "spectral": "original"}[spec.update_scale],
                **common,
            )
            rest = [value for name, value in parameters.items() if name not in self.hidden]
            return [muon, torch.optim.AdamW(rest, **adam)]
        return [torch.optim.AdamW(everything, **adam)]

    def step(self, flat_grad: Tensor) -> Tensor:
        """One step with this gradient, clipped and warmed up; returns all parameters, flat."""
        self.steps += 1
        gradients = Parameters(self.layout, flat_grad.clone().unsqueeze(0))
        for name, parameter in self.parameters.items():
            parameter.grad = self.turn(name, gradients[name][0].detach()).clone()
        clip_grad_norm_(self.parameters.values(), self.spec.clip)
        warm = min(1.0, self.steps / self.spec.warmup) if self.spec.warmup else 1.0
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.spec.learning_rate * warm
            optimizer.step()
        parts = [self.turn(name, value.detach()) for name, value in self.parameters.items()]
        return torch.cat([part.flatten() for part in parts])
