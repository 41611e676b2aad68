# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i in range(T.int64(8)):
            with T.sblock("row"):
                v_i = T.axis.spatial(T.int64(8), i)
                T.reads(B[v_i], A[v_i, T.int64(0):T.int64(15)])
                T.writes(B[v_i])
                B[v_i] = T.float32(0.0)
                for k in range(T.int64(16)):
                    B[v_i] = B[v_i] + A[v_i, k]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "row": reads A[v_i, k], which its reads A[v_i, 0:15] do not cover: index 15 of axis 1 is outside of [0, 15), at i = 0, k = 15
