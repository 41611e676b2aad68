n = TypeVar("n")
@I.ir_module
class Module:
    I.module_attrs({"a": 1, "b": [1, 2.5, "x", None]})
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), s: R.Shape([n, 3]), p: R.Prim("int64"), o: R.Any) -> R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor(("n * 2", 4), dtype="float32")):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            lv: R.Tensor((n, 4), dtype="float32") = R.add(x, R.const(1.5, "float32"))
            lv1: R.Tensor((n * 2, 4), dtype="float32") = R.concat((lv, x), axis=0)  # at "/cat":1:2
            lv2 = R.call_tir(cls.f, (lv,), out_ty=R.Tensor((n, 4), dtype="float32"))
            gv: R.Tuple(R.Tensor((n, 4), dtype="float32"), R.Tensor((n * 2, 4), dtype="float32")) = lv2, lv1
            R.output(gv)
        return gv
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, b: T.handle):
        m = T.int64()
        A = T.match_buffer(a, (m, T.int64(4)))
        B = T.match_buffer(b, (m, T.int64(4)))
        for i, j in T.grid(m, T.int64(4)):
            with T.sblock("B"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                B[v_i, v_j] = T.max(A[v_i, v_j], T.float32(0.0))
