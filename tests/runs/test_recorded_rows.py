"""The recordings that come with the package: whole, small, of the rows' own runs."""

import json

import pytest

from grokkit import experiments, runs
from grokkit.engine import load_weights
from grokkit.engine.files import locate
from grokkit.engine.ticket import load_ticket
from grokkit.errors import SettingError
from grokkit.runtime import any_specs_of

RECORDED = [name for name in experiments.ROWS if name != "theory"]


def files():
    return [path for path in runs.folder().rglob("*") if path.suffix in (".nc", ".safetensors")]


def test_no_file_is_above_600_kilobytes_and_all_are_below_16_megabytes():
    sizes = {path.name: path.stat().st_size for path in files()}
    assert max(sizes.values()) <= runs.LIMIT == 600_000
    assert sum(sizes.values()) <= 16_000_000


@pytest.mark.parametrize("name", RECORDED)
def test_every_row_is_recorded_whole_with_its_seeds_and_what_made_it(name: str):
    history = experiments.recorded(name)
    assert history is not None
    row = experiments.row(name)
    assert set(any_specs_of(history)) == set(row.specs())
    assert sorted(set(history.seed.values)) == list(row.seeds)
    assert all(len(specs) >= 5 for specs in row.arms().values())
    assert {"grokkit", "torch", "python", "device", "seconds", "mantissa_bits"} <= set(
        history.attrs
    )
    assert all(json.loads(str(spec)) for spec in history.spec.values)


@pytest.mark.parametrize("name", ["baseline", "memorised", "kl"])
def test_final_weights_of_the_headline_settings_come_with_the_package(name: str):
    from grokkit.experiments.sources import WEIGHTS

    spec, weights = load_weights(f"recorded:weights/{name}.safetensors")
    assert spec == WEIGHTS[name]
    assert bool(weights.flat.isfinite().all())


def test_the_tickets_are_cut_from_the_source_that_comes_with_them():
    from grokkit.experiments import sources
    from grokkit.tickets import prune, shuffled

    trained = load_weights(sources.source("classroom"))
    assert trained[0] == sources.source_spec("classroom")
    for name, how in sources.TICKETS.items():
        kept = load_ticket(sources.ticket("classroom", name))
        assert kept.digest == prune(*trained, how).digest
    for name, (like, seed) in sources.MASKS.items():
        kept = load_ticket(sources.ticket("classroom", name))
        assert kept.digest == shuffled(prune(*trained, sources.TICKETS[like]), seed).digest


def test_a_name_of_a_recorded_file_stays_inside_the_folder():
    assert locate("recorded:weights/kl.safetensors").is_file()
    assert locate("weights/kl.safetensors").parts == ("weights", "kl.safetensors")
    for outside in ("recorded:../errors.py", "recorded:/etc/passwd", "recorded:weights/../../x"):
        with pytest.raises(SettingError, match="recorded:NAME"):
            locate(outside)
