# run: FoldConstant,PackWeights
# target: llvm -mcpu=x86-64-v4
# Weights in 64, 48 and 16 output columns; one block is packed as it is, and 40 columns make no block of whole vectors.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), h: R.Tensor((2, 3), "float16"), i: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            a = R.matmul(x, R.ones((3, 128), "float32"))
            b = R.nn.dense(x, R.ones((96, 3), "float32"))
            c = R.matmul(h, R.ones((3, 80), "float16"))
            d = R.matmul(x, R.ones((3, 64), "float32"))
            e = R.nn.dense(x, R.ones((64, 3), "float32"))
            f = R.matmul(x, R.ones((3, 40), "float32"))
            g = R.matmul(i, R.ones((3, 128), "int32"))
            gv = (a, b, c, d, e, f, g)
            R.output(gv)
        return gv
# ----- expected
