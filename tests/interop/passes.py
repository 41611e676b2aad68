"""The passes that Deuteron and TVM both have. One line each: what `deuteron opt --passes` is given, TVM's pass, the kinds of modules
(generate.KINDS) it is compared on, TVM's passes that run before both, and how what comes out may differ (docs/differences.md says why).
LegalizeOps is compared by its numbers elsewhere: the loops may differ."""

import atexit
import dataclasses
import json
import pathlib
import re
import struct
import tempfile
import typing

import numpy
import tvm
from tvm import relax

rt = relax.transform

GRAPHS = ("graph", "symbolic", "operators", "statements")
CALLS = ("legalised", "statements")
KERNELS = ("legalised", "scheduled")


@dataclasses.dataclass(frozen=True)
class Parity:
    """`ours` on a module gives what `theirs` gives on it, after `before`, but where one of `better` holds: pairs of what we do better and
    whether that is so, from the texts of the module before the pass, of our result and of TVM's. There it must compute the same as the
    module before. If that takes more than the pass, `command` says what is run here, and `first` what of that only prepares the module.
    `as_tvm`: under `tvm_compat=true`, without which fusion does better. If TVM's pass
    `crashes` on some modules, it is tried in another process first. Not compared: modules whose text has one of `except_with`, which TVM
    gets wrong; if the pass `may_break` modules, those of which it makes what TVM's own verifier refuses (ours refuses to)."""
    ours: str
    theirs: typing.Callable
    kinds: tuple
    before: tuple = ()
    except_with: tuple = ()
    command: str = ""
    first: str = ""
    crashes: bool = False
    may_break: bool = False
    as_tvm: bool = False
    better: tuple = ()

    def better_in(self, *texts):
        """Which of `better` holds; empty if none does."""
        return next((what for what, holds in self.better if holds(*texts)), "")


def anywhere(what):
    """Results may have any form."""
    return ((what, lambda before, ours, theirs: True),)


def weights():
    """Values for the weights of graphs.parameters, and for the channels of images: positive, since they are variances too."""
    rng = numpy.random.default_rng(0)
    shapes = {"kernel": (8, 8, 3, 3), "depthwise": (8, 1, 3, 3), "channel": (8,), "last": (6,), "bias": (8, 1, 1), "w16": (4, 16),
              "b16": (4,), "w6": (3, 6), "b6": (3,)}
    return {name: (rng.random(shape) + 0.5).astype("float32") for name, shape in shapes.items()}


