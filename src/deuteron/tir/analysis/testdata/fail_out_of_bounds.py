# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i in range(T.int64(8)):
            B[i] = A[i, i * T.int64(2) + T.int64(2)]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "root": reads A[i, i * 2 + 2] out of its bounds: index 16 of axis 1 is outside of [0, 16), at i = 7
