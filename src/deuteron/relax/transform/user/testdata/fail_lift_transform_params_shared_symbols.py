# run: LiftTransformParams(shared_transform=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), dtype="float32"), w: R.Tensor(("n", 4), dtype="float32"), s: R.Tensor(("m",), dtype="float32")):
        n = T.int64()
        m = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.sum(w, axis=[0])
            b = R.add(x, a)
            c = R.zeros(R.shape([m, n]), dtype="float32")
            d = R.full(R.shape([m, n]), R.const(1.0, "float32"), dtype="float32")
            e = R.add(d, R.sum(b))
            R.output(e)
        return e
# ----- expected
# ModelError: LiftTransformParams: function "main" needs dimension m of a weight that it does not use otherwise: it cannot share its transformation
