# run: LiftTransformParams(shared_transform=[main, third])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1 = R.permute_dims(w1)
            a = R.matmul(x, l1)
            R.output(a)
        return a
    @R.function
    def second(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            l1 = R.permute_dims(w1)
            l2 = R.exp(w2)
            a = R.matmul(x, l1)
            b = R.matmul(a, l2)
            R.output(b)
        return b
    @R.function
    def third(x: R.Tensor((1, 3), "float32"), w1: R.Tensor((3, 3), "float32"), w2: R.Tensor((3, 3), "float32")):
        l1 = R.permute_dims(w1)
        return l1
# ----- expected
# ModelError: LiftTransformParams: function "third" is to share its transformation and has no attribute num_input
