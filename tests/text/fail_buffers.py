# run:
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def a(h: T.handle):
        A = T.match_buffer(h, (T.int64(4),), "float32", offset_factor=-1)
        A[0] = T.float32(0)

    @T.prim_func(private=True)
    def b(h: T.handle):
        A = T.match_buffer(h, (T.int64(4),), "float32", elem_offset=1.5)
        B = T.alloc_buffer((T.int64(4),), elem_offset=8)
        A[0] = T.float32(0)

    @T.prim_func(private=True)
    def c(A: T.Buffer((T.int64(4),), "float32", space="global")):
        A[0] = T.float32(0)

    @T.prim_func(private=True)
    def d(A: T.Buffer((T.int64(4),), "float32", buffer_type="auto_broadcast")):
        B = T.decl_buffer((T.int64(4),), "float32", data=A)
        A[0] = T.float32(0)

    @T.prim_func(private=True)
    def e(A: T.Buffer((T.int64(4),), "float32")):
        B = T.decl_buffer((T.int64(4),), "float32", data=A)
        C = A.view(T.int64(4), dtype="float16")
        A[0] = T.float32(0)
# ----- expected
# ModelError: fail_buffers.py:6:71: error: expected a number of elements of which offsets are multiples, from 0 on
#             A = T.match_buffer(h, (T.int64(4),), "float32", offset_factor=-1)
#                                                                           ^
# fail_buffers.py:11:69: error: expected a dimension, an integer
#             A = T.match_buffer(h, (T.int64(4),), "float32", elem_offset=1.5)
#                                                                         ^
# fail_buffers.py:12:13: error: what is allocated begins at its pointer, leave `elem_offset` out
#             B = T.alloc_buffer((T.int64(4),), elem_offset=8)
#                 ^
# fail_buffers.py:16:55: error: a buffer has shape, dtype, data, strides and scope, not `space`
#         def c(A: T.Buffer((T.int64(4),), "float32", space="global")):
#                                                           ^
# fail_buffers.py:20:61: error: buffers of type "auto_broadcast" are not supported
#         def d(A: T.Buffer((T.int64(4),), "float32", buffer_type="auto_broadcast")):
#                                                                 ^
# fail_buffers.py:26:58: error: `A` is a buffer; an element of it is `A[…]`
#             B = T.decl_buffer((T.int64(4),), "float32", data=A)
#                                                              ^
# fail_buffers.py:27:13: error: expected A.view(extent, …); T.decl_buffer says dtype and scope
#             C = A.view(T.int64(4), dtype="float16")
#                 ^
