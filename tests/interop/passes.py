"""The passes that Deuteron and TVM both have. One line each: what `deuteron opt --passes` is given, TVM's pass, the kinds of modules
(generate.KINDS) it is compared on, and TVM's passes that run before both. Passes that make kernels (LegalizeOps, FastMathTransform)
are compared by their numbers elsewhere: the loops may differ."""

import dataclasses
import typing

import tvm
from tvm import relax

rt = relax.transform

GRAPHS = ("graph", "symbolic", "operators", "statements")
CALLS = ("legalised", "statements")
KERNELS = ("legalised", "scheduled")


@dataclasses.dataclass(frozen=True)
class Parity:
    """`ours` on a module gives what `theirs` gives on it, after `before`. Not compared: modules whose text has one of `except_with`, which
    TVM gets wrong."""
    ours: str
    theirs: typing.Callable
    kinds: tuple
    before: tuple = ()
    except_with: tuple = ()


TABLE = [
    Parity("CanonicalizeBindings", rt.CanonicalizeBindings(), GRAPHS),
    Parity("ConvertToDataflow", rt.ConvertToDataflow(), GRAPHS),
    Parity("ConvertToDataflow(min_size=1)", rt.ConvertToDataflow(1), GRAPHS),
    Parity("ToNonDataflow", rt.ToNonDataflow(), GRAPHS),
    Parity("EliminateCommonSubexpr", rt.EliminateCommonSubexpr(), GRAPHS),
    Parity("EliminateCommonSubexpr(call_only=true)", rt.EliminateCommonSubexpr(call_only=True), GRAPHS),
    Parity("DeadCodeElimination", rt.DeadCodeElimination(), GRAPHS),
    Parity("RemoveUnusedOutputs", rt.RemoveUnusedOutputs(), GRAPHS),
    Parity("RemoveUnusedParameters", rt.RemoveUnusedParameters(), GRAPHS),
    Parity("ExpandTupleArguments", rt.ExpandTupleArguments(), GRAPHS),
    Parity("Normalize", rt.Normalize(), GRAPHS),
    Parity("DecomposeOpsForInference", rt.DecomposeOpsForInference(), GRAPHS),
    Parity("FoldConstant", rt.FoldConstant(), GRAPHS),
    Parity("BindSymbolicVars(binding_map={n: 4})", rt.BindSymbolicVars({"n": 4}), ("symbolic",)),
    Parity("LiftTransformParams", rt.LiftTransformParams(), GRAPHS),
    Parity("CombineParallelMatmul", rt.CombineParallelMatmul(), GRAPHS),
    Parity("LambdaLift", rt.LambdaLift(), GRAPHS),
    Parity("InlinePrivateFunctions", rt.InlinePrivateFunctions(), GRAPHS),
    Parity("ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWC, OHWI]})",
           rt.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]}), ("graph",),
           # It stacks along another axis than the module says, and permutes scalars.
           except_with=("R.stack(", "R.Tensor((), dtype=\"float32\") = R.")),
    Parity("RemovePurityChecking", rt.RemovePurityChecking(), GRAPHS, (rt.ToNonDataflow(),)),
    Parity("AnnotateTIROpPattern", rt.AnnotateTIROpPattern(), KERNELS),
    Parity("FuseOps(fuse_opt_level=2)", rt.FuseOps(fuse_opt_level=2), ("annotated",)),
    Parity("FuseTIR", rt.FuseTIR(), ("fused",)),
    Parity("CallTIRRewrite", rt.CallTIRRewrite(), ("legalised", "fused", "statements"), (rt.ToNonDataflow(), rt.RemovePurityChecking())),
    Parity("StaticPlanBlockMemory", rt.StaticPlanBlockMemory(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite())),
    Parity("LowerAllocTensor", rt.LowerAllocTensor(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite())),
    Parity("KillAfterLastUse", rt.KillAfterLastUse(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite(), rt.StaticPlanBlockMemory(), rt.LowerAllocTensor())),
    Parity("ComputePrimValue", rt.ComputePrimValue(), ("statements", "symbolic")),
    Parity("VMShapeLower", rt.VMShapeLower(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite(), rt.StaticPlanBlockMemory(), rt.LowerAllocTensor(),
            rt.KillAfterLastUse(), rt.ComputePrimValue())),
]
