"""Patterns of a library in the registry: those registered later go before."""

from deuteron import relax
from deuteron.relax.backend.pattern_registry import get_patterns_with_prefix, register_patterns
from deuteron.relax.backend.patterns import make_matmul_pattern
from deuteron.script import I, R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            product = R.matmul(x, w)
            sum = R.add(product, b)
            result = R.nn.relu(sum)
            R.output(result)
        return result


def _check_matmul(context):
    return not context.has_leaking_intermediate_variables()


register_patterns([
    (
        "mylib.matmul",  # pattern name (prefix = backend)
        *make_matmul_pattern(  # returns (DFPattern, annotation_patterns)
            with_bias=False,
        ),
        _check_matmul,  # check function
    ),
    (
        "mylib.matmul_bias_relu",
        *make_matmul_pattern(
            with_bias=True,
            activation="relax.nn.relu",
        ),
        _check_matmul,
    ),
])

for each in get_patterns_with_prefix("mylib"):
    print(each.name, each.pattern)


def partition_for_mylib(mod, bind_constants=False):
    patterns = get_patterns_with_prefix("mylib")
    return relax.transform.FuseOpsByPattern(patterns, bind_constants=bind_constants, annotate_codegen=True)(mod)


mod = partition_for_mylib(Module)
print(mod)
assert mod["fused_relax_matmul_relax_add_relax_nn_relu_mylib"].attrs.dict["Codegen"] == "mylib"
