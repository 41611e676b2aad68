metadata = tvm.ir.load_json("""{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]}, {"type_key": "Array", "data": [3]}, {"type_key": "relax.expr.Constant", "attrs": {"data": "0"}}], "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAIgAQABAAAAAAAAAAIAAAAAAAAACAAAAAAAAAAAAIA/AAAAQA=="]}""")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2), dtype="float32")):
        y = R.add(x, metadata["relax.expr.Constant"][0])
        return y
