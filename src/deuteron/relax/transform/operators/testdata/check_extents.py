# run: CheckExtents
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "k"), "float32"), z: R.Tensor(("j", 4), "float32"), c: R.Tensor((5, 4), "float32"), p: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool"), pair: R.Tuple(R.Tensor(("n", 2), "float32"), R.Tensor(("m", 2), "float32"))):
        n = T.int64()
        k = T.int64()
        with R.dataflow():
            both_symbolic = R.matmul(x, z)
            one_constant = R.matmul(x, c)
            shown = R.matmul(z, R.permute_dims(c))
            rows = R.concat((x, both_symbolic), axis=0)
            of_tuple = R.concat(pair, axis=1)
            sum = R.einsum((x, z), subscripts="ab,bc->ac")
            norm = R.nn.layer_norm(x, p, p, axes=[-1])
            wide = R.broadcast_to(p, R.shape([n, k]))
            R.output(both_symbolic, one_constant, shown, rows, of_tuple, sum, norm, wide)
        if flag:
            branch = R.matmul(x, z)
        else:
            branch = both_symbolic
        return (one_constant, shown, rows, of_tuple, sum, norm, wide, branch)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
k = TypeVar("k")
j = TypeVar("j")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, k), dtype="float32"), z: R.Tensor((j, 4), dtype="float32"), c: R.Tensor((5, 4), dtype="float32"), p: R.Tensor((3,), dtype="float32"), flag: R.Tensor((), dtype="bool"), pair: R.Tuple(R.Tensor((n, 2), dtype="float32"), R.Tensor((m, 2), dtype="float32"))) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor((j, 5), dtype="float32"), R.Tensor(("n * 2", 4), dtype="float32"), R.Tensor((n, 4), dtype="float32"), R.Tensor((n, 4), dtype="float32"), R.Tensor((n, k), dtype="float32"), R.Tensor((n, k), dtype="float32"), R.Tensor((n, 4), dtype="float32")):
        with R.dataflow():
            argument_1_of_matmul: R.Tensor((k, 4), dtype="float32") = R.match_cast(z, R.Tensor((k, 4), dtype="float32"))
            both_symbolic: R.Tensor((n, 4), dtype="float32") = R.matmul(x, argument_1_of_matmul, out_dtype=None)
            argument_0_of_matmul: R.Tensor((n, 5), dtype="float32") = R.match_cast(x, R.Tensor((n, 5), dtype="float32"))
            one_constant: R.Tensor((n, 4), dtype="float32") = R.matmul(argument_0_of_matmul, c, out_dtype=None)
            lv: R.Tensor((4, 5), dtype="float32") = R.permute_dims(c, axes=None)
            shown: R.Tensor((j, 5), dtype="float32") = R.matmul(z, lv, out_dtype=None)
            argument_0_of_concat: R.Tensor((n, 4), dtype="float32") = R.match_cast(x, R.Tensor((n, 4), dtype="float32"))
            rows: R.Tensor((n * 2, 4), dtype="float32") = R.concat((argument_0_of_concat, both_symbolic), axis=0)
            field: R.Tensor((n, 2), dtype="float32") = pair[0]
            field_1: R.Tensor((m, 2), dtype="float32") = pair[1]
            argument_0_of_concat_1: R.Tensor((n, 2), dtype="float32") = R.match_cast(field_1, R.Tensor((n, 2), dtype="float32"))
            of_tuple: R.Tensor((n, 4), dtype="float32") = R.concat((field, argument_0_of_concat_1), axis=1)
            argument_0_of_einsum: R.Tensor((k, 4), dtype="float32") = R.match_cast(z, R.Tensor((k, 4), dtype="float32"))
            sum: R.Tensor((n, 4), dtype="float32") = R.einsum((x, argument_0_of_einsum), subscripts="ab,bc->ac")
            argument_1_of_nn_layer_norm: R.Tensor((k,), dtype="float32") = R.match_cast(p, R.Tensor((k,), dtype="float32"))
            argument_2_of_nn_layer_norm: R.Tensor((k,), dtype="float32") = R.match_cast(p, R.Tensor((k,), dtype="float32"))
            norm: R.Tensor((n, k), dtype="float32") = R.nn.layer_norm(x, argument_1_of_nn_layer_norm, argument_2_of_nn_layer_norm, axes=[-1], epsilon=1e-05, center=True, scale=True)
            argument_0_of_broadcast_to: R.Tensor((k,), dtype="float32") = R.match_cast(p, R.Tensor((k,), dtype="float32"))
            wide: R.Tensor((n, k), dtype="float32") = R.broadcast_to(argument_0_of_broadcast_to, R.shape([n, k]))
            R.output(both_symbolic, one_constant, shown, rows, of_tuple, sum, norm, wide)
        if flag:
            argument_1_of_matmul_1: R.Tensor((k, 4), dtype="float32") = R.match_cast(z, R.Tensor((k, 4), dtype="float32"))
            branch_then: R.Tensor((n, 4), dtype="float32") = R.matmul(x, argument_1_of_matmul_1, out_dtype=None)
            branch: R.Tensor((n, 4), dtype="float32") = branch_then
        else:
            branch: R.Tensor((n, 4), dtype="float32") = both_symbolic
        return (one_constant, shown, rows, of_tuple, sum, norm, wide, branch)
