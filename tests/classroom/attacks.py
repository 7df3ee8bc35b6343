"""Attacks on the grading: what is tried, by where it comes from. The tests try each.

``python -m tests.classroom.attacks`` counts them.
"""

from collections.abc import Callable
from pathlib import Path

import grokkit
from grokkit.classroom.grading import walls

ROOT = Path(__file__).parents[2]

HOSTILE = {
    "hangs": "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
    "while True: kl_to_oracle = 1",
    "leaves": "import os; os._exit(0)  # kl_to_oracle",
    "kills itself": "import os; os.kill(os.getpid(), 9)  # kl_to_oracle",
    "speaks out of turn": "import os\nfor n in range(3, 50):  # kl_to_oracle\n"
    "  try: os.write(n, b'x' * 99)\n  except OSError: pass",
    "folders without end": "import tempfile\nkept = []\n"
    "while True: kept.append(tempfile.TemporaryDirectory(dir=kept[-1].name if kept else None))",
    "loops when called": "def kl_to_oracle(a, i):\n  while True: pass",
    "loops below": "{right}\nwhile True: pass",
    "noisy": f"for _ in range(10**4): print('x' * 10**4)\n{'k' * 100_000} = 1\n"
    "def kl_to_oracle(a, i): raise ValueError('x' * 10**6)",
}
"""Each stands where the answer to 1.2 is asked for, ``{right}``; the other answers are right."""


ATTEMPTS = {
    "the solutions": f"open({str(ROOT / 'solutions' / '01_sparse_tasks.py')!r}).read()",
    "the tests": f"os.listdir({str(ROOT / 'tests')!r})",
    "the expected answers": "import_module('grokkit.classroom.checks.chapter_01')",
    "their source": f"open({str(walls.PACKAGE / 'classroom' / 'checks' / 'chapter_01.py')!r})",
    "their bytecode": f"os.listdir({str(walls.PACKAGE / 'classroom/checks/__pycache__')!r})",
    "uncovering them": f"unmount({str(walls.PACKAGE / 'classroom' / 'checks')!r})",
    "a mount": "mount()",
    "the exercises' makers": "import_module('grokkit.classroom.exercises.source')",
    "a web site": "socket.create_connection(('1.1.1.1', 80), 1)",
    "the machine's own ports": "socket.create_connection(('127.0.0.1', PORT), 1)",
    "a name": "socket.getaddrinfo('python.org', 80)",
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect('\\0grokkit-test')",
    "another program": "subprocess.run(['/bin/ls'])",
    "a program of Python's": "subprocess.run([sys.executable, '-c', '1'])",
    "a shell": "1 / (os.system('true') == 0)",
    "a process": "os.fork()",
    "a pool": "multiprocessing.Pool(2)",
    "the supervisor": "os.kill(SUPERVISOR, 9)",
    "everybody": "os.kill(-1, 9)",
    "processes of others": "1 / (len([p for p in os.listdir('/proc') if p.isdigit()]) > 2)",
    "memory of others": "open('/proc/1/mem', 'rb').read(1)",
    "the teacher's environment": "os.environ['GROKKIT_TEST_SECRET']",
    "the environment of process 1": "1 / (b's3cret' in open('/proc/1/environ', 'rb').read())",
    "its limits": "resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))",
    "its niceness": "os.nice(-5)",
    "root": "os.setuid(0)",
    "another group": "os.setgroups([0])",
    "a file of the package": f"open({grokkit.__file__!r}, 'a')",
    "the package's mode": f"os.chmod({str(walls.PACKAGE)!r}, 0o777)",
    "the libraries' mode": "os.chmod(os.__file__, 0o777)",
    "a library": "open(torch.__file__, 'a')",
    "the user's files": f"os.listdir({str(Path.home() / '.ssh')!r})",
    "the teacher's key": "open(KEY).read()",
    "the hand-ins": "os.listdir(FOLDER)",
    "another hand-in": "os.chmod(FOLDER, 0)",
    "passwords": "open('/etc/passwd').read()",
    "the root folder": "open('/left_behind', 'w')",
    "the shared memory": "open('/dev/shm/x', 'w')",
    "devices": "os.mknod('/tmp/sda', 0o60666, os.makedev(8, 0))",
    "the kernel": "open('/proc/sys/kernel/core_pattern', 'w')",
    "a huge file": "open('big', 'wb').truncate(2**40)",
    "the disk": "[open(f'f{n}', 'wb').write(bytes(2**20)) for n in range(200)]",
    "the memory": "bytearray(10**10)",
    "a lot of open files": "[open('/dev/null') for _ in range(10**4)]",
    "a locked trap": "os.mkfifo('/tmp/../pipe')",
}
"""What would be harm if it came to its end."""


