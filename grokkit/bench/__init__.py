"""How fast is it? Contenders timed in turn in one process, and reported as ratios.

A time alone says little: machines differ, and one machine differs from minute to minute.
So the textbook loop, grokkit's own, and the least that must be computed take turns, a few
epochs each, and what is reported is the ratio within each turn, with its spread.
"""

from grokkit.bench.contenders import CONTENDERS, Contender
from grokkit.bench.devices import device_report
from grokkit.bench.measure import Measurement, measure, peak_memory, sweep_report
from grokkit.bench.report import report, write_csv, write_markdown
