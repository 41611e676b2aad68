# run: VMShapeLower
# Parameters are checked, then matched; what follows from their extents is computed once; shapes and scalars are read where they are used.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 16), dtype="float32"), y: R.Tensor(("n", "m"), dtype="float32"), z: R.Tensor((n + m,), dtype="float32"), s: R.Shape(["k", 3]), t: R.Tuple(R.Tensor(("m",), dtype="float32"), R.Prim("int64")), u: R.Tensor(ndim=2), w: R.Any) -> R.Any:
        n = T.int64()
        m = T.int64()
        storage: R.Any = R.memory.alloc_storage(R.shape([n * 64]), 0, R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((n, 16), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 16]), R.dtype("float32"), 0)
        r: R.Any = R.call_packed("f", x, alloc, R.shape([n * 2, m, 7]), R.shape([1, 2]), n, ty_args=(R.Any,))
        return r
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
m = TypeVar("m")
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def shape_func(H: T.Buffer((T.int64(6),), "int64")):
        T.func_attr({"tirx.is_host_func": True})
        # with T.sblock("root"):
        H[T.int64(4)] = H[T.int64(0)] * T.int64(64)
        H[T.int64(5)] = H[T.int64(0)] * T.int64(2)
        H[T.int64(2)] = H[T.int64(0)] + H[T.int64(1)]

    @R.function(pure=False)
    def main(x: R.Tensor((n, 16), dtype="float32"), y: R.Tensor((n, m), dtype="float32"), z: R.Tensor(("n + m",), dtype="float32"), s: R.Shape([k, 3]), t: R.Tuple(R.Tensor((m,), dtype="float32"), T.int64), u: R.Tensor(ndim=2), w: R.Any) -> R.Any:
        cls = Module
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (6,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", y, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[1], param=y, annotation=R.Tensor((n, m), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", z, 1, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[2], param=z, annotation=R.Tensor((n + m,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_shape_info", s, 2, R.str("ErrorContext(fn=main, loc=param[3], param=s, annotation=R.Shape([k, 3])) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tuple_info", t, 2, R.str("ErrorContext(fn=main, loc=param[4], param=t, annotation=T.Tuple(R.Tensor((m,), dtype=\"float32\"), T.int64)) "), ty_args=(R.Tuple,))
        gv: R.Tensor((m,), dtype="float32") = t[0]
        R.call_packed("vm.builtin.check_tensor_info", gv, 1, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[4], param=t, annotation=T.Tuple(R.Tensor((m,), dtype=\"float32\"), T.int64)) "), ty_args=(R.Tuple,))
        gv_1: T.int64 = t[1]
        R.call_packed("vm.builtin.check_prim_value_info", gv_1, R.dtype("int64"), R.str("ErrorContext(fn=main, loc=param[4], param=t, annotation=T.Tuple(R.Tensor((m,), dtype=\"float32\"), T.int64)) "), ty_args=(R.Tuple,))
        gv_2: R.Any = R.null_value()
        R.call_packed("vm.builtin.check_tensor_info", u, 2, gv_2, R.str("ErrorContext(fn=main, loc=param[5], param=u, annotation=R.Tensor(ndim=2)) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 0, 0, 16, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", y, shape_heap, 2, 3, 0, 1, 1, R.str("ErrorContext(fn=main, loc=param[1], param=y, annotation=R.Tensor((n, m), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", s, shape_heap, 2, 1, 3, 0, 3, R.str("ErrorContext(fn=main, loc=param[3], param=s, annotation=R.Shape([k, 3])) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", gv, shape_heap, 1, 3, 1, R.str("ErrorContext(fn=main, loc=param[4], param=t, annotation=T.Tuple(R.Tensor((m,), dtype=\"float32\"), T.int64)) "), ty_args=(R.Tuple,))
        cls.shape_func(shape_heap)
        R.call_packed("vm.builtin.match_shape", z, shape_heap, 1, 3, 2, R.str("ErrorContext(fn=main, loc=param[2], param=z, annotation=R.Tensor((n + m,), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        gv_3: R.Shape(ndim=1) = R.call_packed("vm.builtin.make_shape", shape_heap, 1, 1, 4, ty_args=(R.Shape(ndim=1),))
        storage: R.Any = R.memory.alloc_storage(gv_3, 0, R.str("global"), R.dtype("float32"))
        gv_4: R.Shape(ndim=2) = R.call_packed("vm.builtin.make_shape", shape_heap, 2, 1, 0, 0, 16, ty_args=(R.Shape(ndim=2),))
        alloc: R.Tensor(dtype="float32", ndim=2) = R.memory.alloc_tensor(storage, 0, gv_4, R.dtype("float32"), 0)
        gv_5: R.Shape(ndim=3) = R.call_packed("vm.builtin.make_shape", shape_heap, 3, 1, 5, 1, 1, 0, 7, ty_args=(R.Shape(ndim=3),))
        gv_6: T.int64 = R.call_packed("vm.builtin.make_prim_value", shape_heap, 1, 0, ty_args=(T.int64,))
        r: R.Any = R.call_packed("f", x, alloc, gv_5, R.shape([1, 2]), gv_6, ty_args=(R.Any,))
        return r
