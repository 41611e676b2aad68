# run:
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((n + 1,), "float32")):
        for i in range(T.int64(8)):
            A[i] = T.float32(0.0)
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": the shape (n + 1) of parameter A uses n, which no parameter defines: neither a scalar, nor a dimension that is that variable alone
