"""Exchanges modules with apache-tvm 0.27, as text, and compares the passes that both have.

    python tests/interop/interop.py [--count N] [--seed FIRST] [--binary OPT_BATCH] [--kind KIND] [--passes all|none|NAME,…] [--keep DIR]

For each of N generated modules:
  - what TVM prints parses here, and what we print for it parses in TVM and is structurally equal to the original;
  - for each pass of passes.TABLE that applies to its kind, our result is structurally equal to TVM's, but for what the table says we do
    better: then the interpreter must compute with ours what it computes with the module before the pass. What it computes with TVM's is
    counted. In a short run (`--passes sample`, the default) each module goes through a few passes, in rotation.
Exit status 5 if anything differs. Modules that begin with tensor constants are left out: TVM does not print their data. Where a pass
makes tensor constants, its result is compared as text, the constants by their values. Where what TVM's pass gives uses what is not
defined (a storage outside of the branch that allocates it), ours need only be well formed; the report counts these.
"""

import argparse
import ast
import base64
import collections
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("TVM_LOG_DEBUG", "")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import ml_dtypes  # noqa: E402,F401  (names bfloat16 and the like for numpy)
import numpy  # noqa: E402
import tvm  # noqa: E402
import tvm_ffi  # noqa: E402
from tvm import relax  # noqa: E402
from tvm.ir import PrimType  # noqa: E402

import generate  # noqa: E402
import passes  # noqa: E402

ROOT = HERE.parent.parent
MARK = "# --- "


class Job:
    """One module, the passes to run on it here, and what must come out (a TVM module). `row`: of passes.TABLE."""

    def __init__(self, name, seed, ours, text, expected, row=None):
        self.name, self.seed, self.ours, self.text, self.expected, self.row = name, seed, ours, text, expected, row
        self.passes = row.command or ours if row else ours
        self.has_constants = False

    def by_results(self):
        """The job that compares what is computed."""
        job = Job(self.name, self.seed, self.ours, self.text, self.expected, self.row)
        job.passes = f"{self.passes} | {self.row.first}"
        theirs = self.expected.script()
        job.text += "# === theirs\n" + ("" if "metadata[" in theirs else theirs)
        return job


def text_of(module):
    """TVM's text, or None if it holds what cannot be exchanged: tensor constants, whose data TVM does not print, and offsets
    of 0 of another integer type than the dimensions', which are none here."""
    text = module.script()
    return None if "metadata[" in text or re.search(r"elem_offset=T\.\w+\(0\)", text) else text


class ConstantNames:
    """One name for all tensors of the same dtype, shape and, to the last bits, values."""

    def __init__(self):
        self.known = []

    def __call__(self, array):
        for i, other in enumerate(self.known):
            if array.dtype == other.dtype and array.shape == other.shape:
                exact = array.dtype.kind in "biu"
                if numpy.array_equal(array, other) if exact else numpy.allclose(array, other, rtol=1e-6, atol=0, equal_nan=True):
                    return f"constant_{i}"
        self.known.append(array)
        return f"constant_{len(self.known) - 1}"


@relax.expr_functor.mutator
class NameConstants(relax.PyExprMutator):
    """Replaces tensor constants by variables that nothing defines."""

    def __init__(self, names, variables):
        super().__init__()
        self.names, self.variables = names, variables

    def visit_generic_const_(self, op):
        array = op.value.numpy() if hasattr(op.value, "numpy") else None
        if array is None or array.ndim == 0:
            return op
        name = self.names(array)
        return self.variables.setdefault(name, relax.Var(name, op.ty))


def texts_with_constants(ours, theirs):
    """Our text and that of TVM's module, in both the tensor constants by the same names."""
    names, variables = ConstantNames(), {}
    named = tvm.IRModule(dict(theirs.functions_items()), attrs=theirs.attrs, global_infos=theirs.global_infos)
    for var, func in theirs.functions_items():
        if isinstance(func, relax.Function):
            named.update_func(var, NameConstants(names, variables).visit_expr(func))
    theirs = re.sub(r"^ *constant_\d+: .*\n", "", named.script(), flags=re.MULTILINE)
    ours, _, data = ours.partition("\nmetadata = ")
    for key, constants in ast.literal_eval(data).items() if data else ():
        arrays = [numpy.frombuffer(base64.b64decode(c["data"]), c["dtype"]).reshape(c["shape"]) for c in constants]
        ours = re.sub(rf'metadata\["{re.escape(key)}"\]\[(\d+)\]', lambda m: names(arrays[int(m[1])]), ours)
    return ours, theirs


def pass_name(ours):
    return ours.split("(")[0].strip()


