"""The headers that are installed (cmake/DeuteronHeaders.cmake): each compiles alone, and what is installed besides those for users is
what these include, no less and no more.

Most of a compilation are headers that nearly all of them include. These are compiled once, each alone, and stand before those that
include them anyway: as includes come first in a header, it cannot tell, but from what it includes before them, and that compiles
alone too. For the same reason a header may follow one that it includes in a compilation: chains of such headers are compiled, as
few as cover all of them (by a maximum matching; D. R. Fulkerson, "Note on Dilworth's decomposition theorem for partially ordered
sets", 1956).

All of this with $DEUTERON_WHOLE (`./dev test --whole`); without it they are compiled at once, in one source.

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


def chains_of(headers):
    """The headers as lists, each header behind one that it includes, if only by way of others."""
    closures = {header: closure([header]) for header in headers}
    followers = {header: [other for other in headers if other != header and header in closures[other]] for header in headers}
    before = {}

    def finds_follower(header, tried):
        for follower in followers[header]:
            if follower in tried:
                continue
            tried.add(follower)
            if follower not in before or finds_follower(before[follower], tried):
                before[follower] = header
                return True
        return False

    for header in headers:
        finds_follower(header, set())
    after = {first: second for second, first in before.items()}
    for header in headers:
        if header not in before:
            chain = [header]
            while chain[-1] in after:
                chain.append(after[chain[-1]])
            yield chain


def compiles_alone(chain, include):
    base = next((base for base in BASES if base in closure(chain[:1]) and base not in chain), None)
    source = include / (chain[0].replace("/", "_") + ".cc")
    source.write_text("".join(f"#include <deuteron/{header}>\n" for header in chain))
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
        whole = bool(os.environ.get("DEUTERON_WHOLE"))
        headers = [header for header in public + needed if header.endswith(".h") and header not in BASES]
        chains = list(chains_of(headers)) if whole else [[*BASES, *headers]]
        for work, parts in ((precompile, BASES if whole else []), (compiles_alone, chains)):
            for part, errors in zip(parts, pool.map(lambda part: work(part, include), parts)):
                if errors:
                    problems.append(f"of {part} not all compile:\n{errors}")
    how = "alone" if whole else "together"
    print("\n".join(problems) or f"{len(public)} public headers and the {len(needed)} installed with them compile {how}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
