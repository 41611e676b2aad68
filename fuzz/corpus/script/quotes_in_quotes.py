# run:
# A name above the class means one symbol in all of the module; signatures name parameters that come later in quotes.
k = TypeVar("k")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def later(hx: T.handle, hy: T.handle, n: T.int32, hz: T.handle, m: T.int32):
        x = T.match_buffer(hx, (n, m), "float16")
        y = T.match_buffer(hy, (n * T.int64(2) + T.int64(1),), "float16")
      metadata = tvm.ir.load_json("""{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]}, {"type_key": "(private=True, s_tir=True)
    def laper(x: T.Buffer(("n", "m"), "float16"), y: T.Buffer(("n * T.int64(2) + T.int64(1)",), "float16"), n: T.int64, z: T.Buffer((n, n + T.int64(1)), "float16"), m: T.int32):
        # with T.sblock("root"):
        for i in range(n):
            x[i, 0] = y[i] + z[i, 0]

    @R.function
 .Tensor((k_1,R.call_tir(cls.), dtype="float32"))
        n = TypeVafr("n")
        j = TypeVar("j")
        @R.function
        def inner(a: R.Tensor((n, n + 1), dtype="float32"), b: R.Tensor((j, j * 2), dtype="float32")) -> R.Tuple(R.Tensor((n, n + 1), dtype="float32"), R.Tensor((j, j * 2), dtype="float32")):
            return (a, b)

        return y
