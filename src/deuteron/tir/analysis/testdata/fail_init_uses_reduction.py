# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i, k in T.grid(T.int64(8), T.int64(16)):
            with T.sblock("sum"):
                v_i, v_k = T.axis.remap("SR", [i, k])
                T.reads(A[v_i, v_k])
                T.writes(B[v_i])
                with T.init():
                    B[v_i] = T.Cast("float32", v_k)
                B[v_i] = B[v_i] + A[v_i, v_k]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "sum", in loop k: the init uses the reduction iterator v_k
