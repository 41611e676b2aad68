# run: VMShapeLower
# A shape that is bound to a variable is read from the heap: the types of what is made of it forget its extents.
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4, 4), "float32")) -> R.Tensor(("n", 16), "float32"):
        n = T.int64()
        s = R.shape([n, 16])
        y = R.reshape(x, s)
        return y