def safetensors(tensors):
    """The path of a file of `tensors` that lives as long as the program."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    header, data = {}, b""
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    path = pathlib.Path(folder.name) / "weights.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


WEIGHTS = weights()
BIND = f'BindParams(func_name=main, params="{safetensors(WEIGHTS)}")'


def bind(module):
    known = {param.name for param in module["main"].params}
    return rt.BindParams("main", {name: value for name, value in WEIGHTS.items() if name in known})(module)


def overwrites(before, ours, theirs):
    return "_inplace" in before


def transposes_less(before, ours, theirs):
    return ours.count("R.permute_dims(") < theirs.count("R.permute_dims(")


def loses_local_function(before, ours, theirs):
    return local_functions(ours) < local_functions(before) and ours.count("\n") < theirs.count("\n")


def local_functions(text):
    return len(re.findall(r"^ {8,}@R\.function", text, flags=re.MULTILINE))


def casts_calls(before, ours, theirs):
    return re.search(r"R\.match_cast\((?!\w+, )", theirs) is not None


# TVM's passes from calls of kernels to VMShapeLower.
LOWERED = (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite(), rt.StaticPlanBlockMemory(), rt.LowerAllocTensor(),
           rt.KillAfterLastUse(), rt.ComputePrimValue())

CASTS = (("what a match_cast takes stays bound", casts_calls),)
DESTINATIONS = anywhere("no dataflow blocks are left, and no caller's tensor is overwritten")
PLAN = anywhere("one arena")
KILLS = anywhere("a storage dies with the last tensor in it")

TABLE = [
    Parity("CanonicalizeBindings", rt.CanonicalizeBindings(), GRAPHS, better=CASTS),
    Parity("ConvertToDataflow", rt.ConvertToDataflow(), GRAPHS, better=CASTS),
    Parity("ConvertToDataflow(min_size=1)", rt.ConvertToDataflow(1), GRAPHS, better=CASTS),
    Parity("ToNonDataflow", rt.ToNonDataflow(), GRAPHS),
    Parity("EliminateCommonSubexpr", rt.EliminateCommonSubexpr(), GRAPHS,
           better=(("values that a call overwrites stay apart", overwrites),)),
    Parity("EliminateCommonSubexpr(call_only=true)", rt.EliminateCommonSubexpr(call_only=True), GRAPHS,
           better=(("values that a call overwrites stay apart", overwrites),)),
    Parity("DeadCodeElimination", rt.DeadCodeElimination(), GRAPHS,
           better=(("what only a dead local function used is dead", loses_local_function),)),
    Parity("RemoveUnusedOutputs", rt.RemoveUnusedOutputs(), GRAPHS),
    Parity("RemoveUnusedParameters", rt.RemoveUnusedParameters(), GRAPHS),
    Parity("ExpandTupleArguments", rt.ExpandTupleArguments(), GRAPHS, better=anywhere("tuples are gone, not bound")),
    Parity("Normalize", rt.Normalize(), GRAPHS),
    Parity("DecomposeOpsForInference", rt.DecomposeOpsForInference(), GRAPHS, better=anywhere("tuples are looked through, a dropout is its input")),
    Parity("FoldConstant", rt.FoldConstant(), GRAPHS, better=anywhere("arange is folded, full_like is limited")),
    Parity("BindParams", bind, ("graph", "symbolic"), command=BIND),
    # Both compute what they fold; TVM leaves that to FoldConstant.
    Parity("FoldBatchnormToConv2D",
           lambda module: tvm.ir.transform.Sequential([rt.FoldBatchnormToConv2D(), rt.FoldConstant()])(bind(module)),
           ("graph", "symbolic"), command=f"{BIND},FoldBatchnormToConv2D,FoldConstant", first=BIND, crashes=True,
           better=anywhere("constant biases are folded, what is not folded stays as it is")),
    Parity("BindSymbolicVars(binding_map={n: 4})", rt.BindSymbolicVars({"n": 4}), ("symbolic",)),
    Parity("LiftTransformParams", rt.LiftTransformParams(), GRAPHS, better=anywhere("a weight is projected once")),
    Parity("CombineParallelMatmul", rt.CombineParallelMatmul(), GRAPHS, better=anywhere("more products combine, none is computed twice")),
    Parity("LambdaLift", rt.LambdaLift(), GRAPHS, better=anywhere("what is only called is no closure")),
    Parity("InlinePrivateFunctions", rt.InlinePrivateFunctions(), GRAPHS, better=anywhere("arguments are checked, other functions stay as they are")),
    Parity("ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWC, OHWI]})",
           rt.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]}), ("graph",),
           # It counts axes from the start, also where nothing moves: so does the module that both begin with.
           (rt.ConvertLayout({}),),
           # It stacks along another axis than the module says, and permutes scalars.
           except_with=("R.stack(", "R.Tensor((), dtype=\"float32\") = R."),
           better=(("fewer transposes", transposes_less),)),
    Parity("FastMathTransform", rt.FastMathTransform(), GRAPHS, better=anywhere("other approximations")),
    Parity("RemovePurityChecking", rt.RemovePurityChecking(), GRAPHS, (rt.ToNonDataflow(),),
           better=anywhere("types do not forget symbols")),
    Parity("AnnotateTIROpPattern", rt.AnnotateTIROpPattern(), KERNELS, as_tvm=True),
    Parity("FuseOps(fuse_opt_level=2)", rt.FuseOps(fuse_opt_level=2), ("annotated",), as_tvm=True),
    Parity("FuseTIR", rt.FuseTIR(), ("fused",), as_tvm=True),
    # Pure functions and dataflow blocks as they are: what may be lowered there.
    Parity("CallTIRRewrite (unprepared)", rt.CallTIRRewrite(), GRAPHS + ("legalised",), may_break=True, command="CallTIRRewrite", better=DESTINATIONS),
    Parity("StaticPlanBlockMemory (unprepared)", rt.StaticPlanBlockMemory(), GRAPHS, command="StaticPlanBlockMemory", better=PLAN),
    Parity("LowerAllocTensor (unprepared)", rt.LowerAllocTensor(), GRAPHS + ("legalised",), command="LowerAllocTensor"),
    Parity("KillAfterLastUse (unprepared)", rt.KillAfterLastUse(), GRAPHS + ("legalised",), may_break=True, command="KillAfterLastUse",
           better=KILLS),
    Parity("VMShapeLower (unprepared)", rt.VMShapeLower(), GRAPHS, (rt.RemovePurityChecking(),), may_break=True, command="VMShapeLower"),
    # As byte code is made.
    Parity("CallTIRRewrite", rt.CallTIRRewrite(), ("legalised", "fused", "statements"), LOWERED[:2], better=DESTINATIONS),
    Parity("CallTIRRewrite (in dataflow blocks)", rt.CallTIRRewrite(), ("legalised", "statements"), (rt.RemovePurityChecking(),),
           may_break=True, command="CallTIRRewrite", better=DESTINATIONS),
    Parity("StaticPlanBlockMemory", rt.StaticPlanBlockMemory(), ("legalised",), LOWERED[:3], better=PLAN),
    Parity("LowerAllocTensor", rt.LowerAllocTensor(), ("legalised",), LOWERED[:3]),
    Parity("KillAfterLastUse", rt.KillAfterLastUse(), ("legalised",), LOWERED[:5], better=KILLS),
    Parity("ComputePrimValue", rt.ComputePrimValue(), ("statements", "symbolic"), better=anywhere("literals stay")),
    Parity("VMShapeLower", rt.VMShapeLower(), ("legalised",), LOWERED),
]