def survives(theirs, module):
    """Whether a process that applies TVM's pass to a module comes to its end."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            theirs(module)
        finally:
            os._exit(0)  # pylint: disable=protected-access
    return os.waitpid(child, 0)[1] == 0


def parity_jobs(seed, kind, module, table, step, skipped):
    rows = [row for row in table if kind in row.kinds]
    for row in rows[seed // len(generate.KINDS) % step::step]:
        try:
            before = module
            for earlier in row.before:
                before = earlier(before)
            text = text_of(before)
            if text is None or any(words in text for words in row.except_with):
                continue
            if row.crashes and not survives(row.theirs, before):
                raise RuntimeError("TVM crashes")
            expected = row.theirs(before)
            if "elem_offset=" in expected.script():
                continue
            # Some passes of TVM leave variables without definitions.
            relax.analysis.well_formed(before)
            if row.may_break:
                relax.analysis.well_formed(expected)
        except Exception as error:  # pylint: disable=broad-except
            # What TVM itself refuses cannot be compared.
            skipped[row.ours] += 1
            logging.debug("%s refuses seed %d: %s", row.ours, seed, error)
            continue
        job = Job(f"{seed}:{row.ours}", seed, row.ours, text, expected, row)
        job.has_constants = "metadata[" in expected.script()
        yield job


def run_batch(binary, jobs, config):
    """Our text or error for each job."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for i, job in enumerate(jobs):
            file.write(f"{MARK}{i} | {job.passes}\n{job.text}\n")
        file.flush()
        run = subprocess.run([binary, file.name, *config], capture_output=True, text=True, check=False)
    answers = {}
    key, lines = None, []
    for line in run.stdout.split("\n"):
        if line.startswith(MARK):
            if key is not None:
                answers[key[0]] = (key[1], "\n".join(lines))
            index, status = line[len(MARK):].split(" ")
            key, lines = (int(index), status), []
        else:
            lines.append(line)
    if key is not None:
        answers[key[0]] = (key[1], "\n".join(lines))
    for i, job in enumerate(jobs):
        if i not in answers:
            answers[i] = ("error", f"opt_batch ended with status {run.returncode}: {run.stderr[-2000:]}")
            break
    return answers


def canonical(text):
    """The lines of a text without comments, its floats in one form."""
    def float32(match):
        return f"{match[1]}{float(numpy.float32(match[2]))!r}{match[3]}"

    text = re.sub(r"(R\.const\()(-?[0-9.e+-]+)(, \"float32\"\))", float32, text)
    text = re.sub(r"(T\.float32\()(-?[0-9.e+-]+)(\))", float32, text)
    text = re.sub(r"\b(scale)=T\.float32\((.*?)\)", r"\1=\2", text)
    text = re.sub(r"\b[0-9]+(\.[0-9]+(e[+-]?[0-9]+)?|e[+-]?[0-9]+)", lambda m: repr(float(m[0])), text)
    return [line for line in text.strip().split("\n") if line.strip() and not line.strip().startswith("#")]


def readable(text):
    """A text without what cannot be compared: the types of `R.builtin.alloc_tensor`, and infinite numbers, which TVM prints and does not
    read; types whose shape is a variable, of which ours know the rank; the order of the stores of a function that computes shapes, which
    is that of a hash table in TVM."""
    text = re.sub(r'R\.const\("(-?inf|nan)", ', r'R.const(float("\1"), ', text)
    ranks = dict(re.findall(r"^ *(\w+): R\.Shape\(ndim=(\d+)\) = ", text, flags=re.MULTILINE))
    text = re.sub(r"R\.Tensor\((\w+), (dtype=\"\w+\")\)", lambda m: f"R.Tensor({m[2]}, ndim={ranks[m[1]]})" if m[1] in ranks else m[0], text)
    text = re.sub(r"(?:^        H\[T\.int64\(\d+\)\] = .*\n)+", lambda m: "".join(sorted(m[0].splitlines(True))), text, flags=re.MULTILINE)
    return re.sub(r"(R\.builtin\.alloc_tensor\(.*?), ty_args=\(.*\)\)$", r"\1)", text, flags=re.MULTILINE)


DEFINED = [re.compile(r"^\s*def \w+\((.*)\)(?: ->.*)?:$"), re.compile(r"^\s*([\w, ]+?)(?:: .*?)? = "), re.compile(r"^\s*for ([\w, ]+) in "),
           re.compile(r"^\s{5,}def (\w+)\(")]


def renamed(lines):
    """A function's lines with its variables numbered in the order of their definitions: one number a name."""
    numbers = {}
    for line in lines:
        for i, pattern in enumerate(DEFINED):
            for match in pattern.finditer(line):
                for name in re.findall(r"(\w+): " if i == 0 else r"(\w+)", match[1]):
                    numbers.setdefault(name, f"v{len(numbers)}_")
    lines = [re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda m: numbers.get(m[0], m[0]), line) for line in lines]
    return [re.sub(r"R\.output\((.*)\)", lambda m: f"R.output({sorted(m[1].split(', '))})", line) for line in lines]


