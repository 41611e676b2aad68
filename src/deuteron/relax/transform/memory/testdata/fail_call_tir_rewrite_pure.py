# run: CallTIRRewrite
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(x: T.Buffer((T.int64(2),), "float32"), compute: T.Buffer((T.int64(2),), "float32")):
        for i0 in range(T.int64(2)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(2), i0)
                T.reads(x[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(x[v_i0])

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            z = R.call_tir(Module.exp, (x,), out_ty=R.Tensor((2,), "float32"))
            R.output(z)
        return z
# ----- expected
# ModelError: CallTIRRewrite: function "main" is pure, and the pass would write calls with side effects into it; run RemovePurityChecking before, or declare it with pure=False
