@I.ir_module
class Module:
    @R.function(pure=False, private=True)
    def main(x: R.Tensor((3,), dtype="float32"), c: R.Tensor((), dtype="bool")):
        m = T.int64()
        y = R.match_cast(x, R.Tensor((m,), dtype="float32"))
        a: R.Any = R.call_packed("foo", x, ty_args=(R.Any,))
        @R.function
        def inner(z: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
            return z
        if c:
            r = inner(x)
        else:
            q, w = (x, R.exp(x * x - R.const(1, "float32")))
            r = R.call_dps_packed("g", (w,), out_ty=R.Tensor((3,), "float32"))
        k = R.call_pure_packed("h", r, R.str("hi"), 3, R.dtype("int8"), ty_args=R.Tensor((3,), "float32"))
        R.print(k, format="{}")
        return (k, r)[0]