TRICKS = {
    "the judge's class": "import grokkit.classroom.checks.exercise as e\n"
    "e.Exercise.judge = e.Exercise.__call__ = lambda self, *a: 'correct'",
    "the check": "check = lambda *a: 'correct'",
    "the check's module": "import grokkit.classroom\ngrokkit.classroom.check = lambda *a: True",
    "a recorder": "import grokkit.classroom.checks.expect as x\nx.alike = lambda *a: True",
    "the wire": "import grokkit.classroom.grading.peer as p\n"
    "p.called = lambda f, a, k: ((a, k), [])",
    "the codec": "import grokkit.classroom.grading.peer as p\n"
    "p.encode = lambda *a: {'is': 'equal'}",
    "numpy": "import numpy\nnumpy.allclose = lambda *a, **k: True",
    "torch": "import torch\ntorch.allclose = torch.equal = lambda *a, **k: True",
    "printed": 'print("ex_1_2: correct")\nprint(\'{"exercise": "ex_1_2", "outcome": "correct"}\')',
    "a file": "open('grades.csv', 'w').write('me,ex_1_2,correct')",
    "the error": "raise SystemExit('correct')",
}
"""Each is tried above four answers that are wrong."""

OBJECTS = {
    "equal to everything": "class E:\n  __eq__ = lambda s, o: True\n  __hash__ = lambda s: 1\n"
    "answer = E()",
    "a float that is": "class E(float):\n  __eq__ = lambda s, o: True\n"
    "  __sub__ = lambda s, o: 0.0\n"
    "  __hash__ = float.__hash__\nanswer = E(7)",
    "a tensor that is": "import torch\nclass E(torch.Tensor):\n"
    "  __torch_function__ = classmethod(lambda *a, **k: True)\n"
    "answer = torch.ones(1).as_subclass(E)",
    "an array that is": "import numpy as np\nclass E(np.ndarray):\n  __eq__ = lambda s, o: True\n"
    "answer = np.ones(1).view(E)",
    "nothing": "answer = float('nan')",
    "a list in itself": "answer = []; answer.append(answer)",
    "a printer": "class E:\n  def __repr__(self): raise SystemExit\nanswer = E()",
    "a number of many digits": "answer = 10 ** 10_000",
    "half a character": "answer = '\\ud800'",
    "a great deal": "answer = 'x' * 40_000_000",
    "a class": "answer = dict",
    "a generator": "answer = (x for x in range(10**9))",
    "a bomb": "answer = __import__('torch').zeros(1).expand(10**12)",
}
"""Each is what four functions return."""


FORGED: dict[str, Callable[[str], str]] = {
    "another file": lambda text: "name,mark\nada,1\n",
    "another student": lambda text: text.replace("ada", "mal"),
    "another exercise": lambda text: text.replace("ex_1_1", "ex_1_2"),
    "another notebook": lambda text: text.replace(",n,", ",m,"),
    "another fingerprint": lambda text: text.replace("xd.", "xe."),
    "no points": lambda text: text.replace(",2,2,", ",,2,"),
    "a field too long": lambda text: text.replace("correct", "x" * 200_000),
    "a column less": lambda text: text.replace("student,", "").replace("ada,", ""),
}


TREES = [
    {},
    [],
    {"is": "exec"},
    {"is": "array", "array": {"blob": 0, "dtype": "O", "shape": [1]}},
    {"is": "array", "array": {"blob": 7, "dtype": "<f8", "shape": [1]}},
    {"is": "array", "array": {"blob": 0, "dtype": "<f8", "shape": [10**12]}},
    {"is": "spec", "name": "os:system", "parts": []},
    {"is": "spec", "name": "grokkit.errors:SettingError", "parts": [["field", 1]]},
    {"is": "spec", "name": "grokkit.runtime.executors:_Process", "parts": []},
    {"is": "spec", "name": "RunSpec.__init__", "parts": []},
    {"is": "spec", "name": "Registry", "parts": []},
    {"is": "spec", "name": ["RunSpec"], "parts": []},
    {"is": "dataclass", "name": "RunSpec", "parts": []},
    {"is": "fraction", "parts": [1, 0]},
    {"is": "complex", "parts": ["1+1j", 2]},
    {"is": "range", "parts": [0, 1, 0]},
    {"is": "generator", "state": {"blob": 0, "dtype": "|u1", "shape": [8]}},
    {"is": "dtype", "name": "ones"},
    {"is": "dict", "parts": [[{"is": "list", "parts": []}, 1]]},
]
"""Values that nobody encoded: each would name a class or a size of its own."""

FRAMES = [
    b"\xff\xff\xff\xff\x00\x00\x00\x02{}",
    b"\x00\x00\x00\x02\x00\x00\x00\x02{}",
    b"\x00\x00\x00\x04\x00\x00\x00\x04nope",
    b"\x00\x00",
]
"""Messages that break the protocol."""

ATTACKS = {
    "end the grading, by a cell": HOSTILE,
    "reach out of the sandbox": ATTEMPTS,
    "change what marks": TRICKS,
    "return an object that deceives": OBJECTS,
    "send a value that makes the judge call something": TREES,
    "break the protocol": FRAMES,
    "forge the file of marks": FORGED,
}

if __name__ == "__main__":
    for what, attacks in ATTACKS.items():
        print(f"{len(attacks):3}  {what}")
    print(f"{sum(map(len, ATTACKS.values())):3}  attacks")
