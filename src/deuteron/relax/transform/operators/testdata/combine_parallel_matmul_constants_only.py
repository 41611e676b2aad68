# run: CombineParallelMatmul(constants_only=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 2), "float32"), w: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            p = R.matmul(x, R.const([[1, 2, 3], [4, 5, 6]], "float32"))
            q = R.matmul(x, R.const([[7], [8]], "float32"))
            a = R.exp(x)
            r = R.matmul(a, w)
            s = R.matmul(a, R.const([[7], [8]], "float32"))
            gv = (p, q, r, s)
            R.output(gv)
        return gv
# ----- expected
