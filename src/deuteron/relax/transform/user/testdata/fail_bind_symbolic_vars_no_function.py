# run: BindSymbolicVars(binding_map={n: 4}, func_name=third)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n=T.int64()
        m=T.int64()
        with R.dataflow():
            a = R.add(x, x)
            q = R.reshape(a, R.shape([m, n]))
            r = R.full(R.shape([n * m + 1]), R.const(1.0, "float32"), dtype="float32")
            R.output(q, r)
        return (q, r, R.prim_value(n + 1))
    @R.function
    def other(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 3), "float32")):
        return R.matmul(x, w)
# ----- expected
# ModelError: the module has no function "third"; it has: main, other
