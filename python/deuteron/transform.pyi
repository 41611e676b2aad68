# Written by python/stubs.py.
from __future__ import annotations
import inspect
import threading
from typing import Any, Callable, Sequence
import tvm_ffi
from . import _library
from .errors import UsageError
from .instrument import PassInfo, methods_of
from .ir import IRModule

@tvm_ffi.register_object('deuteron.transform.Pass', init=False)
class Pass(tvm_ffi.Object):
    """Runs in the innermost PassContext."""

    @property
    def name(self) -> str:
        """As instruments and contexts know it."""

    @property
    def info(self) -> PassInfo:
        """Its name, and the least optimisation level of a context in which a Sequential runs it."""

    def __call__(self, module: IRModule) -> IRModule:
        ...

    def __repr__(self) -> str:
        ...

@tvm_ffi.register_object('deuteron.transform.Sequential', init=False)
class _Sequential(Pass):
    pass

def Sequential(passes: Sequence[Pass], name: str='Sequential') -> Pass:
    """Runs passes in order: those that the context enables, each after those it requires."""

def pipeline(name: str) -> Pass:
    """A pipeline of `deuteron opt --list-passes` by its name: "import", "fuse", …"""

def _decorator(kind: str, body: Any, opt_level: int, name: str | None, required: Sequence[str]) -> Any:
    ...

def _callback(body: Any, taken: int) -> Any:
    """`body` as the library calls it, with `taken` arguments; one that takes one more is given the context."""

def module_pass(body: Any=None, *, opt_level: int=0, name: str | None=None, required: Sequence[str]=()) -> Any:
    """A pass from a function `module -> module`, or from a class with `transform_module(self, module)`. All three kinds take
    the PassContext as one argument more if they have one."""

def function_pass(body: Any=None, *, opt_level: int=0, name: str | None=None, required: Sequence[str]=()) -> Any:
    """A pass over graph-level functions: `(function, module) -> function`, or a class with `transform_function`."""

def dataflowblock_pass(body: Any=None, *, opt_level: int=0, name: str | None=None, required: Sequence[str]=()) -> Any:
    """A pass over dataflow blocks: `(block, module) -> block`, or a class with `transform_dataflowblock`."""

class PassContext:
    """Options of the passes that are run within `with PassContext(...):`, in this thread.

    instruments: objects with any of `enter_pass_ctx()`, `exit_pass_ctx()`, `should_run(module, name, opt_level)`,
    `run_before_pass(module, name, opt_level)`, `run_after_pass(module, name, opt_level)`.
    """

    def __init__(self, *, opt_level: int=2, required_pass: Sequence[str]=(), disabled_pass: Sequence[str]=(), instruments: Sequence[Any]=(), config: dict[str, Any] | None=None) -> None:
        ...

    def __enter__(self) -> PassContext:
        ...

    def __exit__(self, *_: Any) -> None:
        ...

    @staticmethod
    def current() -> PassContext:
        """The innermost that is entered in this thread; one with the defaults if there is none."""

class _Entered(threading.local):

    def __init__(self) -> None:
        ...

def _factory(name: str, description: str, parameters: Sequence[str]) -> Callable[..., Pass]:
    ...
def AlterOpLayout(target: Any = ...) -> Pass:
    """lets operators choose their layouts for the target"""
def AnnotateTIROpPattern() -> Pass:
    """sets the attribute op_pattern of every loop-level function"""
def BindParams(func_name: Any = ..., params: Any = ...) -> Pass:
    """replaces parameters of a function by the tensors of those names in a .safetensors file"""
def BindSymbolicVars(binding_map: Any = ..., func_name: Any = ...) -> Pass:
    """replaces symbolic variables by numbers"""
def ByteWeights() -> Pass:
    """has products of integers read constant bytes as they are"""
def CallTIRRewrite() -> Pass:
    """makes the outputs of calls of kernels explicit"""
def CanonicalizeBindings() -> Pass:
    """removes trivial bindings: copies, projections of known tuples, casts that check nothing"""
