"""Takes the snippets out of the pages.

    snippets.py cpp PAGE.md OUT.cc     the C++ of a page as one file: blocks "cpp" as they are, blocks "cpp body" as tests
    snippets.py same PAGE.md FILE...   every block "c" or "cpp" of the page stands in one of the files, word for word
    snippets.py console COMMAND        runs what stands after "$ " in blocks "console" and compares what it prints
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
KINDS = {"c", "cpp", "cpp body", "py", "python", "python test", "console", "ebnf", "text"}


def blocks(page):
    """(kind, number of the line that opens it, text) of each fenced block."""
    kind, begin, lines = None, 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if kind is None and line.startswith("```"):
            kind, begin, lines = line[3:].strip(), number, []
            if kind not in KINDS:
                sys.exit(f"{page}:{number}: a block of kind \"{kind}\"; known are {sorted(KINDS)}")
        elif kind is not None and line == "```":
            yield kind, begin, "\n".join(lines) + "\n"
            kind = None
        elif kind is not None:
            lines.append(line)
    if kind is not None:
        sys.exit(f"{page}:{begin}: this block has no end")


def write_cpp(page, out):
    name = re.sub(r"\W", "_", page.stem)
    declarations, tests = [], []
    for kind, begin, text in blocks(page):
        located = f'#line {begin + 1} "{page}"\n{text}'
        if kind == "cpp":
            declarations.append(located)
        elif kind == "cpp body":
            tests.append(f"TEST({name}, Line{begin}) {{\n{located}}}\n")
    # Declarations first: a page may show a use before what is used.
    body = "".join(declarations) + "\n" + "".join(tests)
    out.write_text('#include "docs/prelude.h"\n\nnamespace {\n\n' + body + "\n}  // namespace\n")


def check_same(page, files):
    texts = [file.read_text() for file in files]
    missing = [begin for kind, begin, block in blocks(page)
               if kind in ("c", "cpp") and not any(block in text for text in texts)]
    for begin in missing:
        print(f"{page}:{begin}: this block does not stand in {' or '.join(map(str, files))}")
    sys.exit(1 if missing else 0)


def check_console(command):
    environment = dict(os.environ, PATH=f"{pathlib.Path(command).resolve().parent}:{os.environ['PATH']}")
    problems = []
    for page in sorted(FOLDER.glob("*.md")):
        for kind, begin, text in blocks(page):
            if kind != "console":
                continue
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                line, _, wanted = part.partition("\n")
                result = subprocess.run(line, shell=True, env=environment, cwd=FOLDER.parent, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                diff = difflib.unified_diff(wanted.splitlines(True), result.stdout.splitlines(True),
                                            f"{page}:{begin}", line)
                problems += diff
    sys.exit("".join(problems) or 0)


if __name__ == "__main__":
    if sys.argv[1] == "cpp":
        write_cpp(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    elif sys.argv[1] == "same":
        check_same(pathlib.Path(sys.argv[2]), [pathlib.Path(file) for file in sys.argv[3:]])
    else:
        check_console(sys.argv[2])
