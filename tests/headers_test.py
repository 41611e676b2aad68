"""The headers that are installed (cmake/DeuteronHeaders.cmake): those for users compile alone, and what is installed besides is what
they include, no less and no more.

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


def compiles_alone(header, include):
    site = next((ROOT / ".venv" / "lib").glob("python*")) / "site-packages"
    command = ["c++", "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{include}", f"-isystem{site / 'tvm_ffi' / 'include'}", "-"]
    source = f'#include <deuteron/{header}>\n'
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).stderr


def main():
    public, needed = listed("DEUTERON_PUBLIC_HEADERS"), listed("DEUTERON_NEEDED_HEADERS")
    wanted = closure(public) - set(public)
    problems = [f"{header} is included by a public header and not installed" for header in sorted(wanted - set(needed))]
    problems += [f"{header} is installed and no public header includes it" for header in sorted(set(needed) - wanted)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        include = pathlib.Path(folder)
        stage(public + needed, include)
        for header, errors in zip(public, pool.map(lambda header: compiles_alone(header, include), public)):
            if errors:
                problems.append(f"{header} does not compile alone:\n{errors}")
    print("\n".join(problems) or f"{len(public)} public headers compile alone; {len(needed)} more are installed with them")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
