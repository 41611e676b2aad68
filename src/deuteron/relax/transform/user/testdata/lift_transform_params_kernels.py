# run: LiftTransformParams
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def k(A: T.Buffer((T.int64(3), T.int64(3)), "float32"), B: T.Buffer((T.int64(3), T.int64(3)), "float32")):
        for i, j in T.grid(3, 3):
            with T.sblock("b"):
                v, u = T.axis.remap("SS", [i, j])
                B[v, u] = A[u, v]
    @R.function
    def main(x: R.Tensor((3, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            l1 = R.call_tir(cls.k, (w1,), out_ty=R.Tensor((3, 3), "float32"))
            l2 = R.call_pure_packed("f", w2, ty_args=R.Tensor((3, 3), "float32"))
            l3 = R.add(l1, l2)
            l4 = cls.p(l3)
            a = R.matmul(x, l4)
            R.output(a)
        return a
    @R.function(private=True)
    def p(x: R.Tensor((3, 3), "float32")) -> R.Tensor((3, 3), "float32"):
        return R.exp(x)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def k(A: T.Buffer((T.int64(3), T.int64(3)), "float32"), B: T.Buffer((T.int64(3), T.int64(3)), "float32")):
        # with T.sblock("root"):
        for i, j in T.grid(3, 3):
            with T.sblock("b"):
                v, u = T.axis.remap("SS", [i, j])
                T.reads(A[u, v])
                T.writes(B[v, u])
                B[v, u] = A[u, v]

    @R.function
    def main_transform_params(model_params: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="float32"))) -> R.Tuple(R.Tensor((3, 3), dtype="float32")):
        R.func_attr({"num_input": 0})
        cls = Module
        with R.dataflow():
            w1: R.Tensor((3, 3), dtype="float32") = model_params[0]
            l1 = R.call_tir(cls.k, (w1,), out_ty=R.Tensor((3, 3), dtype="float32"))
            w2: R.Tensor((3, 3), dtype="float32") = model_params[1]
            l2: R.Tensor((3, 3), dtype="float32") = R.call_pure_packed("f", w2, ty_args=(R.Tensor((3, 3), dtype="float32"),))
            l3: R.Tensor((3, 3), dtype="float32") = R.add(l1, l2)
            l4: R.Tensor((3, 3), dtype="float32") = cls.p(l3)
            output_tuple: R.Tuple(R.Tensor((3, 3), dtype="float32")) = (l4,)
            R.output(output_tuple)
        return output_tuple

    @R.function(private=True)
    def p(x: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((3, 3), dtype="float32"):
        gv: R.Tensor((3, 3), dtype="float32") = R.exp(x)
        return gv

    @R.function
    def main(x: R.Tensor((3, 3), dtype="float32"), l4: R.Tensor((3, 3), dtype="float32")) -> R.Tensor((3, 3), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((3, 3), dtype="float32") = R.matmul(x, l4, out_dtype=None)
            R.output(a)
        return a
