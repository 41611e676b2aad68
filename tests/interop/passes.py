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
    """`ours` on a module gives what `theirs` gives on it, after `before`."""
    ours: str
    theirs: typing.Callable
    kinds: tuple
    before: tuple = ()
    # Where the two are known to part, if they do: such differences are counted and shown, and fail nothing.
    open: str = ""


TABLE = [
    Parity("CanonicalizeBindings", rt.CanonicalizeBindings(), GRAPHS,
           open="a match_cast of a known extent binds its symbol there, and is dropped"),
    Parity("ConvertToDataflow", rt.ConvertToDataflow(), GRAPHS,
           open="variables of branches that nothing outside uses; as CanonicalizeBindings"),
    Parity("ConvertToDataflow(min_size=1)", rt.ConvertToDataflow(1), GRAPHS, open="as ConvertToDataflow"),
    Parity("ToNonDataflow", rt.ToNonDataflow(), GRAPHS),
    Parity("EliminateCommonSubexpr", rt.EliminateCommonSubexpr(), GRAPHS),
    Parity("EliminateCommonSubexpr(call_only=true)", rt.EliminateCommonSubexpr(call_only=True), GRAPHS),
    Parity("DeadCodeElimination", rt.DeadCodeElimination(), GRAPHS, open="a match_cast in a dataflow block stays there"),
    Parity("RemoveUnusedOutputs", rt.RemoveUnusedOutputs(), GRAPHS),
    Parity("RemoveUnusedParameters", rt.RemoveUnusedParameters(), GRAPHS),
    Parity("ExpandTupleArguments", rt.ExpandTupleArguments(), GRAPHS, open="as CanonicalizeBindings"),
    Parity("Normalize", rt.Normalize(), GRAPHS),
    Parity("DecomposeOpsForInference", rt.DecomposeOpsForInference(), GRAPHS),
    Parity("FoldConstant", rt.FoldConstant(), GRAPHS, open="as DeadCodeElimination; shapes go into their uses"),
    Parity("BindSymbolicVars(binding_map={n: 4})", rt.BindSymbolicVars({"n": 4}), ("symbolic",)),
    Parity("LiftTransformParams", rt.LiftTransformParams(), GRAPHS),
    Parity("CombineParallelMatmul", rt.CombineParallelMatmul(), GRAPHS),
    Parity("LambdaLift", rt.LambdaLift(), GRAPHS),
    Parity("InlinePrivateFunctions", rt.InlinePrivateFunctions(), GRAPHS),
    Parity("ConvertLayout(desired_layouts={relax.nn.conv2d: [NHWC, OHWI]})",
           rt.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]}), ("graph",)),
    Parity("RemovePurityChecking", rt.RemovePurityChecking(), GRAPHS, (rt.ToNonDataflow(),),
           open="types of variables bound to one whose type names a symbol of a match_cast"),
    Parity("AnnotateTIROpPattern", rt.AnnotateTIROpPattern(), KERNELS),
    Parity("FuseOps(fuse_opt_level=2)", rt.FuseOps(fuse_opt_level=2), ("annotated",),
           open="a lone item of a tuple is a group there"),
    Parity("FuseTIR", rt.FuseTIR(), ("fused",)),
    Parity("CallTIRRewrite", rt.CallTIRRewrite(), ("legalised", "fused", "statements"), (rt.ToNonDataflow(), rt.RemovePurityChecking()),
           open="calls inside of Primitive functions"),
    Parity("RewriteDataflowReshape", rt.RewriteDataflowReshape(), ("legalised",)),
    Parity("StaticPlanBlockMemory", rt.StaticPlanBlockMemory(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite()),
           open="storages are shared by lifetime here, by first fit of whole storages there"),
    Parity("LowerAllocTensor", rt.LowerAllocTensor(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite())),
    Parity("KillAfterLastUse", rt.KillAfterLastUse(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite(), rt.StaticPlanBlockMemory(), rt.LowerAllocTensor()),
           open="a storage dies with its last tensor here, after its last alloc_tensor there; tuples die there too"),
    Parity("ComputePrimValue", rt.ComputePrimValue(), ("statements", "symbolic")),
    Parity("VMShapeLower", rt.VMShapeLower(), ("legalised",),
           (rt.ToNonDataflow(), rt.RemovePurityChecking(), rt.CallTIRRewrite(), rt.StaticPlanBlockMemory(), rt.LowerAllocTensor(),
            rt.KillAfterLastUse(), rt.ComputePrimValue())),
]
