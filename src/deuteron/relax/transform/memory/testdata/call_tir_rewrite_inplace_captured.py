# run: CallTIRRewrite
# A value that a local function mentions may be read later: it is copied before it is overwritten.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("fill"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi]

    @T.prim_func(private=True)
    def double(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("double"):
                vi = T.axis.spatial(4, i)
                x[vi] = x[vi] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.fill, (x,), out_ty=R.Tensor((4,), "float32"))
        @R.function
        def inner(p: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            q = R.add(p, y)
            return q

        z = R.call_tir_inplace(cls.double, (y,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
        r = inner(z)
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("double"):
                vi = T.axis.spatial(4, i)
                T.reads(x[vi])
                T.writes(x[vi])
                x[vi] = x[vi] * T.float32(2.0)

    @T.prim_func(private=True, s_tir=True)
    def fill(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("fill"):
                vi = T.axis.spatial(4, i)
                T.reads(x[vi])
                T.writes(y[vi])
                y[vi] = x[vi]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        alloc: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
        cls.fill(x, alloc)
        y: R.Tensor((4,), dtype="float32") = alloc
        @R.function
        def inner(p: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            q: R.Tensor((4,), dtype="float32") = R.add(p, y)
            return q

        alloc1: R.Tensor((4,), dtype="float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"), ty_args=(R.Tensor((4,), dtype="float32"),))
        R.call_packed("deuteron.vm.copy", y, alloc1)
        cls.double(alloc1)
        z: R.Tensor((4,), dtype="float32") = alloc1
        r: R.Tensor((4,), dtype="float32") = inner(z)
        return r
