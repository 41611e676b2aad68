"""The headers that are installed (cmake/DeuteronHeaders.cmake): each compiles alone, and what is installed besides those for users is
what these include, no less and no more.

Most of a compilation are headers that nearly all of them include. These are compiled once, each alone, and stand before those that
include them anyway: as includes come first in a header, it cannot tell, but from what it includes before them, and that compiles
alone too.

    python tests/headers_test.py
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "deuteron"


def listed(name):
    text = (ROOT / "cmake" / "DeuteronHeaders.cmake").read_text()
    block = re.search(rf"set\({name}\n(.*?)\)", text, re.S).group(1)
    return [line.strip() for line in block.splitlines() if line.strip() and not line.strip().startswith("#")]


def included(header):
    return re.findall(r'#include "deuteron/([^"]+)"', (SOURCES / header).read_text())


def closure(headers):
    found, work = set(headers), list(headers)
    while work:
        for header in included(work.pop()):
            if header not in found:
                found.add(header)
                work.append(header)
    return found


def stage(headers, folder):
    """An include folder that holds the installed headers and nothing else."""
    for header in headers:
        target = folder / "deuteron" / header
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(SOURCES / header)


# The first of them that a header includes is compiled before it.
BASES = ["relax/expr.h", "tir/function.h", "ir/object.h"]


def compile_source(source, include, flags):
    """What the compiler says."""
    site = next((ROOT / ".venv" / "lib").glob("python*")) / "site-packages"
    command = ["c++", "-std=c++20", "-Winvalid-pch", f"-I{include}", f"-isystem{site / 'tvm_ffi' / 'include'}", *flags, source]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def base_file(base, include):
    return include / ("base_" + base.replace("/", "_"))


def precompile(base, include):
    source = base_file(base, include)
    source.write_text(f"#include <deuteron/{base}>\n")
    return compile_source(source, include, ["-x", "c++-header"])


def compiles_alone(header, include):
    base = next((base for base in BASES if base in closure([header])), None)
    source = include / (header.replace("/", "_") + ".cc")
    source.write_text(f"#include <deuteron/{header}>\n")
    return compile_source(source, include, ["-fsyntax-only"] + (["-include", base_file(base, include)] if base else []))


def includes_first(header):
    """Whether nothing but comments and lines of the preprocessor stands before its last include."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (SOURCES / header).read_text(), flags=re.S)
    before = text[: max(text.rfind("#include <"), text.rfind('.h"'), 0)]
    return all(not line.strip() or line.startswith("#") for line in before.splitlines())


def main():
    public, needed = listed("DEUTERON_PUBLIC_HEADERS"), listed("DEUTERON_NEEDED_HEADERS")
    wanted = closure(public) - set(public)
    problems = [f"{header} is included by a public header and not installed" for header in sorted(wanted - set(needed))]
    problems += [f"{header} is installed and no public header includes it" for header in sorted(set(needed) - wanted)]
    problems += [f"{header} does not begin with its includes" for header in public + needed if not includes_first(header)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        include = pathlib.Path(folder)
        stage(public + needed, include)
        for work, headers in ((precompile, BASES), (compiles_alone, [header for header in public + needed if header.endswith(".h") and header not in BASES])):
            for header, errors in zip(headers, pool.map(lambda header: work(header, include), headers)):
                if errors:
                    problems.append(f"{header} does not compile alone:\n{errors}")
    print("\n".join(problems) or f"{len(public)} public headers and the {len(needed)} installed with them compile alone")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
