"""Formatting, layering, lengths and static analysis: what `./dev check` runs.

    python tests/check.py                 the files that differ from HEAD (of a clean tree: those of the last commit)
    python tests/check.py --since REV     those that differ from REV
    python tests/check.py --all           everything; static analysis takes about a minute a file and core
    python tests/check.py --no-tidy       without static analysis
    python tests/check.py --fix           formats the files first
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "deuteron"
FOLDERS = ["src/deuteron", "tools", "tests", "examples", "fuzz", "bench"]
MAX_LINES = 500


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def all_files():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cc")]
    return sorted(files)


def changed_files(since):
    def names(*command):
        return [name for name in run("git", *command).stdout.splitlines() if name]

    changed = names("diff", "--name-only", "--diff-filter=d", since or "HEAD") + names("ls-files", "--others", "--exclude-standard")
    if since is None and not changed:
        changed = names("diff", "--name-only", "--diff-filter=d", "HEAD~1")
    return [path for path in all_files() if str(path.relative_to(ROOT)) in set(changed)]


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
    if not files:
        return
    result = run("clang-format", "--dry-run", "-Werror", *map(str, files))
    for file in sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error:" in line}):
        yield f"{pathlib.Path(file).relative_to(ROOT)}: not formatted; run clang-format -i"


def tidy(file):
    """What clang-tidy (.clang-tidy) finds in one file, without building anything."""
    site = next((ROOT / ".venv" / "lib").glob("python*")) / "site-packages"
    flags = ["-std=c++20", "-Isrc", "-I.", f"-isystem{site / 'tvm_ffi' / 'include'}", "-isystem/usr/lib/llvm-19/include",
             f'-DDEUTERON_SOURCE_DIR="{ROOT}"']
    result = run("clang-tidy", "--quiet", str(file), "--", *flags)
    lines = [line for line in result.stdout.splitlines() if re.search(r": (error|warning): ", line)]
    return [line.replace(f"{ROOT}/", "") for line in lines]


def check_tidy(files):
    sources = [file for file in files if file.suffix == ".cc"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for findings in pool.map(tidy, sources):
            yield from findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--since", metavar="REV")
    parser.add_argument("--no-tidy", action="store_true")
    parser.add_argument("--fix", action="store_true")
    arguments = parser.parse_args()
    files = all_files() if arguments.all else changed_files(arguments.since)
    if arguments.fix and files:
        run("clang-format", "-i", *map(str, files))
    # These cost nothing: always of everything.
    problems = [*check_layering(all_files()), *check_length(all_files()), *check_format(files)]
    if not arguments.no_tidy:
        problems += check_tidy(files)
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"{len(files)} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
