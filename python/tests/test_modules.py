import json

import numpy as np
import pytest

import deuteron
from deuteron import ir, transform
from deuteron.script import I, R, T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("double"):
                vi = T.axis.spatial(T.int64(4), i)
                y[vi] = x[vi] + x[vi]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), "float32"))
            b = R.exp(a)
            R.output(b)
        return b


def test_source_of_a_class():
    assert sorted(var.name_hint for var in Module.functions) == ["double", "main"]
    assert "main" in Module and "none" not in Module
    [y] = deuteron.compile(Module)(np.zeros(4, np.float32))
    assert np.array_equal(y, np.ones(4))
    ir.check_well_formed(Module)
    with pytest.raises(deuteron.ModelError, match="it has: double, main|it has: main, double"):
        Module["none"]


def test_text_and_back():
    again = deuteron.script.parse(Module.script())
    assert ir.structural_equal(Module, again)
    other = transform.LegalizeOps()(Module)
    assert not ir.structural_equal(Module, other)
    with pytest.raises(ValueError, match="differ at"):
        ir.assert_structural_equal(Module, other)


def test_fields_of_nodes():
    function = Module["main"]
    assert [param.name_hint for param in function.params] == ["x"]
    assert str(function.params[0].ty.dtype) == "float32"
    [block] = function.body.blocks
    assert [type(binding).__name__ for binding in block.bindings] == ["VarBinding"] * 2
    assert "R.exp(a)" in ir.text(block.bindings[1])
    assert str(block.bindings[1].value.ty.dtype) == "float32" and block.bindings[1].value.op.ty is None


def test_text_that_is_wrong():
    with pytest.raises(deuteron.ModelError) as error:
        deuteron.script.parse("@I.ir_module\nclass M:\n    x = \n", "wrong.py")
    assert str(error.value).startswith("wrong.py:3:")


def test_passes():
    fused = transform.pipeline("fuse")(Module)
    assert "fused_double_tir_exp" in fused
    with pytest.raises(deuteron.UsageError, match="depth"):
        transform.FuseOps(depth=3)
    with pytest.raises(AttributeError, match="no pass Nothing"):
        transform.Nothing
    assert transform.FuseTIR().name == "FuseTIR" and transform.FuseTIR.__doc__


def test_passes_of_the_user():
    @transform.function_pass(opt_level=0)
    def keep(function, module):
        seen.append(len(module.functions))
        return function

    @transform.dataflowblock_pass
    class Blocks:
        def transform_dataflowblock(self, block, module):
            seen.append(len(block.bindings))
            return block

    @transform.module_pass(name="Drop", required=["LegalizeOps"])
    class Drop:
        def __init__(self, name):
            self.name = name

        def transform_module(self, module):
            seen.append(self.name)
            raise KeyError(self.name)

    seen = []
    transform.Sequential([keep, Blocks()])(Module)
    assert seen == [2, 2]
    with pytest.raises(KeyError, match="given"):
        Drop("given")(Module)


def test_contexts():
    class Watch:
        def __init__(self):
            self.seen = []

        def enter_pass_ctx(self):
            self.seen.append("enter")

        def exit_pass_ctx(self):
            self.seen.append("exit")

        def should_run(self, module, name, opt_level):
            return name != "FuseTIR"

        def run_before_pass(self, module, name, opt_level):
            self.seen.append(f"before {name}")

    watch = Watch()
    with transform.PassContext(instruments=[watch], config={"relax.FuseOps.max_depth": 1}):
        transform.Sequential([transform.LegalizeOps(), transform.FuseTIR()])(Module)
    assert watch.seen == ["enter", "before Sequential", "before LegalizeOps", "exit"]
    with pytest.raises(deuteron.UsageError, match="unknown.key"):
        with transform.PassContext(config={"unknown.key": 1}):
            pass


def test_reports(path):
    report = deuteron.explain(path)
    assert json.loads(report.to_json())["operators"] == report.operators == 2
    assert "MatMul" in report.text() and report._repr_html_().startswith("<iframe")
    with pytest.raises(AttributeError, match="the report has no depth"):
        report.depth
    compiled = deuteron.compile(path)
    assert [kernel["name"] for kernel in deuteron.explain(compiled).kernels] == [report.kernels[0]["name"]]
    profile = deuteron.profile(compiled, {"x": np.ones((4, 3), np.float32)}, seconds=0.01)
    assert profile.kernels[0]["name"] == report.kernels[0]["name"] and "roofline" in profile.text()
    profile.write_trace(path.parent / "trace.json")
    events = json.loads((path.parent / "trace.json").read_text())["traceEvents"]
    assert {event["name"] for event in events if event.get("cat") == "kernel"} == {report.kernels[0]["name"]}
    verified = deuteron.verify(path)
    assert verified.ok and verified.stages[-1]["name"] == "compiled code"
    assert verified.stages[-1]["error"] <= 1e-6
    bisection = deuteron.bisect(path)
    assert bisection.culprit == "" and bisection.reduced is None


def test_reports_of_executables(path, tmp_path):
    exe = deuteron.compile(path, shapes={"n": 5}, backend="none", disabled_passes=["FuseTIR"])
    verified, bisection = deuteron.verify(exe), deuteron.bisect(exe, seed=1)
    assert verified.ok and bisection.culprit == "" and verified._repr_html_().startswith("<pre>")
    assert all(stage["name"] != "FuseTIR" for stage in verified.stages)
    assert any(stage["name"] == "FuseTIR" for stage in deuteron.verify(exe, disabled_passes=[]).stages)
    assert deuteron.verify(deuteron.compile(deuteron.read(path))).ok
    exe.save(tmp_path / "model.so")
    for other in (deuteron.load(tmp_path / "model.so"), deuteron.compile(path.read_bytes())):
        with pytest.raises(deuteron.UsageError, match="loaded, or compiled from bytes"):
            deuteron.verify(other)
