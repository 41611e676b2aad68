@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), dtype="float33")):
        y = R.add(x
        z = "a
        return y
    @T.prim_func
    def f(a: T.handle):
      with T.sblock("x"):
          vi = T.axis.spatial(16, 99999999999999999999)
        B[0] = 0x
    @R.function
    def g(x: R.Tensor((3,), "float32")):
        k = R.nn.conv2d(x, x, strides="a")
        k = x[99]
        return k + undefined
