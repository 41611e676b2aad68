# run: VMShapeLower
# What a match_cast defines is known from there on; its type is checked only as far as the value's does not say it.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 16), dtype="float32"), v: R.Any, c: R.Tensor((), dtype="bool")) -> R.Any:
        n = T.int64()
        m = T.int64()
        p = T.int64()
        if c:
            y: R.Any = R.call_packed("f", x, R.shape([n + 1]), ty_args=(R.Any,))
            z: R.Any = y
        else:
            a = R.match_cast(x, R.Tensor((m, 16), dtype="float32"))
            y: R.Any = R.call_packed("f", a, R.shape([n + 1, n + 2, m * 3]), ty_args=(R.Any,))
            z: R.Any = y
        b = R.match_cast(v, R.Tensor((p, n), dtype="float32"))
        s: R.Shape([p * n]) = R.shape([p * n])
        w: R.Any = R.call_packed("f", b, s, ty_args=(R.Any,))
        return w
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
    def shape_func(H: T.Buffer((T.int64(7),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(1)] = H[T.int64(0)] + T.int64(1)
        H[T.int64(3)] = H[T.int64(0)] + T.int64(2)

    @T.prim_func(private=True, s_tir=True)
    def shape_func1(H: T.Buffer((T.int64(7),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(4)] = H[T.int64(2)] * T.int64(3)

    @T.prim_func(private=True, s_tir=True)
    def shape_func2(H: T.Buffer((T.int64(7),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(6)] = H[T.int64(5)] * H[T.int64(0)]

    @R.function(pure=False)
    def main(x: R.Tensor((n, 16), dtype="float32"), v: R.Any, c: R.Tensor((), dtype="bool")) -> R.Any:
        m = T.int64()
        p = T.int64()
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (7,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", c, 0, R.dtype("bool"), R.str("ErrorContext(fn=main, loc=param[2], param=c, annotation=R.Tensor((), dtype=\"bool\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 0, 0, 16, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        cls.shape_func(shape_heap)
        if c:
            gv: R.Shape(ndim=1) = R.call_packed("vm.builtin.make_shape", shape_heap, 1, 1, 1, ty_args=(R.Shape(ndim=1),))
            y: R.Any = R.call_packed("f", x, gv, ty_args=(R.Any,))
            z: R.Any = y
        else:
            R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 2, 0, 16, R.str("ErrorContext(match_cast, ty=R.Tensor((m, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
            cls.shape_func1(shape_heap)
            a: R.Tensor((m, 16), dtype="float32") = R.match_cast(x, R.Tensor((m, 16), dtype="float32"))
            gv: R.Shape(ndim=3) = R.call_packed("vm.builtin.make_shape", shape_heap, 3, 1, 1, 1, 3, 1, 4, ty_args=(R.Shape(ndim=3),))
            y: R.Any = R.call_packed("f", a, gv, ty_args=(R.Any,))
            z: R.Any = y
        R.call_packed("vm.builtin.check_tensor_info", v, 2, R.dtype("float32"), R.str("ErrorContext(match_cast, ty=R.Tensor((p, n), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", v, shape_heap, 2, 1, 5, 3, 0, R.str("ErrorContext(match_cast, ty=R.Tensor((p, n), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        cls.shape_func2(shape_heap)
        b: R.Tensor((p, n), dtype="float32") = R.match_cast(v, R.Tensor((p, n), dtype="float32"))
        s: R.Shape(ndim=1) = R.call_packed("vm.builtin.make_shape", shape_heap, 1, 1, 6, ty_args=(R.Shape(ndim=1),))
        w: R.Any = R.call_packed("f", b, s, ty_args=(R.Any,))
        return w