def functions(text):
    """The functions of a module by name, as `renamed` has them, and what stands above them."""
    found = {"": []}
    name = ""
    for line in canonical(readable(text)):
        if line.startswith("    @"):
            name = None
            pending = [line]
        elif name is None:
            pending.append(line)
            match = re.match(r"    def (\w+)\(", line)
            if match:
                name = match[1]
                found[name] = pending
        else:
            found[name].append(line)
    return {name: renamed(head_in_order(lines)) if name else sorted(lines) for name, lines in found.items()}


HEAD = [re.compile(r"^    (?! )"), re.compile(r"^        R\.func_attr\("), re.compile(r"^        cls = "), re.compile(r"^        \w+ = T\.int64\(\)")]


def head_in_order(lines):
    """A function's lines, those before its bindings in one order."""
    return sorted(lines, key=lambda line: next((i for i, pattern in enumerate(HEAD) if pattern.match(line)), len(HEAD)))


KERNEL = re.compile(r"^    @T\.prim_func.*\n    def (\w+)\(.*:\n(?:(?:        .*)?\n)+", re.MULTILINE)


def without_equal_kernels(ours, theirs):
    """Both texts with the bodies of kernels left out that are word for word the same: reading is what takes TVM its time."""
    bodies = [{m[1]: canonical(m[0]) for m in KERNEL.finditer(text + "\n")} for text in (ours, theirs)]
    same = {name for name, body in bodies[0].items() if body == bodies[1].get(name)}

    def stub(match):
        return "".join(line + "\n" for line in match[0].split("\n")[:2]) + "        T.evaluate(0)\n" if match[1] in same else match[0]

    return [KERNEL.sub(stub, text + "\n") for text in (ours, theirs)]


def first_difference(ours, theirs):
    """Of two results of `functions`, in words."""
    for name in sorted(set(ours) | set(theirs)):
        mine, other = ours.get(name, []), theirs.get(name, [])
        for i in range(max(len(mine), len(other))):
            pair = [lines[i].strip() if i < len(lines) else "(nothing)" for lines in (mine, other)]
            if pair[0] != pair[1]:
                return f"differs in {name}: {pair[0]} here, {pair[1]} in TVM"
    return ""


def uses_undefined(module):
    """Whether a function of a module uses a variable outside of the scope of its definition, or a function that is not there."""
    known = {var.name_hint for var in module.get_global_vars()}

    def visit_seq(seq, scope):
        if not isinstance(seq, relax.SeqExpr):
            return visit(seq, scope)
        scope = set(scope)
        for block in seq.blocks:
            for binding in block.bindings:
                if visit(binding.value, scope):
                    return True
                scope.add(binding.var)
        return visit(seq.body, scope)

    def visit(value, scope):
        if isinstance(value, relax.If):
            return visit(value.cond, scope) or visit_seq(value.true_branch, scope) or visit_seq(value.false_branch, scope)
        if isinstance(value, relax.Function):
            return visit_seq(value.body, scope | set(value.params))
        return any(var not in scope and not isinstance(var.ty, PrimType) for var in relax.analysis.free_vars(value))

    for _, func in module.functions_items():
        if isinstance(func, relax.Function):
            if any(var.name_hint not in known for var in relax.analysis.all_global_vars(func)) or visit(func, set()):
                return True
    return False


def verdict(job, status, text):
    """Empty if all is well."""
    if status != "ok":
        return text
    if job.has_constants or "\nmetadata = " in text:
        mine, theirs = (functions(t) for t in texts_with_constants(text, job.expected))
        return "" if mine == theirs else first_difference(mine, theirs)
    theirs = job.expected.script()
    # Reading is what takes TVM its time: texts that are the same up to the names of variables need no structures.
    if functions(text) == functions(theirs):
        return ""
    mine, theirs = without_equal_kernels(readable(text), readable(theirs))
    expected = job.expected
    try:
        expected = tvm.script.from_source(theirs, check_well_formed=False)
    except Exception:  # pylint: disable=broad-except
        mine = text  # TVM does not read what it prints: to be compared with what it holds
    try:
        module = tvm.script.from_source(mine, check_well_formed=False)
    except Exception as error:  # pylint: disable=broad-except
        return f"TVM cannot read it: {error}"
    if tvm_ffi.structural_equal(module, expected, map_free_vars=True):
        return ""
    path = tvm_ffi.get_first_structural_mismatch(module, expected, map_free_vars=True)
    return f"differs at {path}"


