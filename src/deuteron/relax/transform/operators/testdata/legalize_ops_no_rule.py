# run: LegalizeOps(enable_warning=false)
# expect-remark: LegalizeOps relax.shape_of: no-legalization
# What has no kernel stays for the virtual machine.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)):
        s = R.shape_of(x)
        return s
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)) -> R.Shape(ndim=2):
        s: R.Shape(ndim=2) = R.shape_of(x)
        return s
