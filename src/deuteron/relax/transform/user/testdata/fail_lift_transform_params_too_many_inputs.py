# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 3})
        with R.dataflow():
            l2 = R.exp(w1)
            a = R.matmul(x, l2)
            R.output(a)
        return a
# ----- expected
# ModelError: LiftTransformParams: function "main" has 2 parameters, and num_input is 3
