metadata = tvm.ir.load_json("""{"root_index": 5, "nodes": [{"type": "ffi.String", "data": "ir.GenericConst"}, {"type": "ffi.Tensor", "data": "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAIoAQABAAAAAAAAAAIAAAAAAAAACgAAAAAAAAAAAIA/AAAAQAAA"}, {"type": "ir.GenericConst", "data": {"data": 1}}, {"type": "ffi.Array", "data": [2]}, {"type": "None"}, {"type": "ffi.Map", "data": [0, 3]}]}""")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2), dtype="float32")):
        y = R.add(x, metadata["ir.GenericConst"][0])
        return y
