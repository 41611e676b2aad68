"""`./dev mutate [NUMBER...] [--patience FACTOR]`: do the tests notice faults?

All faults of faults.py go into a copy of the last commit, in build/mutate/tree, each behind a test of the environment variable DEUTERON_FAULT. With
each in turn (or those named) the tests run, quick ones first, until one fails. What each was caught by is written to faults.md."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

from faults import FAULTS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TREE = ROOT / "build" / "mutate" / "tree"
BUILD = TREE / "build" / "release"
TABLE = pathlib.Path(__file__).parent / "faults.md"
SWITCH = """#pragma once
#include <cstdlib>
/// Whether the fault of that number is on.
inline bool DeuteronFault(int number) {
  static const char* text = std::getenv("DEUTERON_FAULT");
  static const int on = text == nullptr ? 0 : std::atoi(text);
  return on == number;
}
"""
# No kernel is compiled and run in them, or nothing that faults are in.
BESIDE = "headers_test|sources_test|install_test|cutlass|cuda_libraries|maths|tidy|format"
SLOW = ("verify_networks|onnx_operators|onnx_node_cases|onnx_light|fusion_parity_test|fuzz_networks|onnx_symbolic_batch|interop_test|explain_test|codegen_test"
        "|onnx_checked_bounds|onnx_limits|scale_test|little_memory|meaning|attention_test|onnx_quantized|bisect_test|onnx_networks|graph_pass_numeric_test")
# Tests of a fault's own area.
OWN = {
    "fusion": "fusion_test|pass_numeric|row_plan|row_kernels|meaning",
    "scheduling": "schedule_test|codegen_test|row_kernels|meaning",
    "planning": "memory_planner|vm_codegen|function_pass|graph_pass|op_numeric|meaning",
    "import": "onnx_import|onnx_operators|onnx_node_cases",
    "code generation": "codegen_test|op_numeric|meaning",
}


def ladder(area):
    """Which tests in which order, and how many seconds each has: a fault may hang. Each step ends at the first test that fails."""
    return [(30, ["-R", "^text_test$"]), (300, ["-R", OWN.get(area, "^$"), "-E", "cutlass|cuda"]), (120, ["-E", f"{BESIDE}|{SLOW}"]), (900, ["-R", SLOW, "-E", BESIDE])]


def make_tree():
    if TREE.exists():
        subprocess.run(["git", "-C", TREE, "fetch", "--quiet", ROOT, "HEAD"], check=True)
        subprocess.run(["git", "-C", TREE, "reset", "--quiet", "--hard", "FETCH_HEAD"], check=True)
    else:
        TREE.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", ROOT, TREE], check=True)
        (TREE / ".venv").symlink_to(ROOT / ".venv")
    (TREE / "src" / "deuteron_fault.h").write_text(SWITCH)
    texts, problems = faulty_texts(TREE)
    if problems:
        sys.exit("\n".join(problems))
    for file, text in texts.items():
        (TREE / file).write_text('#include "deuteron_fault.h"\n' + text)


def faulty_texts(tree):
    """The files that faults are in, with all of them; and which faults do not fit the sources any more."""
    texts, problems = {}, []
    for number, (_, what, file, old, new) in enumerate(FAULTS, 1):
        source = (tree / file).read_text() if (tree / file).exists() else ""
        text = texts.setdefault(file, source)
        if source.count(old) != 1:
            problems.append(f"fault {number}, {what}: {file} has its text {source.count(old)} times")
        elif old not in text:
            problems.append(f"fault {number}, {what}, changes what another one has changed")
        else:
            # Where several change one line, the earlier ones left it as it is without them.
            texts[file] = text.replace(old, re.sub(r"\bFAULT\b", f"DeuteronFault({number})", new))
    return texts, problems


def build():
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE), "CCACHE_NOHASHDIR": "1"}
    subprocess.run(["cmake", "--preset", "release"], cwd=TREE, env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", BUILD, "--quiet"], env=environment, check=True)


def catcher(number, patience):
    """The test that fails with a fault; None if all pass. `patience`: how many times as long each may take as where nothing else runs."""
    environment = {**os.environ, "DEUTERON_FAULT": str(number), "DEUTERON_CACHE": "off"}
    for seconds, step in ladder(FAULTS[number - 1][0] if number else ""):
        command = ["ctest", "--test-dir", str(BUILD), "--stop-on-failure", "--no-tests=ignore", "--timeout", str(seconds * patience), "-j", str(os.cpu_count()), *step]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        if ran.returncode != 0:
            failed = re.findall(r"Test +#\d+: (\S+) .*\*\*\*(\S+)", ran.stdout)
            return failed[0][0] if failed else f"({ran.stdout.strip().splitlines()[-1]})"
    return None


def rows():
    """What the table says of each fault."""
    if not TABLE.exists():
        return {}
    return {cells[1].strip(): cells[2].strip() for cells in (line.strip("| \n").split("|") for line in TABLE.open()) if len(cells) == 3}


def write_table(caught):
    known = [(area, what, caught[what]) for area, what, *_ in FAULTS if what in caught]
    survivors = [what for _, what, by in known if by == "nothing"]
    text = "# Faults and what notices them\n\nWritten by `./dev mutate` (`faults.py` has the code of each).\n\n"
    left = len(FAULTS) - len(known)
    text += f"{len(known) - len(survivors)} of {len(known)} are noticed{f'; {left} have not been run through all tests' if left else ''}.\n\n| area | fault | first noticed by |\n| --- | --- | --- |\n"
    text += "".join(f"| {area} | {what} | {by} |\n" for area, what, by in known)
    TABLE.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="of faults, from 1 (default: all)")
    parser.add_argument("--patience", type=int, default=1, help="how many times as long tests may take: a machine with other work is slow, and a test that takes too long fails")
    arguments = parser.parse_args()
    named = arguments.numbers
    numbers = named or range(1, len(FAULTS) + 1)
    make_tree()
    build()
    if not named and (failing := catcher(0, arguments.patience)) is not None:
        sys.exit(f"{failing} fails without any fault")
    caught = rows()
    for number in numbers:
        area, what, *_ = FAULTS[number - 1]
        begin = time.time()
        caught[what] = catcher(number, arguments.patience) or "nothing"
        write_table(caught)
        print(f"{number:3} {area}: {what}: {caught[what]} ({time.time() - begin:.0f} s)", flush=True)
    return 5 if "nothing" in caught.values() else 0


if __name__ == "__main__":
    sys.exit(main())