def ChannelsLast() -> Pass:
    """computes convolutions in NHWC where a matrix unit multiplies their channels"""
def CheckExtents() -> Pass:
    """has dimensions compared at run time that operators demand to be equal and types do not show to be, and refuses negative ones"""
def CombineMatmulsOfOneWeight() -> Pass:
    """products of several inputs with one weight become one product"""
def CombineParallelMatmul() -> Pass:
    """combines products of the same left operand into one"""
def ComposeTransposes() -> Pass:
    """makes a transposition of a transposition one, or none"""
def ComputeMasks() -> Pass:
    """computes masks that depend on nothing but indices where they are read"""
def ComputePrimValue() -> Pass:
    """computes scalar expressions in functions that are called instead"""
def ConvToWinograd() -> Pass:
    """makes convolutions of constant windows of 3 x 3, and 3 x 3 in slices, products of transformed tiles where that saves time"""
def ConvTransposeToConv() -> Pass:
    """makes transposed convolutions with constant kernels convolutions of stride 1"""
def ConvertLayout(desired_layouts: Any = ...) -> Pass:
    """gives operators the layouts asked for and lets the others follow"""
def ConvertToDataflow(min_size: Any = ...) -> Pass:
    """gathers runs of pure bindings into dataflow blocks"""
def DeadCodeElimination(entry_functions: Any = ...) -> Pass:
    """removes unused pure bindings and unreachable functions"""
def DecomposeOpsForInference(func_name: Any = ...) -> Pass:
    """writes batch_norm and other composite operators out in simpler ones"""
def DotProducts() -> Pass:
    """sums along the rows of a matrix that would be transposed and multiplied by one row"""
def DropBounds() -> Pass:
    """values are not bounded that a quantisation bounds"""
def DropPaddedTaps() -> Pass:
    """leaves out the elements of convolutions' windows that meet nothing but padding"""
def DropUnreadPixels() -> Pass:
    """makes pointwise convolutions with strides ones without, of the pixels that they read"""
def EliminateCommonSubexpr(call_only: Any = ...) -> Pass:
    """computes what is written twice once"""
def ExpandTupleArguments() -> Pass:
    """passes the fields of tuple parameters of private functions one by one"""
def FastMathTransform() -> Pass:
    """computes exp, tanh, erf and softmax by approximations"""
def FoldBatchnormToConv2D() -> Pass:
    """folds an inference batch_norm into the weights of the convolution before it"""
def FoldConstant(skip_ops: Any = ...) -> Pass:
    """evaluates what depends on constants only"""
def FoldPadToConv() -> Pass:
    """makes zeros around an image the padding of the convolution that reads it"""
def FoldRequantization() -> Pass:
    """makes what scales and shifts values before a quantisation one multiplication and one addition"""
def FuseAttention() -> Pass:
    """merges two products with a softmax between them"""
def FuseFollowers() -> Pass:
    """merges a product and what is computed of its result, which is stored for others, too"""
def FuseLoops() -> Pass:
    """makes kernels of loops whose steps are kernels"""
def FuseOps(fuse_opt_level: Any = ..., wrap_single: Any = ..., relay_rules: Any = ...) -> Pass:
    """groups calls of loop-level functions into Primitive functions"""
def FuseOpsByPattern(patterns: Any = ..., bind_constants: Any = ..., annotate_codegen: Any = ..., entry_functions: Any = ...) -> Pass:
    """makes what patterns match functions of their own, for libraries"""
def FuseProducts() -> Pass:
    """merges two products of which the second sums over the columns of the first"""
def FuseReductions() -> Pass:
    """merges the kernels of chains of reductions along the same rows"""
def FuseSiblings() -> Pass:
    """merges kernels that read the same tensor in the same order"""
def FuseTIR() -> Pass:
    """merges the loop-level functions of each Primitive function into one"""
def FuseWindows() -> Pass:
    """merges a product and the windows that slide over its result"""
