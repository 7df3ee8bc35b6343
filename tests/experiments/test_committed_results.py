"""RESULTS.md and FINDINGS.md of this repository are those that its recorded runs give."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grokkit import runs
from grokkit.experiments import ROWS

ROOT = Path(__file__).parents[2]


CHECK = """
from pathlib import Path
from grokkit.cli import main
from grokkit.experiments.findings import findings_document
assert main(["claims", "--check", "RESULTS.md"]) == 0
assert Path("FINDINGS.md").read_text(encoding="utf-8") == findings_document()
"""


@pytest.mark.slow
def test_they_say_what_the_recorded_runs_say():
    """In a process of its own: thousands of random inputs, without checks of their shapes."""
    check = [sys.executable, "-c", CHECK]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_claim_goes_without_a_verdict():
    """What the page says of a row at classroom size; the test above holds it to the runs."""
    text = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    for name in ROWS:
        section = re.split(r"^##", text.split(f"\n## {name}\n")[1], maxsplit=1, flags=re.MULTILINE)
        assert "Not run at this size" not in section[0], name


def test_every_picture_that_it_shows_is_there_and_small():
    pictures = re.findall(r"!\[.*\]\((.+)\)", (ROOT / "RESULTS.md").read_text(encoding="utf-8"))
    there = set(runs.names())
    shown = [
        name
        for name, row in ROWS.items()
        if name == "theory" or {name, *row.shares_recording_of} & there
    ]
    assert len(shown) == len(ROWS)
    assert {f"course/images/rows/{name}.png" for name in shown} <= set(pictures)
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < 80_000, picture
