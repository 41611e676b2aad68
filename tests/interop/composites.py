"""MergeCompositeFunctions as TVM does it: on each of its text tests, the two results are structurally equal.

    python tests/interop/composites.py BINARY
"""

import pathlib
import subprocess
import sys
import tempfile

import tvm
import tvm_ffi
from tvm import relax

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "src/deuteron/relax/transform/library/testdata"
# TVM looks into dataflow blocks of the outermost level only.
LEFT_OUT = {"merge_composite_branches.py"}


def main():
    binary, failed, passed = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(folder) / "module.py"

        def parse(passes):
            command = [binary, "opt", module, "--passes", passes, "--config", "tvm_compat=true"]
            return tvm.script.from_source(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        for test in sorted(TESTS.glob("merge_composite_*.py")):
            if test.name in LEFT_OUT:
                continue
            module.write_text(test.read_text().split("# ----- expected")[0])
            theirs = relax.transform.MergeCompositeFunctions()(parse(""))
            good = tvm_ffi.structural_equal(parse("MergeCompositeFunctions"), theirs, map_free_vars=True)
            passed, failed = passed + good, failed + (not good)
            print(f"{test.name:40}{'ok' if good else 'FAILED'}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
