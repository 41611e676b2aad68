"""A program built node by node, passes alone and in sequence, a pass and an instrument of one's own."""

import numpy as np

import deuteron
from deuteron import relax


def example():
    shape = (1, 64, 54, 54)
    c_data = np.ones(shape).astype("float32")
    c = relax.const(c_data)
    weight = relax.Var("weight", relax.TensorType((64, 64, 3, 3), "float32"))
    x = relax.Var("x", relax.TensorType((1, 64, 56, 56), "float32"))
    conv = relax.op.nn.conv2d(x, weight)
    y = relax.op.add(c, c)
    y = relax.op.multiply(y, relax.const(2, "float32"))
    y = relax.op.add(conv, y)
    z = relax.op.add(y, c)
    z1 = relax.op.add(y, c)
    z2 = relax.op.add(z, z1)
    return relax.Function([x, weight], z2)


@relax.op.register_alter_op_layout("nn.conv2d", level=101)
def alter_conv2d(attrs, inputs, tinfos, out_type):
    data, weight = inputs
    new_attrs = {name: getattr(attrs, name) for name in ("strides", "padding", "dilation", "groups")}
    new_attrs["data_layout"] = "NCHW16c"
    new_attrs["kernel_layout"] = "OIHW16i16o"
    return relax.op.nn.conv2d(data, weight, **new_attrs)


def count(mod, name):
    return mod.script().count(f"R.{name}(")


# Let's first create a module from the function.
f = example()
mod = deuteron.IRModule.from_expr(f)
assert count(mod, "add") == 5 and count(mod, "multiply") == 1

# Constants are folded.
fold_const = relax.transform.FoldConstant()
mod = fold_const(mod)
print(mod)
assert count(mod, "add") == 4 and count(mod, "multiply") == 0

# What is written twice is computed once.
mod = relax.transform.EliminateCommonSubexpr()(mod)
assert count(mod, "add") == 3

# Operators are fused after they have become functions; at level 0 nothing is.
lower = deuteron.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern()])
mod0 = relax.transform.FuseOps(fuse_opt_level=0)(lower(mod))
mod2 = relax.transform.FuseOps(fuse_opt_level=2)(lower(mod))
assert sum("fused" in var.name_hint for var in mod0.functions) == 0
assert sum("fused" in var.name_hint for var in mod2.functions) == 1

# The same as a sequence; a pass runs if its level is enabled, and may be disabled by name.
f = example()
mod = deuteron.IRModule.from_expr(f)
seq = deuteron.transform.Sequential(
    [
        relax.transform.FoldConstant(),
        relax.transform.EliminateCommonSubexpr(),
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FuseOps(fuse_opt_level=2),
    ]
)
with deuteron.transform.PassContext(opt_level=3):
    mod2 = seq(mod)
with deuteron.transform.PassContext(opt_level=3, disabled_pass=["EliminateCommonSubexpr"]):
    mod3 = seq(mod)
assert count(mod2, "call_tir") == count(mod3, "call_tir") - 1

# The layout that was registered above.
seq1 = deuteron.transform.Sequential([relax.transform.AlterOpLayout(target="x86-64-v3")])
with deuteron.transform.PassContext(opt_level=3):
    mod5 = seq1(mod)
assert 'data_layout="NCHW16c"' in mod5.script()


@relax.transform.function_pass(opt_level=1)
class CustomPipeline:
    """Simple test function to replace one argument to another."""

    def __init__(self, multiplier):
        self.multiplier = multiplier

    # This function can define a pass.
    def transform_function(self, func, mod, ctx):
        obj = self

        @relax.expr_functor.mutator
        class ReplaceConstant(relax.PyExprMutator):
            def visit_constant_(self, c):
                return relax.op.multiply(obj.multiplier, c)

        return ReplaceConstant().visit_expr(func)


f = example()
mod = deuteron.IRModule.from_expr(f)
custom_pass = CustomPipeline(multiplier=relax.const(3, "float32"))
assert custom_pass.info.name == "CustomPipeline"
mod3 = custom_pass(mod)
print(mod3)
assert count(mod3, "multiply") == 1 + 5  # every use of a constant
deuteron.ir.check_well_formed(mod3)


@deuteron.instrument.pass_instrument
class PrintIR:
    """Print the name of the pass, the IR, only before passes execute."""

    def run_before_pass(self, mod, info):
        print("Running pass: {}", info)
        print(mod)
        seen.append(info.name)


f = example()
mod = deuteron.IRModule.from_expr(f)
seq = deuteron.transform.Sequential(
    [
        relax.transform.FoldConstant(),
        deuteron.transform.PrintIR(),
        relax.transform.EliminateCommonSubexpr(),
        relax.transform.AlterOpLayout(target="x86-64-v3"),
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FuseOps(),
    ]
)
seen = []
with deuteron.transform.PassContext(opt_level=3, instruments=[PrintIR()]):
    mod = seq(mod)
print(mod)
assert seen[:4] == ["Sequential", "FoldConstant", "PrintIR", "EliminateCommonSubexpr"] and seen[-1] == "FuseOps"

print("done")
