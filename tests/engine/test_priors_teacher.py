"""A teacher's attention as the target, and the file that it comes from."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from grokkit.engine import RunSpec, Trainer, WeightsError, load_weights, save_weights
from grokkit.engine.priors import ScheduledPenalty
from grokkit.engine.weights import HEADER
from grokkit.errors import SettingError
from grokkit.model import Transformer
from grokkit.runtime import train
from grokkit.runtime.checkpoint import save_checkpoint
from grokkit.tasks import SparseParity
from tests.engine.forged import forge
from tests.engine.small import SMALL

TAUGHT = SMALL.with_(kl_strength=1.0, epochs=60, seed=5)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trainer, Path]:
    trainer = Trainer([SMALL, TAUGHT.with_(epochs=SMALL.epochs)])
    trainer.advance()
    folder = tmp_path_factory.mktemp("teacher")
    return trainer, save_weights(trainer, folder / "teacher.safetensors", run=1)


def student(path: Path, **changes) -> RunSpec:
    return SMALL.with_(prior="teacher", teacher=str(path), **changes)


def test_weights_and_spec_come_back(trained):
    trainer, path = trained
    spec, weights = load_weights(path)
    assert spec == trainer.specs[1]
    assert torch.equal(weights.flat[0], trainer.weights.flat[1])
    assert dict(weights.layout.shapes) == dict(trainer.weights.layout.shapes)


@pytest.mark.parametrize("changes", [dict(readout="residual"), dict(output_projection=True)])
def test_every_layout_comes_back(tmp_path, changes):
    trainer = Trainer([SMALL.with_(heads=2, precision="float64", **changes)])
    spec, weights = load_weights(save_weights(trainer, tmp_path / "w.safetensors"))
    assert spec == trainer.specs[0] and torch.equal(weights.flat, trainer.weights.flat)


def test_the_target_is_the_teachers_attention_on_the_students_own_sequences(trained):
    trainer, path = trained
    specs = [student(path, seed=seed) for seed in (0, 3)]
    group = Trainer(specs)
    target = ScheduledPenalty(specs, group.train).target
    assert target is not None
    model = Transformer(SMALL.model, group.train)
    for run in range(2):
        weights = trainer.weights.run(1)
        alone = Transformer(SMALL.model, group.train.run(run))(weights).attention
        assert torch.equal(target[run], alone[0])
    assert target.shape == model(group.weights).attention.shape
    assert not target.requires_grad


def test_a_student_comes_to_attend_as_its_teacher(trained, tmp_path):
    teacher = Trainer([TAUGHT.with_(epochs=150, record_every=150, heads=2)])
    teacher.advance()
    path = save_weights(teacher, tmp_path / "t.safetensors")
    spec = student(path, kl_strength=5.0, epochs=100, record_every=100, heads=2)
    taught, plain = (train(spec.with_(kl_strength=beta)) for beta in (5.0, 0.0))
    assert taught.attrs["gradient"] == "autograd"
    assert taught.informative_mass[0, -1] > plain.informative_mass[0, -1] + 0.1


def test_the_student_may_be_trained_on_less_and_be_of_another_width(trained):
    _, path = trained
    Trainer([student(path, train_fraction=0.3, d_model=4, d_mlp=3, precision="float64")])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (dict(p=7), "p = 7"),
        (dict(length=6), "length = 6"),
        (dict(alphabet=3), "alphabet = 3"),
        (dict(positions=(1, 0)), "positions = (1, 0)"),
        (dict(distractors="random"), "distractors = 'random'"),
        (dict(heads=2), "heads = 2"),
        (dict(task="modular_subtraction", p=5), "task = 'modular_subtraction'"),
        (dict(task=SparseParity(bits=4, k=2)), "task = 'sparse_parity'"),
    ],
)
def test_a_teacher_of_another_shape_is_refused_naming_the_field(trained, changes, named):
    _, path = trained
    with pytest.raises(SettingError, match=r"^teacher: ") as refused:
        Trainer([student(path, **changes)])
    assert named in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_no_teacher_is_refused(tmp_path, trained):
    trainer, path = trained
    (tmp_path / "text").write_text("weights")
    (tmp_path / "cut").write_bytes(path.read_bytes()[:-100])
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in ("W_Q", "W_K", "token_embedding")}
    header = json.loads(metadata[HEADER])
    forge(tmp_path / "few", HEADER, header, tensors)
    for name, change in (
        ("newer", {"format": 99}),
        ("unknown", {"spec": header["spec"] | {"colour": 1}}),
    ):
        forge(tmp_path / name, HEADER, header | change, tensors)
    save_checkpoint(trainer, tmp_path / "checkpoint")
    for name in ("text", "cut", "few", "newer", "unknown", "checkpoint"):
        with pytest.raises(WeightsError) as problem:
            load_weights(tmp_path / name)
        assert "\n" not in str(problem.value)
    for name in ("text", "nowhere", "."):
        with pytest.raises(SettingError, match=r"^teacher: "):
            Trainer([student(tmp_path / name)])
    with pytest.raises(SettingError, match=r"^teacher: got ''"):
        Trainer([SMALL.with_(prior="teacher")])
