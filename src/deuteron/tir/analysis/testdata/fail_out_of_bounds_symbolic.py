# run:
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        for i in range(n):
            B[i] = A[i + T.int64(1)]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "root": reads A[i + 1] out of its bounds: index 60 of axis 0 is outside of [0, 60), at n = 60, i = 59
