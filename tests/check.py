"""Formatting and layering: what `./dev check` runs."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "deuteron"
MAX_LINES = 500


def layer_order():
    text = (SOURCES / "CMakeLists.txt").read_text()
    return re.search(r"DEUTERON_LAYER_ORDER\s+([^)]*)\)", text).group(1).split()


def check_layering(files):
    order = layer_order()
    for file in files:
        layer = file.relative_to(SOURCES).parts[0] if file.is_relative_to(SOURCES) else None
        if layer not in order:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'#include "deuteron/(\w+)/', line)
            if match and match.group(1) in order:
                if order.index(match.group(1)) > order.index(layer):
                    yield f"{file.relative_to(ROOT)}:{number}: layer {layer} includes {match.group(1)}, which is below it"
            if re.match(r'#include [<"]llvm/', line) and layer != "codegen":
                yield f"{file.relative_to(ROOT)}:{number}: only codegen/ includes LLVM"


def check_length(files):
    for file in files:
        lines = len(file.read_text().splitlines())
        if lines > MAX_LINES + 100:
            yield f"{file.relative_to(ROOT)}: {lines} lines; split it (about {MAX_LINES} at most)"


def check_format(files):
    result = subprocess.run(["clang-format", "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True, cwd=ROOT)
    for line in result.stderr.splitlines():
        if "error:" in line:
            yield line


def main():
    files = sorted([*SOURCES.rglob("*.h"), *SOURCES.rglob("*.cc"), *(ROOT / "tools").rglob("*.cc")])
    problems = [*check_layering(files), *check_length(files)]
    if "--no-format" not in sys.argv:
        problems += check_format(files)
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
