"""FINDINGS.md: short, and held to the verdicts that its sentences rest on."""

import dataclasses
from pathlib import Path

import pytest

from grokkit.errors import SettingError
from grokkit.experiments import ROWS, findings
from grokkit.experiments.findings import FINDINGS, MOST, findings_document

ROOT = Path(__file__).parents[2]


def test_it_is_one_page_of_claims_and_pictures_that_there_are():
    claims = {claim.id for row in ROWS.values() for claim in row.claims_at("paper")}
    assert 1 <= len(FINDINGS) <= MOST
    for one in FINDINGS:
        assert set(one.rests_on) <= claims and one.rests_on and one.effects
        assert one.says.endswith(".") and one.caveat.endswith(".")
        assert set(one.effects) <= claims
        told = [words for sentences in one.effects.values() for words in sentences.values()]
        assert all(words.count("{") == 1 for words in told)  # one number a line
        assert (ROOT / f"course/images/rows/{one.picture}.png").is_file()


def test_a_verdict_that_no_longer_bears_a_sentence_out_is_refused(monkeypatch):
    claim = "starvation-bound/holds"
    one = findings.Finding("It holds.", {claim: "reproduced"}, {claim: {0: "bound"}}, "None.", "x")
    monkeypatch.setattr(findings, "FINDINGS", (one,))
    assert "## 1. It holds." in findings_document()
    turned = dataclasses.replace(one, rests_on={claim: "not reproduced"})
    monkeypatch.setattr(findings, "FINDINGS", (turned,))
    with pytest.raises(SettingError, match="starvation-bound/holds: reproduced"):
        findings_document()
