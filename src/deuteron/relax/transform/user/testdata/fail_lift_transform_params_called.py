# run: LiftTransformParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 2})
        with R.dataflow():
            l2 = R.exp(w1)
            a = R.matmul(x, l2)
            R.output(a)
        return a
    @R.function
    def caller(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32")):
        cls = Module
        a = cls.main(x, w1)
        return a
# ----- expected
# ModelError: LiftTransformParams: the parameters of function "main" cannot change, because function "caller" uses it
