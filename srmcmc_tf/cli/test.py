"""bin/test: all tests but the slow ones; arguments are passed to pytest."""

import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> None:
    if not importlib.util.find_spec("xdist"):
        sys.exit("test: error: pytest is missing; pip install '.[test]'")
    os.chdir(ROOT)
    args = [sys.executable, "-m", "pytest", *sys.argv[1:]]
    os.execv(sys.executable, args)
