"""The passes of fusion, on a sum, an exponential and a squeeze."""

from deuteron.script import I, R
from deuteron.transform import AnnotateTIROpPattern, FoldConstant, FuseOps, FuseTIR, LegalizeOps


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 20), "float32")):
        with R.dataflow():
            lv0 = R.add(x, R.const(1, "float32"))
            lv1 = R.exp(lv0)
            gv = R.squeeze(lv1)
            R.output(gv)
        return gv


mod = Module
for each in (
    LegalizeOps(),  # lower Relax ops to call_tir
    AnnotateTIROpPattern(),  # annotate pattern kinds
    FoldConstant(),
    FuseOps(),  # group ops
):
    mod = each(mod)
print(mod)
[fused] = [function for name, function in mod.functions_items() if name.name_hint.startswith("fused")]
assert fused.attrs.dict["Primitive"]
assert len(fused.body.blocks[0].bindings) == 3

mod = FuseTIR()(mod)  # merge TIR functions
print(mod)
assert mod.script().count("T.prim_func") == 1