def GenerateCode() -> Pass:
    """generates code for the current target and drops it: to reproduce errors of code generation"""
def HeadsToRows() -> Pass:
    """makes heads of one query that share keys rows of one head"""
def InlinePrivateFunctions() -> Pass:
    """puts the bodies of private functions in place of their calls"""
def IntegerProducts() -> Pass:
    """makes products of dequantised bytes with constant weights products of integers where the target is faster at it"""
def KillAfterLastUse() -> Pass:
    """says after its last use that a tensor or storage is dead"""
def LambdaLift() -> Pass:
    """makes local functions functions of the module"""
def LegalizeOps(skip_ops: Any = ..., enable_warning: Any = ...) -> Pass:
    """replaces operators by calls of loop-level functions"""
def LiftTransformParams(shared_transform: Any = ...) -> Pass:
    """moves what is computed from weights alone to functions that run once"""
def LowerAllocTensor() -> Pass:
    """turns what is left of builtin.alloc_tensor into a storage and a tensor in it"""
def LowerKernels() -> Pass:
    """keeps the loop-level functions alone, lowered for code generation"""
def MatmulToDense() -> Pass:
    """makes products with large constants that are transposed layers, whose weights stay as they lie"""
def MergeCompositeFunctions() -> Pass:
    """gathers neighbouring Composite functions of one library into functions for it"""
def Normalize() -> Pass:
    """brings functions that were built by hand into A-normal form"""
def PackWeights() -> Pass:
    """lays constant weights of convolutions and matrix products out for the kernels that read them"""
def PartitionFor(backend: Any = ..., quantized: Any = ...) -> Pass:
    """puts what a library computes into functions with the attribute Composite"""
def PrepareExternals() -> Pass:
    """gives libraries their constants to pack and calls of them the memory they need, on this machine"""
def PrintIR(header: Any = ...) -> Pass:
    """prints the module on standard error"""
def QuantizedWeights() -> Pass:
    """has products with constant weights of few bits read these as they are"""
def RecomputeProducers() -> Pass:
    """computes cheap values in every kernel that uses them instead of storing them"""
def RemovePurityChecking() -> Pass:
    """lets pure functions hold calls with side effects"""
def RemoveUnusedOutputs() -> Pass:
    """removes fields of private functions' results that nothing uses"""
def RemoveUnusedParameters() -> Pass:
    """removes parameters of private functions that nothing uses"""
def ResolveViews() -> Pass:
    """has loop-level functions access buffers themselves, not views of their data"""
def RewriteAttention(use_flash_mqa: Any = ...) -> Pass:
    """makes attention that is written out calls of nn.attention"""
def RewriteDataflowReshape() -> Pass:
    """makes views of kernels that only give their argument another shape"""
def RunCodegen(target_options: Any = ..., entry_functions: Any = ...) -> Pass:
    """has libraries' generators translate the functions that are marked for them"""
def ScheduleForCPU() -> Pass:
    """schedules every loop-level function for the current target"""
def SeparateOutputs() -> Pass:
    """gives each result of an injective kernel a kernel of its own where that fuses"""
def ShareKernels() -> Pass:
    """makes kernels that differ in numbers only one that takes them, where few runs are expected"""
def SinkDequantize() -> Pass:
    """moves what rearranges elements before their dequantisation, and drops quantisations that undo one"""
def StaticPlanBlockMemory() -> Pass:
    """places tensors in few storages that are reused"""
def TabulateBytes() -> Pass:
    """looks up in a table what is computed of one byte, and is one byte in the end"""
def ToNonDataflow() -> Pass:
    """opens every dataflow block"""
def TuneSchedules() -> Pass:
    """measures schedules of the kernels that take the most time, where seconds are given for that"""
def UnfoldLines() -> Pass:
    """makes what windows see of a line the channels of convolutions that have few of them, for a matrix unit"""
def VMShapeLower() -> Pass:
    """keeps shapes in a heap that calls of the run time match, fill and read"""
