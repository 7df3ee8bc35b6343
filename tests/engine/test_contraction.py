"""Definition 3.2 on made steps; on real ones in test_optimizer_bounds."""

import pytest
import torch

from grokkit import theory
from grokkit.engine.contraction import step_contraction
from grokkit.errors import SettingError


def test_a_made_step_gives_back_its_own_update():
    generator = torch.Generator().manual_seed(0)
    w, u = torch.randn(2, 3, 20, generator=generator, dtype=torch.float64)
    rate, decay = torch.tensor([0.1, 0.01, 0.2]), torch.tensor([1.0, 2.0, 0.0])
    a = (rate * decay).double()[:, None]
    after = (1 - a) * w - rate.double()[:, None] * u
    seen = step_contraction(w, after, rate, decay)
    torch.testing.assert_close(seen["contraction"], a[:, 0])
    torch.testing.assert_close(seen["update_norm"], u.norm(dim=1))
    torch.testing.assert_close(seen["norm_before"], w.norm(dim=1))
    torch.testing.assert_close(seen["norm_after"], after.norm(dim=1))
    for run in range(2):
        lr, wd = rate[run].double().item(), decay[run].double().item()
        rho = theory.norm_growth(lr, wd, u[run].norm().item())
        assert seen["growth"][run].item() == pytest.approx(rho)
        needed = (after[run] @ after[run] - (1 - lr * wd) * (w[run] @ w[run])).item()
        assert seen["growth_needed"][run].item() == pytest.approx(needed)
        assert seen["slack"][run].item() == pytest.approx(rho - needed)
        assert seen["floor"][run].item() == pytest.approx(u[run].norm().item() / wd)
    assert (
        seen["growth"][2].isnan()
        and seen["slack"][2].isnan()
        and seen["floor"][2].item() == torch.inf
    )


def test_the_slack_is_never_negative_and_zero_where_young_is_tight():
    generator = torch.Generator().manual_seed(1)
    w, u = 3 * torch.randn(2, 500, 4, generator=generator, dtype=torch.float64)
    rate, decay = torch.full((500,), 0.1), torch.full((500,), 2.0)
    a = (rate * decay).double()[:, None]
    after = (1 - a) * w - rate.double()[:, None] * u
    assert (step_contraction(w, after, rate, decay)["slack"] >= -1e-10).all()
    # 2 <x, y> = t x^2 + y^2 / t needs y = t x: the update -w * decay, against the decay.
    tight = w - 0 * u
    seen = step_contraction(w, tight, rate, decay)
    torch.testing.assert_close(seen["slack"], torch.zeros_like(seen["slack"]), atol=1e-10, rtol=0)


def test_settings_that_make_no_sense_are_refused():
    w = torch.ones(1, 3)
    for rate, decay, field in ((0.0, 1.0, "rate"), (0.1, -1.0, "weight_decay"), (0.5, 2.0, "rate")):
        with pytest.raises(SettingError, match=f"{field}: got"):
            step_contraction(w, w, torch.tensor([rate]), torch.tensor([decay]))
