"""Reads calls of operators as people write them, with apache-tvm 0.27 and here: without the attributes that Python's functions have defaults
for, and with attributes by their places instead of their names.

    python tests/interop/defaults.py [--binary OPT_BATCH]

Both must give the same module. Exit status 5 if any differs.
"""

import argparse
import inspect
import re
import sys

import interop
import operators
import tvm
from tvm import relax


def function_of(name):
    found = relax.op
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def split_arguments(text):
    """The arguments of a call up to its closing bracket, and what follows."""
    arguments, begin, depth, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        quoted ^= c == '"'
        if quoted or c not in "([{,)]}":
            continue
        if c == "," and depth == 0 or c == ")" and depth == 0:
            arguments.append(text[begin:i].strip())
            begin = i + 1
            if c == ")":
                return [a for a in arguments if a], text[i + 1:]
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
    raise ValueError(f"no end of the arguments in {text}")


def rewritten(line, rewrite):
    """A binding of a call with its arguments rewritten and its type left to be found out."""
    match = re.match(r"(\s*\w+): .*? = R\.([a-z_0-9.]+)\((.*)$", line)
    function = match and function_of(match[2])
    if not function:
        return re.sub(r"^(\s*gv\w*): .*? = ", r"\1 = ", re.sub(r"\) -> .*:$", "):", line))
    arguments, rest = split_arguments(match[3])
    named = dict(a.split("=", 1) for a in arguments if re.match(r"[a-z_]\w*=", a))
    plain = [a for a in arguments if not re.match(r"[a-z_]\w*=", a)]
    return f"{match[1]} = R.{match[2]}({', '.join(rewrite(plain, named, inspect.signature(function)))}){rest}"


def without_defaults(plain, named, signature):
    return plain + [f"{k}={v}" for k, v in named.items() if signature.parameters[k].default is inspect.Parameter.empty]


def by_place(plain, named, signature):
    """As many attributes as follow the arguments."""
    names = list(signature.parameters)[len(plain):]
    count = next((i for i, name in enumerate(names) if name not in named), len(names))
    return plain + [named[name] for name in names[:count]] + [f"{k}={v}" for k, v in named.items() if k not in names[:count]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(interop.ROOT / "build" / "release" / "bin" / "opt_batch"))
    args = parser.parse_args()
    jobs, unread = [], 0
    for name in sorted(operators.OPERATORS):
        for how in (without_defaults, by_place):
            try:
                lines = operators.operator_module([name]).script().split("\n")
                text = "\n".join(rewritten(line, how) for line in lines)
                jobs.append(interop.Job(f"{name} {how.__name__}", 0, "", text, tvm.script.from_source(text)))
            except Exception:  # pylint: disable=broad-except
                unread += 1  # TVM wants this attribute, or takes it by its name only
    answers = interop.run_batch(args.binary, jobs, [])
    differ = 0
    for i, job in enumerate(jobs):
        problem = interop.verdict(job, *answers.get(i, ("error", "no answer")))
        if problem:
            differ += 1
            print(f"{job.name}: {problem[:400]}")
    print(f"{len(jobs)} calls, {differ} differ; {unread} that TVM does not read")
    sys.exit(5 if differ or len(jobs) < 300 else 0)


if __name__ == "__main__":
    main()
