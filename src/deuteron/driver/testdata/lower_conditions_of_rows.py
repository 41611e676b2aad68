# run: LowerKernels
# Where only what stores a tile has conditions on the threads' loop, it alone has copies, the sums before it none. Rows that the
# run counts have conditions of their own: the copies are whole, so that tiles of which nothing exists can be left out.
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def open_rows(a: T.handle, y: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(64)))
        Y = T.match_buffer(y, (n, T.int64(40)))
        for i in T.parallel(T.int64(3)):
            for j in range(T.int64(12)):
                tile = T.alloc_buffer((T.int64(16),), scope="local")
                for c in T.unroll(T.int64(16)):
                    tile[c] = T.float32(0.0)
                for k in range(T.int64(64)):
                    for c in T.unroll(T.int64(16)):
                        if j < n:
                            tile[c] = tile[c] + A[j, k]
                for c in T.unroll(T.int64(16)):
                    if j < n and i * T.int64(16) + c < T.int64(40):
                        Y[j, i * T.int64(16) + c] = tile[c]

    @T.prim_func(private=True)
    def all_rows(A: T.Buffer((T.int64(12), T.int64(64)), "float32"), Y: T.Buffer((T.int64(12), T.int64(40)), "float32")):
        for i in T.parallel(T.int64(3)):
            for j in range(T.int64(12)):
                tile = T.alloc_buffer((T.int64(16),), scope="local")
                for c in T.unroll(T.int64(16)):
                    tile[c] = T.float32(0.0)
                for k in range(T.int64(64)):
                    for c in T.unroll(T.int64(16)):
                        tile[c] = tile[c] + A[j, k]
                for c in T.unroll(T.int64(16)):
                    if i * T.int64(16) + c < T.int64(40):
                        Y[j, i * T.int64(16) + c] = tile[c]
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dt_all_rows(A: T.Buffer((T.int64(12), T.int64(64)), "float32"), Y: T.Buffer((T.int64(12), T.int64(40)), "float32")):
        A_1 = T.decl_buffer((T.int64(768),), data=A.data)
        Y_1 = T.decl_buffer((T.int64(480),), data=Y.data)
        for i in T.parallel(T.int64(3)):
            for j in range(T.int64(12)):
                tile = T.alloc_buffer((T.int64(16),), scope="local")
                for c in T.unroll(T.int64(16)):
                    tile[c] = T.float32(0.0)
                for k in range(T.int64(64)):
                    for c in T.unroll(T.int64(16)):
                        tile[c] = tile[c] + A_1[j * T.int64(64) + k]
                if i <= T.int64(1):
                    for c in T.unroll(T.int64(16)):
                        Y_1[i * T.int64(16) + j * T.int64(40) + c] = tile[c]
                else:
                    for c in T.unroll(T.int64(16)):
                        if c < T.int64(8):
                            Y_1[i * T.int64(16) + j * T.int64(40) + c] = tile[c]

    @T.prim_func(private=True)
    def dt_open_rows(A: T.Buffer((n, T.int64(64)), "float32"), Y: T.Buffer((n, T.int64(40)), "float32")):
        A_1 = T.decl_buffer((n * T.int64(64),), data=A.data)
        Y_1 = T.decl_buffer((n * T.int64(40),), data=Y.data)
        for i in T.parallel(T.int64(3)):
            if i <= T.int64(1):
                for j in range(T.int64(12)):
                    tile = T.alloc_buffer((T.int64(16),), scope="local")
                    for c in T.unroll(T.int64(16)):
                        tile[c] = T.float32(0.0)
                    for k in range(T.int64(64)):
                        for c in T.unroll(T.int64(16)):
                            if j < n:
                                tile[c] = tile[c] + A_1[j * T.int64(64) + k]
                    for c in T.unroll(T.int64(16)):
                        if j < n:
                            Y_1[i * T.int64(16) + j * T.int64(40) + c] = tile[c]
            else:
                for j in range(T.int64(12)):
                    tile = T.alloc_buffer((T.int64(16),), scope="local")
                    for c in T.unroll(T.int64(16)):
                        tile[c] = T.float32(0.0)
                    for k in range(T.int64(64)):
                        for c in T.unroll(T.int64(16)):
                            if j < n:
                                tile[c] = tile[c] + A_1[j * T.int64(64) + k]
                    for c in T.unroll(T.int64(16)):
                        if j < n and c < T.int64(8):
                            Y_1[i * T.int64(16) + j * T.int64(40) + c] = tile[c]
