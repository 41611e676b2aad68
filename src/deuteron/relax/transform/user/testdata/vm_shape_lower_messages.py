# run: VMShapeLower
# The messages hold the types as TVM writes them.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 16), dtype="float32"), a: R.Tensor(ndim=2), b: R.Tensor, c: R.Tensor(("n * 2 + n // 3",), "int8"), d: R.Shape(["n", 3]), e: R.Shape(ndim=3), t: R.Tuple(R.Shape(["n * 2", 3]), R.Tuple, R.Prim("float32"), R.Tuple(R.Tensor((4,), "int8"), R.Any), R.Callable((R.Tensor((2,), "float32"),), R.Tuple(R.Prim("int32")), True)), f: R.Callable((R.Tuple(R.Tensor((2,), "float32"), R.Any), R.Prim("int32")), R.Tensor(("n", 2), "float32"), False), s: R.Prim("int64")) -> R.Any:
        n = T.int64()
        return x
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
    def shape_func(H: T.Buffer((T.int64(3),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(1)] = H[T.int64(0)] * T.int64(2) + H[T.int64(0)] // T.int64(3)
        H[T.int64(2)] = H[T.int64(0)] * T.int64(2)

    @R.function(pure=False)
    def main(x: R.Tensor((n, 16), dtype="float32"), a: R.Tensor(ndim=2), b: R.Tensor, c: R.Tensor(("n * 2 + n // 3",), dtype="int8"), d: R.Shape([n, 3]), e: R.Shape(ndim=3), t: R.Tuple(R.Shape(["n * 2", 3]), R.Tuple, T.float32, R.Tuple(R.Tensor((4,), dtype="int8"), R.Any), R.Callable((R.Tensor((2,), dtype="float32"),), R.Tuple(T.int32), True)), f: R.Callable((R.Tuple(R.Tensor((2,), dtype="float32"), R.Any), T.int32), R.Tensor((n, 2), dtype="float32"), False), s: T.int64) -> R.Any:
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        gv: R.Any = R.null_value()
        R.call_packed("vm.builtin.check_tensor_info", a, 2, gv, R.str("ErrorContext(fn=main, loc=param[1], param=a, annotation=R.Tensor(ndim=2)) "), ty_args=(R.Tuple,))
        gv_1: R.Any = R.null_value()
        R.call_packed("vm.builtin.check_tensor_info", b, -1, gv_1, R.str("ErrorContext(fn=main, loc=param[2], param=b, annotation=R.Tensor) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", c, 1, R.dtype("int8"), R.str("ErrorContext(fn=main, loc=param[3], param=c, annotation=R.Tensor((n * 2 + n // 3,), dtype=\"int8\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_shape_info", d, 2, R.str("ErrorContext(fn=main, loc=param[4], param=d, annotation=R.Shape([n, 3])) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_shape_info", e, 3, R.str("ErrorContext(fn=main, loc=param[5], param=e, annotation=R.Shape(ndim=3)) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tuple_info", t, 5, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        gv_2: R.Shape([n * 2, 3]) = t[0]
        R.call_packed("vm.builtin.check_shape_info", gv_2, 2, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        gv_3: R.Tuple = t[1]
        R.call_packed("vm.builtin.check_tuple_info", gv_3, 0, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        gv_4: T.float32 = t[2]
        R.call_packed("vm.builtin.check_prim_value_info", gv_4, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        gv_5: R.Tuple(R.Tensor((4,), dtype="int8"), R.Any) = t[3]
        R.call_packed("vm.builtin.check_tuple_info", gv_5, 2, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        gv_6: R.Tensor((4,), dtype="int8") = gv_5[0]
        R.call_packed("vm.builtin.check_tensor_info", gv_6, 1, R.dtype("int8"), R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        gv_7: R.Any = gv_5[1]
        gv_8: R.Callable((R.Tensor((2,), dtype="float32"),), R.Tuple(T.int32), True) = t[4]
        R.call_packed("vm.builtin.check_func_info", gv_8, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_func_info", f, R.str("ErrorContext(fn=main, loc=param[7], param=f, annotation=R.Callable((R.Tuple(R.Tensor((2,), dtype=\"float32\"), R.Any), T.int32), R.Tensor((n, 2), dtype=\"float32\"), False)) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_prim_value_info", s, R.dtype("int64"), R.str("ErrorContext(fn=main, loc=param[8], param=s, annotation=T.int64) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 0, 0, 16, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", d, shape_heap, 2, 3, 0, 0, 3, R.str("ErrorContext(fn=main, loc=param[4], param=d, annotation=R.Shape([n, 3])) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", gv_2, shape_heap, 2, 2, 0, 0, 3, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", gv_6, shape_heap, 1, 0, 4, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        cls.shape_func(shape_heap)
        R.call_packed("vm.builtin.match_shape", c, shape_heap, 1, 3, 1, R.str("ErrorContext(fn=main, loc=param[3], param=c, annotation=R.Tensor((n * 2 + n // 3,), dtype=\"int8\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", gv_2, shape_heap, 2, 3, 2, 0, 3, R.str("ErrorContext(fn=main, loc=param[6], param=t, annotation=T.Tuple(R.Shape([n * T.int64(2), T.int64(3)]), None, T.float32, T.Tuple(R.Tensor((T.int64(4),), dtype=\"int8\"), R.Any), R.Callable((R.Tensor((T.int64(2),), dtype=\"float32\"),), T.Tuple(T.int32), True))) "), ty_args=(R.Tuple,))
        return x
