"""PyTorch's modules, exported programs and `torch.compile`, by way of `torch.onnx.export`.

    exe = deuteron.torch.compile(module, (x,))
    faster = torch.compile(module, backend="deuteron")  # after `import deuteron.torch`

Needs the packages torch and onnxscript. Tensors go in and out without copies where they are contiguous and in the CPU's memory.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import executable
from .errors import UnsupportedError, UsageError
from .executable import Executable


def _torch() -> Any:
    try:
        import onnxscript  # noqa: F401
        import torch
    except ImportError as error:
        raise UnsupportedError(f"deuteron.torch needs the package {error.name}: pip install torch onnxscript") from None
    return torch


@contextlib.contextmanager
def _for_inference(model: Any) -> Iterator[None]:
    """In evaluation mode; afterwards as it was."""
    before = [(each, each.training) for each in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for each, training in before:
            each.training = training


@contextlib.contextmanager
def _without_notes() -> Iterator[None]:
    """torch's exporter tells each time that torchvision is not there, which no operator of the model needs."""
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def compile(
    model: Any,
    example_inputs: Sequence[Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    **options: Any,
) -> Executable:
    """An executable of an `nn.Module` or of a `torch.export`ed program.

    example_inputs: tensors that the module is traced with, in the order of its parameters; a program has its own. dynamic_shapes: as
    `torch.export.export` takes them. options: those of `deuteron.compile`. A UsageError of a module without inputs; what torch cannot
    export it raises itself. An UnsupportedError of a module that changes an input or a buffer in place: an executable changes none.
    """
    torch = _torch()
    if not isinstance(model, torch.export.ExportedProgram) and example_inputs is None:
        raise UsageError("a module is traced with example_inputs; only exported programs have their own")
    buffer = io.BytesIO()
    mode = _for_inference(model) if isinstance(model, torch.nn.Module) else contextlib.nullcontext()
    with mode, torch.no_grad(), _without_notes():
        program = torch.onnx.export(model, tuple(example_inputs or ()), dynamo=True, verbose=False, dynamic_shapes=dynamic_shapes)
    signature = program.exported_program.graph_signature
    if changed := [*signature.user_inputs_to_mutate.values(), *signature.buffers_to_mutate.values()]:
        raise UnsupportedError(f"{', '.join(changed)} would be changed in place, which an executable does not do: return the new value")
    program.save(buffer)
    return executable.compile(buffer.getvalue(), **options)


def _state(tensor: Any) -> tuple[Any, ...]:
    """What changes as the elements do."""
    return tensor.data_ptr(), tensor._version, tuple(tensor.shape)


class _Compiled:
    """A graph of `torch.compile`.

    Parameters and buffers are constants of an executable as long as they are not changed, so that their layouts are chosen and what
    depends on them alone is computed once. Those that change more than once are its inputs. Numbers are constants, too: there is an
    executable for each combination of numbers and shapes that is met, of which the last few are kept.
    """

    KEPT = 16

    def __init__(self, graph: Any, example_inputs: Sequence[Any], options: Mapping[str, Any]) -> None:
        self.torch = _torch()
        self.graph, self.options = graph, dict(options)
        self.changes = {
            index: 0
            for index, each in enumerate(example_inputs)
            if getattr(each, "_dynamo_static_input_type", None) is not None and not each.is_inference()
        }
        self.states: dict[int, tuple[Any, ...]] = {}
        self.made: dict[Any, Callable[..., Any]] = {}
        if all(isinstance(each, self.torch.Tensor) for each in example_inputs):
            self(*example_inputs, run=False)

    def _frozen(self, inputs: Sequence[Any]) -> frozenset[int]:
        for index, changes in self.changes.items():
            state = _state(inputs[index])
            if self.states.setdefault(index, state) != state:
                self.states[index], self.changes[index] = state, changes + 1
                self.made.clear()
        return frozenset(index for index, changes in self.changes.items() if changes < 2)

    def __call__(self, *inputs: Any, run: bool = True) -> Any:
        frozen = self._frozen(inputs)
        tensors = [each.detach() for index, each in enumerate(inputs) if isinstance(each, self.torch.Tensor) and index not in frozen]
        numbers = tuple((type(each), each) for each in inputs if not isinstance(each, self.torch.Tensor))
        key = (frozen, numbers, tuple((tuple(each.shape), each.dtype) for each in tensors))
        call = self.made.pop(key, None)
        if call is None:
            try:
                call = self._make(inputs, frozen, tensors)
            except Exception as error:
                reason = str(error.__cause__ or error).partition("\n")[0]
                warnings.warn(f"PyTorch runs a graph that the backend deuteron cannot compile: {reason}", RuntimeWarning, stacklevel=2)
                call = None
        # The order in which they were last used.
        self.made[key] = call or self._eager
        while len(self.made) > self.KEPT:
            self.made.pop(next(iter(self.made)))
        return self.made[key](inputs, tensors) if run else None

    def _eager(self, inputs: Sequence[Any], tensors: Sequence[Any]) -> Any:
        return self.graph(*inputs)

    def _make(self, inputs: Sequence[Any], frozen: frozenset[int], tensors: Sequence[Any]) -> Callable[..., Any]:
        torch = self.torch
        graph, others = self.graph, []

        class Traced(torch.nn.Module):  # type: ignore[misc, name-defined]
            """The graph as a function of `tensors` that gives tensors; its other results are in `others`."""

            def __init__(self) -> None:
                super().__init__()
                self.graph = graph
                for index in frozen:
                    self.register_buffer(f"constant{index}", inputs[index].detach(), persistent=False)

            def forward(self, *given: Any) -> Any:
                waiting = iter(given)

                def value(index: int, each: Any) -> Any:
                    if index in frozen:
                        return getattr(self, f"constant{index}")
                    return next(waiting) if isinstance(each, torch.Tensor) else each

                results = self.graph(*(value(index, each) for index, each in enumerate(inputs)))
                others[:] = [None if isinstance(each, torch.Tensor) else (each,) for each in results]
                return tuple(each for each in results if isinstance(each, torch.Tensor))

        # What torch.compile knows of the program around is not about this module.
        with torch._guards.tracing(None):
            made = compile(Traced(), tensors, **self.options)

        def call(inputs: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
            results = iter(made.run(*tensors))
            return tuple(next(results) if each is None else each[0] for each in others)

        return call


def backend(graph: Any, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The backend "deuteron" of `torch.compile`: compiles each graph for the shapes and numbers that it meets, with its parameters as
    constants; those that are changed are seen, but not changes through `.data`. `options` are those of `deuteron.compile`.

    A graph that cannot be compiled, or that changes an input in place, PyTorch runs itself, after a warning. Inference on the CPU
    only: an UnsupportedError for a graph whose inputs need gradients.
    """
    torch = _torch()
    if torch.is_grad_enabled() and any(isinstance(each, torch.Tensor) and each.requires_grad for each in example_inputs):
        raise UnsupportedError("the backend deuteron computes no gradients: call the module under torch.no_grad()")
    _spell_out(graph)
    return _Compiled(graph, example_inputs, options or {})


def _attention(
    query: Any, key: Any, value: Any, embed_dim: int, num_head: int, qkv_weight: Any, qkv_bias: Any, proj_weight: Any, proj_bias: Any,
    mask: Any = None, need_weights: bool = True, average_attn_weights: bool = True, mask_type: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """torch._native_multi_head_attention, which the exporter does not know."""
    torch = _torch()
    linear = torch.nn.functional.linear
    batch, length, head = query.shape[0], query.shape[1], embed_dim // num_head
    projected = [
        linear(each, weight, bias).reshape(batch, each.shape[1], num_head, head).transpose(1, 2)
        for each, weight, bias in zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))
    ]
    if mask is not None and mask_type == 1:  # of keys; else of pairs, or of pairs of each head
        mask = mask.reshape(batch, 1, 1, -1)
    scores = projected[0] @ projected[1].transpose(-1, -2) / head**0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1)
    result = linear((weights @ projected[2]).transpose(1, 2).reshape(batch, length, embed_dim), proj_weight, proj_bias)
    if not need_weights:
        return result, None
    return result, weights.mean(1) if average_attn_weights else weights


def _encoder_layer(
    src: Any, embed_dim: int, num_heads: int, qkv_weight: Any, qkv_bias: Any, proj_weight: Any, proj_bias: Any, use_gelu: bool,
    norm_first: bool, eps: float, norm_weight_1: Any, norm_bias_1: Any, norm_weight_2: Any, norm_bias_2: Any, ffn_weight_1: Any,
    ffn_bias_1: Any, ffn_weight_2: Any, ffn_bias_2: Any, mask: Any = None, mask_type: int | None = None,
) -> Any:  # fmt: skip
    """torch._transformer_encoder_layer_fwd, which the exporter does not know."""
    F = _torch().nn.functional

    def attend(x: Any) -> Any:
        arguments = (embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)
        return _attention(x, x, x, *arguments)[0]

    def feed(x: Any) -> Any:
        inner = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(inner) if use_gelu else F.relu(inner), ffn_weight_2, ffn_bias_2)

    def norm(x: Any, weight: Any, bias: Any) -> Any:
        return F.layer_norm(x, (embed_dim,), weight, bias, eps)

    if norm_first:
        x = src + attend(norm(src, norm_weight_1, norm_bias_1))
        return x + feed(norm(x, norm_weight_2, norm_bias_2))
    x = norm(src + attend(src), norm_weight_1, norm_bias_1)
    return norm(x + feed(x), norm_weight_2, norm_bias_2)


def _spell_out(graph: Any) -> None:
    """Operators that PyTorch has for its own fast path become those that they are made of."""
    torch = _torch()
    made_of = {torch._native_multi_head_attention: _attention, torch._transformer_encoder_layer_fwd: _encoder_layer}
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.target in made_of:
            node.target = made_of[node.target]
    graph.recompile()


def register() -> None:
    """Makes "deuteron" a name of a backend of `torch.compile`; done on import where torch is there."""
    import torch._dynamo

    if "deuteron" not in torch._dynamo.list_backends(exclude_tags=()):
        torch._dynamo.register_backend(compiler_fn=backend, name="deuteron")


try:
    register()
except ImportError:
    # Without torch the functions above say what is missing.
    pass
