"""bin/test: all tests but the slow ones; arguments go to pytest."""

import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    if not importlib.util.find_spec("xdist"):
        sys.exit("test: error: no pytest here; pip install '.[test]'")
    os.chdir(ROOT)
    args = [sys.executable, "-m", "pytest", *sys.argv[1:]]
    os.execv(sys.executable, args)
