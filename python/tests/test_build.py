"""Modules built node by node, rewritten by visitors and mutators."""

import numpy as np
import pytest

import deuteron
from deuteron import ir, relax, script
from deuteron.relax import BlockBuilder, Function, PyExprMutator, PyExprVisitor, TensorType, Var, const, op
from deuteron.script import I, R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            gv = R.add(lv, lv)
            R.output(gv)
        return gv


def built(body):
    x = Var("x", TensorType((2, 3), "float32"))
    builder = BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(body(builder, x))
        builder.emit_func_output(result)
    return builder.get()


def test_builder():
    module = built(lambda builder, x: (lambda a: op.add(a, a))(builder.emit(op.exp(x))))
    ir.assert_structural_equal(module, Module)
    ir.check_well_formed(module)


def test_calls_in_calls_are_bound_once():
    x = Var("x", TensorType((2, 3), "float32"))
    exp = op.exp(x)
    ir.assert_structural_equal(deuteron.IRModule.from_expr(Function([x], op.add(exp, exp))), Module)


def test_a_symbolic_dimension():
    n = relax.symbolic("n")
    x = Var("x", TensorType((n, 3), "float32"))
    module = deuteron.IRModule.from_expr(Function([x], op.concat((x, x), axis=1)))
    assert ir.structural_equal(module["main"].ret_ty, TensorType((n, 6), "float32"), map_free_vars=True)
    [y] = deuteron.compile(module)(np.ones((4, 3), np.float32))
    assert np.array_equal(y, np.ones((4, 6)))


def test_two_blocks_a_cast_and_a_tuple():
    x = Var("x", TensorType(dtype="float32", ndim=1))
    m = relax.symbolic("m")
    builder = BlockBuilder()
    with builder.function("main", x):
        cast = builder.match_cast(x, TensorType((m,), "float32"))
        with builder.dataflow():
            halves = builder.emit_output(relax.Tuple([op.negative(cast), op.abs(cast)]))
        builder.emit_func_output(halves)
    module = builder.get()
    ir.check_well_formed(module)
    first, second = deuteron.compile(module)(np.array([1, -2], np.float32))
    assert np.array_equal(first, [-1, 2]) and np.array_equal(second, [1, 2])


def test_if():
    c = Var("c", TensorType((), "bool"))
    x = Var("x", TensorType((2,), "float32"))
    branches = [relax.block_builder.bind_all([], op.add(x, const(step))) for step in (1.0, 2.0)]
    branches = [relax.SeqExpr([relax.BindingBlock([_plain(each)])], _plain(each).var) for each in branches]
    builder = BlockBuilder()
    with builder.function("main", [c, x]):
        builder.emit_func_output(builder.emit(relax.If(c, *branches)))
    module = builder.get()
    ir.check_well_formed(module)
    exe = deuteron.compile(module)
    for flag, expected in ((True, 1), (False, 2)):
        [y] = exe(np.array(flag), np.zeros(2, np.float32))
        assert np.array_equal(y, [expected] * 2)


def _plain(seq):
    [binding] = seq.blocks[0].bindings
    return binding


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda x: op.sum(x, axis=1), "R.sum(x, axis=[1]"),
        (lambda x: op.sum(x, 1, True), "R.sum(x, axis=[1], keepdims=True"),
        (lambda x: op.reshape(x, (3, 2)), "R.reshape(x, R.shape([3, 2]))"),
        (lambda x: op.permute_dims(x, axes=[1, 0]), "R.permute_dims(x, axes=[1, 0])"),
        (lambda x: op.nn.softmax(x, axis=-1), "R.nn.softmax(x, axis=-1)"),
        (lambda x: op.astype(x, "float16"), 'R.astype(x, dtype="float16")'),
        (lambda x: op.full((2,), const(1.0), "float32"), 'R.full(R.shape([2])'),
    ],
)
def test_operators(call, text):
    module = built(lambda builder, x: call(x))
    assert text in module.script()
    ir.assert_structural_equal(deuteron.script.parse(module.script()), module)


