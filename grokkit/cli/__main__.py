"""``python -m grokkit.cli`` is ``grokkit``."""

import sys

from grokkit.cli import main

sys.exit(main())
