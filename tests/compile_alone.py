"""Sources compiled alone. A build compiles several as one (DEUTERON_UNITY), where each has what those before it include."""

import json
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
FOLDER = ROOT / "build" / "alone"
RULE = """rule alone
  command = cd $folder && $compile -MD -MF $depfile -fsyntax-only $in && touch $stamp
  depfile = $depfile
  deps = gcc
  description = $in

"""


def flags_of(command):
    """The compiler and its flags: not what is compiled, nor to what, nor what it includes unasked, nor how fast it becomes."""
    words, kept = iter(shlex.split(command)), ["-w"]
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT", "-include"):
            next(words)
        elif word != "-MD" and not re.fullmatch(r"-W\S+|-O\d|.*/ccache", word):
            kept.append(word)
    return shlex.join(kept[1:] + kept[:1])


def units():
    """For each source that the build compiles together with others: the folder, the compiler and its flags."""
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, capture_output=True)
    listed = subprocess.run(["ninja", "-C", BUILD, "-t", "compdb"], capture_output=True, text=True, check=True).stdout
    found = {}
    for command in json.loads(listed):
        file = pathlib.Path(command["directory"], command["file"])
        if file.parent.name == "Unity" and " -c " in command["command"] and file.exists():
            for source in re.findall(r'^#include "(.+)"$', file.read_text(), re.M):
                found.setdefault(pathlib.Path(source), (command["directory"], flags_of(command["command"])))
    return found


def failures(files):
    """Those of `files` that do not compile alone, each with its first error. One that did is compiled again when it or a header of its changes."""
    if not any(file.suffix == ".cc" for file in files):
        return
    text, stamps = RULE, []
    for source, (folder, compiler) in units().items():
        stamp = str(source.relative_to(ROOT)).replace("/", ".") + ".ok"
        text += f"build {stamp}: alone {source}\n  folder = {folder}\n  compile = {compiler.replace('$', '$$')}\n"
        text += f"  stamp = {FOLDER / stamp}\n  depfile = {FOLDER / stamp}.d\n"
        if source in files:
            stamps.append(stamp)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "build.ninja").write_text(text)
    ninja = ["ninja", "-C", str(FOLDER), "-k", "0", "-j", str(os.cpu_count()), *stamps]
    if not stamps:
        return
    result = subprocess.run(ninja, capture_output=True, text=True, check=False)
    output = result.stdout.replace(f"{ROOT}/", "")
    for part in output.split("FAILED: ")[1:]:
        error = re.search(r"^(\S+?:\d+):\d+: (?:fatal )?error: (.*)$", part, re.M)
        source = re.search(r"-fsyntax-only (\S+)", part).group(1)
        yield f"{source}: does not compile alone: {error.group(1)}: {error.group(2)}" if error else f"{source}: does not compile alone: {part[:300]}"
