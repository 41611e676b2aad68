import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example(example):
    """Each checks its own result, and ends without an error, its callbacks gone before Python."""
    result = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False)
    # The pass PrintIR writes modules there.
    unexpected = re.sub(r"(?ms)^# from typing.*?^\]\}\n", "", result.stderr)
    assert result.returncode == 0 and unexpected == "", unexpected
    assert "@I.ir_module" in result.stdout
