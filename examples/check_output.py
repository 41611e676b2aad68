"""Runs a sample and compares what it prints with the text that is kept beside it.

    check_output.py PROGRAM EXPECTED [--update]
"""

import difflib
import pathlib
import subprocess
import sys


def main():
    program, expected = sys.argv[1], pathlib.Path(sys.argv[2])
    result = subprocess.run([program], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{program} ended with status {result.returncode}\n{result.stderr}")
    if "--update" in sys.argv:
        expected.write_text(result.stdout)
        return
    wanted = expected.read_text()
    if result.stdout != wanted:
        diff = difflib.unified_diff(wanted.splitlines(True), result.stdout.splitlines(True), str(expected), "printed")
        sys.exit("".join(diff))


if __name__ == "__main__":
    main()
