"""The script that judges a card, on the CPU: every part runs, and its files are whole."""

import json
from pathlib import Path

import pytest

from grokkit.bench import gpu


@pytest.mark.slow
def test_every_part_runs_on_a_cpu_and_writes_its_files(tmp_path: Path):
    assert gpu.main(["--out", str(tmp_path), "--device", "cpu", "--quick"]) == 0
    found = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
    assert list(gpu.PARTS) == sorted(found) == sorted(path.stem for path in tmp_path.glob("*.txt"))
    assert not any("failed" in one["found"] for one in found.values())
    assert found["2-equality"]["found"]["equal"]


def test_once_the_time_is_up_no_part_begins_and_a_part_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def broken(task: gpu.Task) -> gpu.Found:
        raise RuntimeError("no such kernel")

    words = ["--out", str(tmp_path), "--device", "cpu", "--quick"]
    monkeypatch.setattr(gpu, "PARTS", {"1-broken": broken, "2-environment": gpu.environment})
    assert gpu.main(words) == 1
    assert "no such kernel" in (tmp_path / "1-broken.txt").read_text()
    assert (tmp_path / "2-environment.txt").exists()
    monkeypatch.setattr(gpu, "PARTS", {"3-late": broken})
    assert gpu.main([*words, "--minutes", "-1"]) == 0
    assert "3-late: the time is up" in capsys.readouterr().out


def test_without_a_card_it_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert gpu.main(["--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.startswith("device: got 'cuda'; allowed: cpu")
    assert not (tmp_path / "new").exists()