# What opt_batch says of modules that are compared by their results.
COMPUTED = {"same": "compute the same", "differs": "where only TVM's computes something else", "not run": "where TVM's cannot be interpreted",
            "nothing": "that cannot be interpreted"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "opt_batch"))
    parser.add_argument("--kind", help="only modules of this kind")
    parser.add_argument("--passes", default="sample", help="all, none, sample, or names")
    parser.add_argument("--keep", help="write what differs into this folder")
    parser.add_argument("--show", type=int, default=3, help="how many differences of a kind to print")
    parser.add_argument("--explain", choices=["differs", "not run", "nothing"], help="print the cases of this kind")
    args = parser.parse_args()

    table = passes.TABLE
    if args.passes == "none":
        table = []
    elif args.passes not in ("all", "sample"):
        table = [row for row in table if pass_name(row.ours) in args.passes.split(",")]
    step = 4 if args.passes == "sample" and args.count < 1000 else 1

    trips, parity, refused = [], [], collections.Counter()
    malformed, with_constants = collections.Counter(), collections.Counter()
    unprinted = 0
    seed = args.seed
    while len(trips) < args.count:
        try:
            kind, module = (args.kind, generate.KINDS[args.kind](seed)) if args.kind else generate.module(seed)
            text = text_of(module)
        except Exception as error:  # pylint: disable=broad-except
            refused["generation"] += 1
            logging.debug("TVM refuses seed %d: %s", seed, error)
            text = None
        if text is None:
            unprinted += 1
        else:
            trips.append(Job(f"{seed}:{kind}", seed, "", text, module))
            parity.extend(parity_jobs(seed, kind, module, table, step, refused))
        seed += 1

    failures = collections.defaultdict(list)
    better, computed = collections.Counter(), collections.Counter()

    def fail(job, problem, text):
        failures[job.ours or "text"].append((job, problem))
        if args.keep:
            stem = pathlib.Path(args.keep) / job.name.replace(":", "-").split("(")[0].replace(" ", "")
            stem.parent.mkdir(parents=True, exist_ok=True)
            stem.with_suffix(".in.py").write_text(job.text)
            stem.with_suffix(".ours.py").write_text(text)
            stem.with_suffix(".tvm.py").write_text(job.expected.script())

    for title, jobs, config in (("text", trips, []), ("passes", [job for job in parity if not job.row.as_tvm], []),
                                ("passes under tvm_compat", [job for job in parity if job.row.as_tvm], ["tvm_compat=true"])):
        before = sum(map(len, failures.values()))
        by_results = []
        answers = run_batch(args.binary, jobs, config)
        for i, job in enumerate(jobs):
            status, text = answers.get(i, ("error", "no answer"))
            problem = verdict(job, status, text)
            with_constants[job.ours] += job.has_constants
            if not problem:
                continue
            reason = job.row and status == "ok" and job.row.better_in(job.text, text, job.expected.script())
            if reason:
                better[job.ours, reason] += 1
                by_results.append((job, text))
            elif status == "ok" and job.ours and uses_undefined(job.expected):
                malformed[job.ours] += 1
            else:
                fail(job, problem, text)
        answers = run_batch(args.binary, [job.by_results() for job, _ in by_results], config)
        for i, (job, text) in enumerate(by_results):
            status, answer = answers.get(i, ("error", "no answer"))
            if status != "ok":
                fail(job, answer, text)
            computed[job.ours, answer.partition(":")[0].strip()] += status == "ok"
            if answer.startswith(args.explain or "-"):
                print(f"  {job.name}: {answer.strip()[:300]}")
        print(f"{title}: {len(jobs)} modules, {sum(map(len, failures.values())) - before} differ")
    tried = collections.Counter(job.ours for job in parity)
    for row in table:
        notes = [(with_constants, "of them with tensor constants"), (malformed, "where TVM's result uses what is not defined"),
                 (refused, "refused by TVM")]
        print(f"  {row.ours:60} {tried[row.ours] - malformed[row.ours]:>5} compared {len(failures[row.ours]):>4} differ"
              + "".join(f", {counts[row.ours]} {what}" for counts, what in notes if counts[row.ours]))
        for (name, what), count in better.items():
            if name == row.ours:
                print(f"      {count:>4} better: {what}")
        said = [f"{computed[row.ours, answer]} {words}" for answer, words in COMPUTED.items() if computed[row.ours, answer]]
        if said:
            print("           by their results: " + ", ".join(said))
    for name, found in failures.items():
        if not found:
            continue
        print(f"\n{name}: {len(found)} differ; seeds {[job.seed for job, _ in found][:12]}")
        classes = {}
        for job, problem in found:
            classes.setdefault(re.sub(r"[0-9]+|\"[^\"]*\"", "", problem.strip().split("\n")[0][-90:]), (job.seed, problem.strip()))
        for at, problem in list(classes.values())[:args.show]:
            print(f"  {at}: " + problem[:500].replace("\n", "\n    "))
    sys.exit(5 if any(failures.values()) else 0)


if __name__ == "__main__":
    main()
