# run:
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def m(x: T.Buffer((T.int64(10),), "float32"), y: T.Buffer((T.int64(10),), "float32")):
        if T.Ramp(T.int64(0), T.int64(1), 16) < T.Broadcast(T.int64(10), 16):
            y[0] = x[1]
        else:
            y[T.int64(0):T.int64(4)] = x[T.int64(0):T.int64(4)]
# ----- expected
# ModelError: fail_lane_condition.py:6:9: error: a condition of 16 lanes stands over stores of vectors of as many, and without `else`
#             if T.Ramp(T.int64(0), T.int64(1), 16) < T.Broadcast(T.int64(10), 16):
#             ^