@pytest.mark.parametrize(
    "wrong, error, text",
    [
        (lambda x: op.nn.conv2d(x, x, stride=2), deuteron.UsageError, "has no argument stride; .*strides"),
        (lambda x: op.sum(x, axis="one"), deuteron.UsageError, "attribute axis of relax.sum"),
        (lambda x: op.add(x2=x), deuteron.UsageError, "relax.add lacks its argument x1"),
        (lambda x: op.add(x), deuteron.ModelError, "add: takes 2 arguments and is given 1"),
        (lambda x: op.add(x, x, x1=x), deuteron.UsageError, "given x1 twice"),
        (lambda x: op.add(x, object()), deuteron.UsageError, "not object"),
        (lambda x: op.matmul(x, x), deuteron.ModelError, "matmul"),
        (lambda x: relax.Op("relax.nothing"), deuteron.UsageError, "no operator relax.nothing"),
    ],
)
def test_what_is_wrong(wrong, error, text):
    with pytest.raises(error, match=text):
        built(lambda builder, x: wrong(x))
    with pytest.raises(AttributeError, match="no operator"):
        op.nothing


def test_wrong_nesting_leaves_the_builder_whole():
    x = Var("x", TensorType((2, 3), "float32"))
    builder = BlockBuilder()
    with pytest.raises(deuteron.UsageError, match="no output"):
        with builder.function("main", [x]):
            builder.emit(op.exp(x))
    with pytest.raises(KeyError):
        with builder.function("main", [x]):
            with builder.dataflow():
                raise KeyError
    with pytest.raises(deuteron.UsageError, match="inside a dataflow block"):
        with builder.function("main", [x]):
            with builder.dataflow(), builder.dataflow():
                pass
    with builder.function("main", [x]):
        with builder.dataflow():
            lv = builder.emit(op.exp(x))
            gv = builder.emit_output(op.add(lv, lv))
        builder.emit_func_output(gv)
    ir.assert_structural_equal(builder.get(), Module)
    with pytest.raises(deuteron.UsageError, match="main already"):
        with builder.function("main", [x]):
            pass


def test_visitor():
    @relax.expr_functor.visitor
    class Names(PyExprVisitor):
        def __init__(self):
            self.seen = []

        def visit_op_(self, each):
            self.seen.append(each.name)

        def visit_var_def(self, var):
            self.seen.append(var.name_hint)

        def visit_dataflow_block_(self, block):
            self.seen.append("block")
            super().visit_dataflow_block_(block)

    names = Names()
    names.visit_expr(Module["main"])
    assert names.seen == ["x", "block", "relax.exp", "lv", "relax.add", "gv"]


def test_mutator():
    @relax.expr_functor.mutator
    class Narrow(PyExprMutator):
        def visit_call_(self, call):
            call = super().visit_call_(call)
            if call.op.name != "relax.exp":
                return call
            return self.builder_.emit(op.tanh(op.astype(call.args[0], "float16")))

    mutator = Narrow(Module)
    for name, function in Module.functions_items():
        mutator.builder_.update_func(name, mutator.visit_expr(function).without_attr("none"))
    module = mutator.builder_.get()
    ir.check_well_formed(module)
    # The types of what follows are new, too.
    expected = '''@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float16"):
        with R.dataflow():
            a = R.astype(x, dtype="float16")
            b = R.tanh(a)
            c = b
            gv = R.add(c, c)
            R.output(gv)
        return gv
'''
    ir.assert_structural_equal(module, script.parse(expected))
    with pytest.raises(deuteron.UsageError, match="PyExprMutator"):
        relax.expr_functor.mutator(dict)


def test_a_mutator_that_changes_nothing():
    function = Module["main"]
    assert PyExprMutator().visit_expr(function).same_as(function)


def test_instruments_of_a_compilation(path):
    @deuteron.instrument.pass_instrument
    class Names:
        def run_before_pass(self, module, info):
            seen.append(info.name)
            if info.name == stop:
                raise KeyError(stop)

    seen, stop = [], ""
    deuteron.compile(path, backend="none", instruments=[Names()])
    assert seen.index("LegalizeOps") < seen.index("FuseOps") < seen.index("FuseTIR")
    stop = "FuseOps"
    with pytest.raises(KeyError, match="FuseOps"):
        deuteron.compile(path, instruments=[Names()])
