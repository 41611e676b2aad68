# run: VMShapeLower
# What a branch returns is of the type that it has, also where the module says less.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 8), "float32"), condition: R.Tensor((), "bool")):
        n = T.int64()
        if condition:
            a: R.Tensor((n, 8), dtype="float32") = R.tanh(x)
            c: R.Tensor(dtype="float32", ndim=2) = a
        else:
            b: R.Tensor((n, 8), dtype="float32") = R.nn.relu(x)
            c: R.Tensor(dtype="float32", ndim=2) = b
        d: R.Tensor(dtype="float32", ndim=2) = R.exp(c)
        return d
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
    def main(x: R.Tensor((n, 8), dtype="float32"), condition: R.Tensor((), dtype="bool")) -> R.Tensor(dtype="float32", ndim=2):
        shape_heap: R.Tensor(dtype="int64", ndim=1) = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (1,), ty_args=(R.Tensor(dtype="int64", ndim=1),))
        R.call_packed("vm.builtin.check_tensor_info", x, 2, R.dtype("float32"), R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 8), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.check_tensor_info", condition, 0, R.dtype("bool"), R.str("ErrorContext(fn=main, loc=param[1], param=condition, annotation=R.Tensor((), dtype=\"bool\")) "), ty_args=(R.Tuple,))
        R.call_packed("vm.builtin.match_shape", x, shape_heap, 2, 1, 0, 0, 8, R.str("ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, 8), dtype=\"float32\")) "), ty_args=(R.Tuple,))
        if condition:
            a: R.Tensor((n, 8), dtype="float32") = R.tanh(x)
            c: R.Tensor((n, 8), dtype="float32") = a
        else:
            b: R.Tensor((n, 8), dtype="float32") = R.nn.relu(x)
            c: R.Tensor((n, 8), dtype="float32") = b
        d: R.Tensor((n, 8), dtype="float32") = R.exp(c)
        return d
