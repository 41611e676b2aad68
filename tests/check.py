"""Formatting, layering, lengths, references and static analysis: what `./dev check` runs.

    python tests/check.py                 the files that differ from HEAD (of a clean tree: those of the last commit)
    python tests/check.py --since REV     those that differ from REV
    python tests/check.py --all           everything, as with $DEUTERON_WHOLE; static analysis takes about a minute a file and core
    python tests/check.py --no-tidy       without static analysis; of sources only those that have changed are compiled alone
    python tests/check.py --all --no-tidy --alone   all of them: two seconds a file and core, and none the next time
    python tests/check.py --fix           formats the files first
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import compile_alone

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


def layers():
    """The layers of each folder of src/deuteron, and those that each layer may use, itself included: what its CMakeLists.txt says."""
    folders, depends = {}, {}
    for listing in SOURCES.rglob("CMakeLists.txt"):
        for name, arguments in re.findall(r"^deuteron_layer\((\w+)([^)]*)\)", listing.read_text(), re.M):
            folders.setdefault(listing.parent, set()).add(name)
            used = re.search(r"\bDEPENDS([^)]*?)(LIBRARIES|$)", arguments, re.S)
            depends[name] = used.group(1).split() if used else []
            if "${rooms}" in depends[name]:
                rooms = re.search(r"set\(rooms([^)]*)\)", listing.read_text()).group(1).split()
                depends[name] = [f"relax_{room}" for room in rooms]

    def closure(name):
        return {name}.union(*(closure(used) for used in depends[name]))

    return folders, {name: closure(name) for name in depends}


def folder_of(path, folders):
    """The innermost folder with a layer that holds `path`, or None."""
    return next((folder for folder in path.parents if folder in folders), None)


def check_layering(files):
    folders, usable = layers()
    for file in files:
        folder = folder_of(file, folders)
        is_test = file.stem.endswith(("_test", "_test_util", "_test_main"))
        for number, line in enumerate(file.read_text().splitlines(), 1):
            place = f"{file.relative_to(ROOT)}:{number}"
            if re.match(r'#include [<"]llvm/', line) and "codegen" not in file.parts:
                yield f"{place}: only codegen/ includes LLVM"
            match = re.match(r'#include "(deuteron/[^"]+)"', line)
            if folder is None or is_test or not match:
                continue
            included = folder_of(ROOT / "src" / match.group(1), folders)
            if included is None or included == folder:
                continue
            may_use = set().union(*(usable[name] for name in folders[folder]))
            if not folders[included] & may_use:
                yield f"{place}: {folder.relative_to(SOURCES)} may not use {included.relative_to(SOURCES)} (DEPENDS in its CMakeLists.txt)"


def check_length(files):
    for file in files:
        lines = len(file.read_text().splitlines())
        if lines > MAX_LINES + 100:
            yield f"{file.relative_to(ROOT)}: {lines} lines; split it (about {MAX_LINES} at most)"


def repository_files():
    return [pathlib.PurePosixPath(name) for name in
            run("git", "ls-files", "--cached", "--others", "--exclude-standard").stdout.splitlines() if (ROOT / name).exists()]


# What texts may name that is not here: files of others, of users, and made by programs.
FOREIGN = re.compile(
    r"(^|/)(immintrin|cuda\w*|cublas\w*|cudnn\w*|dnnl\w*|module|model|reduced|onnx)\.(h|py|json|onnx)$"
    r"|^(build|\.venv|cutlass|tvm|tvm_ffi|llvm|lld|include|lib|bin|share|proc|sys|tmp|usr|etc|dev)/")
# Names that stand for any: their folder is to be there.
EXAMPLE = re.compile(r"(?:^|(.*)/)(foo\w*|NAME|m|\d+_\w+|remove_double_negation)\.(h|cc|py)$")
FILE_REFERENCE = re.compile(r"(?<![\w./*<>$~{}-])((?:[\w.-]+/)*[\w-]+\.(?:h|cc|md|py|def|cmake|json|rst|dict))(?![\w*/<(]|\.\w)")
FOLDER_REFERENCE = re.compile(r"(?<![\w./*<>$~{}:-])((?:[a-z_][\w-]*/)+)(?![\w*.$\[{])")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def comment_of(file, line):
    """The part of a line that is prose: the comment of code, all of a page."""
    if file.suffix == ".md":
        return line
    match = re.search(r"(?:^|\s)//[/!]?(.*)" if file.suffix in (".h", ".cc", ".def") else r"(?:^|\s)#(.*)", line)
    return match.group(1) if match else ""


def anchors_of(page):
    """The anchors that headings make, as GitHub names them."""
    headings = re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def check_references():
    """Files, folders and headings that comments and pages name exist: whole paths, or their ends."""
    files = repository_files()
    ends = {pathlib.PurePosixPath(*file.parts[i:]).as_posix() for file in files for i in range(len(file.parts))}
    folders = {pathlib.PurePosixPath(*folder.parts[i:]).as_posix() for file in files for folder in file.parents
               for i in range(len(folder.parts))}
    for name in files:
        file = ROOT / name
        if file.suffix not in (".h", ".cc", ".def", ".md", ".py", ".cmake") and file.name not in ("CMakeLists.txt", "dev"):
            continue
        if {"testdata", "corpus"} & set(name.parts) or file.name == "check.py":
            continue
        fenced = False
        for number, line in enumerate(file.read_text().splitlines(), 1):
            fenced ^= file.suffix == ".md" and line.lstrip().startswith("```")
            text = "" if fenced else re.sub(r"\w+://\S+", "", comment_of(file, line))
            references = FOLDER_REFERENCE.findall(text)
            for reference in FILE_REFERENCE.findall(text):
                if example := EXAMPLE.match(reference):
                    references += [example.group(1)] if example.group(1) else []
                elif reference not in ends and not (file.parent / reference).exists() and not FOREIGN.search(reference):
                    yield f"{name}:{number}: there is no file {reference}"
            for reference in references:
                if reference.rstrip("/") not in folders and not FOREIGN.search(reference):
                    yield f"{name}:{number}: there is no folder {reference}"
            for target, anchor in LINK.findall(text) if file.suffix == ".md" else ():
                page = file.parent / target if target else file
                if not page.exists():
                    yield f"{name}:{number}: the link {target} leads nowhere"
                elif anchor and anchor not in anchors_of(page):
                    yield f"{name}:{number}: {target or name} has no heading #{anchor}"


def check_tests_of_promises():
    """Tests that docs/security.md names are there."""
    sources = "".join((ROOT / name).read_text() for name in repository_files() if name.name.endswith("_test.cc"))
    listed = "".join((ROOT / name).read_text() for name in repository_files() if name.name == "CMakeLists.txt")
    tests = {f"{suite}.{test}" for suite, test in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", sources, flags=re.M)}
    suites = {test.split(".")[0] for test in tests}
    programs = {"replay_" + name for name in re.findall(r"deuteron_fuzz\((\w+)", listed)}
    programs |= set(re.findall(r"(?:deuteron_test|deuteron_python_test)\((\w+)", listed))
    for number, line in enumerate((ROOT / "docs" / "security.md").read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or cells[-1] in ("test", "---"):
            continue
        for name in re.findall(r"`([^`]+)`", cells[-1]) or ["(none)"]:
            known = name[:-2] in suites if name.endswith(".*") else name in tests or name in programs
            if not known:
                yield f"docs/security.md:{number}: there is no test {name}"


def check_faults():
    """The faults of `./dev mutate` fit the sources."""
    sys.path.insert(0, str(ROOT / "tests" / "mutations"))
    from mutate import faulty_texts

    yield from faulty_texts(ROOT)[1]


def check_temporaries():
    """Tests have folders of their own for what they write: several may run at once."""
    for name in repository_files():
        if name.name.endswith(("_test.cc", "_fixture.cc", "_test_util.h")):
            for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
                if re.search(r"\btemp_directory_path\(|\bTempDir\(", line):
                    yield f"{name}:{number}: a folder that others use too; TemporaryFolder (deuteron/testing/temporary_folder.h) makes one"


def check_format(files):
    if not files:
        return
    result = run("clang-format", "--dry-run", "-Werror", *map(str, files))
    for file in sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error:" in line}):
        yield f"{pathlib.Path(file).relative_to(ROOT)}: not formatted; run clang-format -i"


def tidy(file):
    """What clang-tidy (.clang-tidy) finds in one file, without building anything."""
    site = next((ROOT / ".venv" / "lib").glob("python*")) / "site-packages"
    flags = ["-std=c++20", "-Isrc", "-I.", "-Ibuild/release/stamp", f"-isystem{site / 'tvm_ffi' / 'include'}",
             "-isystem/usr/lib/llvm-19/include", f'-DDEUTERON_SOURCE_DIR="{ROOT}"']
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
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--fix", action="store_true")
    arguments = parser.parse_args()
    files = all_files() if arguments.all or os.environ.get("DEUTERON_WHOLE") else changed_files(arguments.since)
    if arguments.fix and files:
        run("clang-format", "-i", *map(str, files))
    # These cost nothing: always of everything.
    problems = [*check_layering(all_files()), *check_length(all_files()), *check_references(), *check_tests_of_promises(),
                *check_faults(), *check_temporaries(), *check_format(files)]
    every = arguments.all and (arguments.alone or not arguments.no_tidy)
    problems += compile_alone.failures(files if every else changed_files(arguments.since))
    if not arguments.no_tidy:
        problems += check_tidy(files)
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"{len(files)} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
