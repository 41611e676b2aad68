# run: FuseOpsByPattern(patterns=['cublas.matmul'])
# expect-remark: FuseOpsByPattern odd -> cublas.matmul: pattern-check-refused
# expect-remark: FuseOpsByPattern even -> fused_relax_matmul: pattern-matched
# A library's pattern takes what it matches only if its check agrees: int8 needs extents that four divides.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6, 6), "int8"), y: R.Tensor((8, 8), "int8")):
        with R.dataflow():
            odd = R.matmul(x, x, out_dtype="int32")
            even = R.matmul(y, y, out_dtype="int32")
            R.output(odd, even)
        return (odd, even)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_matmul(y: R.Tensor((8, 8), dtype="int8")) -> R.Tensor((8, 8), dtype="int32"):
        R.func_attr({"Composite": "cublas.matmul", "Primitive": True})
        with R.dataflow():
            even: R.Tensor((8, 8), dtype="int32") = R.matmul(y, y, out_dtype="int32")
            R.output(even)
        return even

    @R.function
    def main(x: R.Tensor((6, 6), dtype="int8"), y: R.Tensor((8, 8), dtype="int8")) -> R.Tuple(R.Tensor((6, 6), dtype="int32"), R.Tensor((8, 8), dtype="int32")):
        cls = Module
        with R.dataflow():
            odd: R.Tensor((6, 6), dtype="int32") = R.matmul(x, x, out_dtype="int32")
            even: R.Tensor((8, 8), dtype="int32") = cls.fused_relax_matmul(y)
            R.output(odd, even)
        return (odd, even)
