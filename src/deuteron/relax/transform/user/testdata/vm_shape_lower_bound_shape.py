# run: VMShapeLower
# A shape that is bound to a variable is read from the heap: the types of what is made of it forget its extents.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4, 4), "float32")) -> R.Tensor(("n", 16), "float32"):
        n = T.int64()
        s = R.shape([n, 16])
        y = R.reshape(x, s)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((n, 4, 4), dtype="float32")) -> R.Tensor((n, 16), dtype="float32"):
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (1,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 3, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 4, 4), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 3, 1, 0, 0, 4, 0, 4, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 4, 4), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        s: R.Shape(ndim=2) = R.call_packed("vm.builtin.make_shape", shape_heap, 2, 1, 0, 0, 16, ty_args=(R.Shape(ndim=2),))
        y: R.Tensor(dtype="float32", ndim=2) = R.reshape(x, s)
        R.call_packed("vm.builtin.match_shape", y, shape_heap, 2, 3, 0, 0, 16, R.str("ErrorContext(fn=main, loc=return, annotation=R.Tensor((n, 16), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        return y
