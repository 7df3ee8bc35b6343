"""RESULTS.md as pages that one reads: a table of the questions, and a page for each of them."""

import re
from collections import Counter

VERDICTS = ("reproduced", "partly", "not reproduced", "undecided", "not run at this size")
VERDICT = re.compile(rf"\*\*({'|'.join(VERDICTS)})\b.*\*\*")
NOT_RUN = re.compile(r"^Not run at this size \((\d+)\): (.*)$", re.MULTILINE)


def pages(text: str) -> dict[str, str]:
    """RESULTS.md in parts: `RESULTS` itself, and `results/ROW` for each row of experiments.

    Args:
        text: RESULTS.md, as `grokkit claims` writes it.

    Returns:
        The Markdown of each page by its path without the ending.
    """
    head, *sections = re.split(r"^## (?=\S+$)", text, flags=re.MULTILINE)
    made, lines = {}, []
    for section in sections:
        name, _, rest = section.partition("\n")
        question, _, rest = rest.strip().partition("\n")
        question, _, source = question.partition("? (")
        counts = ", ".join(f"{n} {verdict}" for verdict, n in verdicts(section).items())
        lines.append(f"| [{question}?](results/{name}.md) `{name}` | {counts} |")
        made[f"results/{name}"] = _page(name, f"{question}?", source.removesuffix(")"), rest)
    above, _, how = head.partition("How to read a line:\n")
    table = "\n".join(
        ["| question, and its row | verdicts of its claims |", "| --- | --- |", *lines]
    )
    tree = "\n".join(["```{toctree}", ":hidden:", "", *made, "```"])
    how = f"## How to read a verdict\n{how}" if how else ""
    made["RESULTS"] = f"{above.rstrip()}\n\n## Every question\n\n{table}\n\n{how}\n{tree}\n"
    return made


def verdicts(section: str) -> Counter[str]:
    """How many claims of a section came to each verdict, in the order of the verdicts."""
    found = Counter(VERDICT.findall(section))
    for number, _ in NOT_RUN.findall(section):
        found[VERDICTS[-1]] += int(number)
    return Counter({verdict: found[verdict] for verdict in VERDICTS if found[verdict]})


def _page(name: str, question: str, source: str, rest: str) -> str:
    """The page of a row: its question, its figure, and a part for each claim."""
    at_paper = f"### {name} at the size of the paper"
    rest = rest.replace(at_paper, "## At the size of the paper")
    rest = rest.replace("](course/", "](../course/")
    level, lines = "##", []
    for line in rest.splitlines():
        if line.startswith("## "):
            level = "###"
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and VERDICT.fullmatch(cells[4]):
            lines += _claim(level, *(cell.replace("\\|", "|") for cell in cells))
        elif line.startswith("| claim |") or line == "| --- | --- | --- | --- | --- |":
            continue
        elif found := NOT_RUN.match(line):
            lines += [f"Not run at this size ({found[1]}):", ""]
            lines += [f"- {claim}" for claim in re.findall("“(.*?)”", found[2])]
        else:
            lines.append(line)
    how = "[How to read a verdict](../RESULTS.md#how-to-read-a-verdict)"
    about = f"The row `{name}` ({source}). {how}."
    return "\n".join(["---", "hide-toc: true", "---", f"# {question}", "", about, "", *lines, ""])


def _claim(level: str, says: str, source: str, seen: str, runs: str, verdict: str) -> list[str]:
    """A claim as a heading, its verdict, what was seen, and where it comes from."""
    says, _, late = says.partition("<br>")
    words = verdict.strip("*")
    lines = [f"{level} {says}", "", f"**{words[0].upper()}{words[1:]}**", ""]
    lines += [f"- {part}" for part in seen.split("<br>") if part != "-"]
    lines += ["", f"Who claims it: {source}. Runs: {runs}."]
    return [*lines, *(["", late] if late else []), ""]
