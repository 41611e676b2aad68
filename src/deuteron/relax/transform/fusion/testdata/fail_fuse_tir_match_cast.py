# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("y"):
                vi = T.axis.spatial(T.int64(4), i)
                y[vi] = x[vi] + x[vi]
    @T.prim_func(private=True, s_tir=True)
    def increase(x: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("x"):
                vi = T.axis.spatial(T.int64(4), i)
                x[vi] = x[vi] + T.float32(1)
    @R.function(private=True)
    def group(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((4,), "float32"))
            gv = R.call_tir(cls.double, (a,), out_ty=R.Tensor((4,), "float32"))
            R.output(gv)
        return gv
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.group(x)
        return y
# ----- expected
# ModelError: function group is Primitive but holds a match_cast (a): run FuseOps on a module without it there
