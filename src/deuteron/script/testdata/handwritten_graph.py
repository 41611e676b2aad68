@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,3,8,8), dtype="float32"), w: R.Tensor((4,3,3,3), dtype="float32"), c: R.Tensor((), "bool")):
        k = R.const([[1.0,2.0],[3,4]], "float32")
        y = R.nn.conv2d(x, w, padding=(1,1))
        z = R.nn.relu(y) + R.const(1e-5)
        m = R.mean(z, axis=1, keepdims=True)
        q = (R.const(float("inf"), "float32"), R.const(1e30, "float32"), R.const(0.1,"float16"), R.const(3,"int8"), R.const(1e-7, "float64"), R.const(float("nan"),"float32"), R.const(True, "bool"), R.const(-0.0,"float32"), R.const(1.5, "bfloat16"))
        a, b = R.split(z, 2, axis=1)
        with R.dataflow():
            s = R.sin(R.cos(a)) # at "/layer1/conv\"1"
            t = R.add(s, s) # at "model.py":3:4
            R.output(t)
        if c:
            r = R.exp(R.cos(x))
        else:
            r = R.exp(x)
        return z
