"""A product and its bias as one function of a library, if a check says so."""

from deuteron.relax.dpl import is_op, wildcard
from deuteron.relax.transform import FuseOpsByPattern, FusionPattern
from deuteron.script import I, R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float16"), w: R.Tensor((3, 4), "float16"), b: R.Tensor((4,), "float16")):
        with R.dataflow():
            product = R.matmul(x, w)
            sum = R.add(product, b)
            result = R.nn.relu(sum)
            R.output(result)
        return result


def my_check_function(context):
    if context.has_leaking_intermediate_variables():
        return False
    return str(context.annotated_expr["matmul"].ty.dtype) == "float16"


# Match: matmul(x, w) + bias
x = wildcard()
w = wildcard()
bias = wildcard()
matmul = is_op("relax.matmul")(x, w)
out = is_op("relax.add")(matmul, bias)

pattern = FusionPattern(
    name="cutlass.matmul_bias",
    pattern=out,
    annotation_patterns={"matmul": matmul, "bias": bias},
    check=my_check_function,  # optional validation
)

mod = FuseOpsByPattern(
    patterns=[pattern],  # ordered by priority
    bind_constants=True,
    annotate_codegen=False,
)(Module)

print(mod)
fused = mod["fused_relax_matmul_relax_add"]
assert fused.attrs.dict["Composite"] == "cutlass.matmul_bias"
