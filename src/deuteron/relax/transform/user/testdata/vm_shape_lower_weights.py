# run: VMShapeLower
# Of the parameters from num_input on, tensors of static shape are not checked, nor those in tuples.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), a: R.Tensor((2, 3), "float32"), b: R.Tensor(ndim=2), c: R.Tensor(("n", 3), "float32"), d: R.Shape([2]), e: R.Prim("int64"), f: R.Tuple(R.Tensor((2,), "float32"), R.Prim("int64"), R.Tensor(("k",), "float32")), g: R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"), True), h: R.Tensor(("n * 2",), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        return x
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def shape_func(H: T.Buffer((T.int64(3),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(2)] = H[T.int64(0)] * T.int64(2)

    @R.function(pure=False)
    def main(x: R.Tensor((n,), dtype="float32"), a: R.Tensor((2, 3), dtype="float32"), b: R.Tensor(ndim=2), c: R.Tensor((n, 3), dtype="float32"), d: R.Shape([2]), e: T.int64, f: R.Tuple(R.Tensor((2,), dtype="float32"), T.int64, R.Tensor((k,), dtype="float32")), g: R.Callable((R.Tensor((2,), dtype="float32"),), R.Tensor((2,), dtype="float32"), True), h: R.Tensor(("n * 2",), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
        R.func_attr({"num_input": 1})
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 1, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", c, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[3], param=c, annotation=R.Tensor((n, 3), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_shape_info", d, 1, R.str("ErrorContext(fn=main, loc=param[4], param=d, annotation=R.Shape([2])) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_prim_value_info", e, R.dtype("int64"), R.str("ErrorContext(fn=main, loc=param[5], param=e, annotation=T.int64) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tuple_info", f, 3, R.str("ErrorContext(fn=main, loc=param[6], param=f, annotation=T.Tuple(R.Tensor((T.int64(2),), dtype=\"float32\"), T.int64, R.Tensor((k,), dtype=\"float32\"))) "), ty_args=(R.Tuple,))
        gv: T.int64 = f[1]
        R.call_packed("vm.builtin.check_prim_value_info", gv, R.dtype("int64"), R.str("ErrorContext(fn=main, loc=param[6], param=f, annotation=T.Tuple(R.Tensor((T.int64(2),), dtype=\"float32\"), T.int64, R.Tensor((k,), dtype=\"float32\"))) "), ty_args=(R.Tuple,))
        gv_1: R.Tensor((k,), dtype="float32") = f[2]
        R.call_packed("vm.builtin.check_tensor_info", gv_1, 1, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[6], param=f, annotation=T.Tuple(R.Tensor((T.int64(2),), dtype=\"float32\"), T.int64, R.Tensor((k,), dtype=\"float32\"))) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_func_info", g, R.str("ErrorContext(fn=main, loc=param[7], param=g, annotation=R.Callable((R.Tensor((2,), dtype=\"float32\"),), R.Tensor((2,), dtype=\"float32\"), True)) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", h, 1, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[8], param=h, annotation=R.Tensor((n * 2,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 1, 1, 0, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", c, shape_heap, 2, 3, 0, 0, 3, R.str("ErrorContext(fn=main, loc=param[3], param=c, annotation=R.Tensor((n, 3), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", d, shape_heap, 1, 0, 2, R.str("ErrorContext(fn=main, loc=param[4], param=d, annotation=R.Shape([2])) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", gv_1, shape_heap, 1, 1, 1, R.str("ErrorContext(fn=main, loc=param[6], param=f, annotation=T.Tuple(R.Tensor((T.int64(2),), dtype=\"float32\"), T.int64, R.Tensor((k,), dtype=\"float32\"))) "), ty_args=(R.Tuple,))
        cls.shape_func(shape_heap)
        R.call_packed("vm.builtin.match_shape", h, shape_heap, 1, 3, 2, R.str("ErrorContext(fn=main, loc=param[8], param=h, annotation=R.Tensor((n * 2,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        return x
