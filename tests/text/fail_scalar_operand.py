# run: LegalizeOps
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "int64"), i: R.Prim("int64")):
        k = R.add(x, i)
        return k
# ----- expected
# UnsupportedError: a scalar that is a value of the graph, of type Prim("int64"), cannot be an operand of a kernel: pass a tensor of shape ()
