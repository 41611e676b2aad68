# run: VMShapeLower
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            z = R.zeros(R.shape([n]), "float32")
            R.output(z)
        return z
# ----- expected
# ModelError: VMShapeLower: function "main" has a dataflow block, and the pass would write calls with side effects into it; run ToNonDataflow before
