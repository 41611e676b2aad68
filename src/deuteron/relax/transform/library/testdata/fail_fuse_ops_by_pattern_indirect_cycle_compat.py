# run: FuseOpsByPattern(patterns=['dnnl.block = relax.nn.relu(relax.matmul(_, _)) + _'])
# config: tvm_compat=true
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.nn.gelu(a)
            t = R.tanh(c)
            d = R.add(b, t)
            R.output(d)
        return d
# ----- expected
# ModelError: two groups of operators depend on each other: they cannot be functions
