# run: VMShapeLower
# A kernel's scalar is read from the heap; the kernel still returns nothing.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(n: T.int64, p: T.handle):
        x = T.match_buffer(p, (n,), "float32")
        for i in range(n):
            with T.sblock("fill"):
                vi = T.axis.spatial(n, i)
                x[vi] = T.float32(1)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        a = R.builtin.alloc_tensor(R.shape([n * 2]), R.dtype("float32"), R.prim_value(0))
        cls.fill(n * 2, a)
        return a
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fill(n: T.int64, x: T.Buffer((n,), "float32")):
        # with T.sblock("root"):
        for i in range(n):
            with T.sblock("fill"):
                vi = T.axis.spatial(n, i)
                T.reads()
                T.writes(x[vi])
                x[vi] = T.float32(1.0)

    @T.prim_func(private=True, s_tir=True)
    def shape_func(H: T.Buffer((T.int64(2),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(1)] = H[T.int64(0)] * T.int64(2)

    @R.function(pure=False)
    def main(x: R.Tensor((n,), dtype="float32")) -> R.Tensor(("n * 2",), dtype="float32"):
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (2,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 1, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 1, 1, 0, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        cls.shape_func(shape_heap)
        gv: R.Shape(ndim=1) = R.call_packed("vm.builtin.make_shape", shape_heap, 1, 1, 1, ty_args=(R.Shape(ndim=1),))
        a: R.Tensor(dtype="float32", ndim=1) = R.builtin.alloc_tensor(gv, R.dtype("float32"), 0)
        gv_1: T.int64 = R.call_packed("vm.builtin.make_prim_value", shape_heap, 1, 1, ty_args=(T.int64,))
        cls.fill(gv_1, a)
        R.call_packed("vm.builtin.match_shape", a, shape_heap, 1, 3, 1, R.str("ErrorContext(fn=main, loc=return, annotation=R.Tensor((n * 2,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        return a
