"""The command of the package: `deuteron`, `python -m deuteron`."""

import os
import pathlib
import sys


def main() -> None:
    """Runs the command in place of this process."""
    command = pathlib.Path(__file__).resolve().parent / "bin" / "deuteron"
    os.execv(command, ["deuteron", *sys.argv[1:]])


if __name__ == "__main__":
    main()
