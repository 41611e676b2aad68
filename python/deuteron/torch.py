"""PyTorch's modules, exported programs and `torch.compile`, by way of `torch.onnx.export`.

    exe = deuteron.torch.compile(module, (x,))
    faster = torch.compile(module, backend="deuteron")  # after `import deuteron.torch`

Needs the packages torch and onnxscript. Tensors go in and out without copies where they are contiguous and in the CPU's memory.
"""

from __future__ import annotations

import io
from typing import Any, Callable, Sequence

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
    if isinstance(model, torch.nn.Module):
        model = model.eval()
    buffer = io.BytesIO()
    arguments = tuple(example_inputs or ())
    with torch.no_grad():
        program = torch.onnx.export(model, arguments, dynamo=True, verbose=False, dynamic_shapes=dynamic_shapes)
    signature = program.exported_program.graph_signature
    if changed := [*signature.user_inputs_to_mutate.values(), *signature.buffers_to_mutate.values()]:
        raise UnsupportedError(f"{', '.join(changed)} would be changed in place, which an executable does not do: return the new value")
    program.save(buffer)
    return executable.compile(buffer.getvalue(), **options)


def backend(graph: Any, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """The backend "deuteron" of `torch.compile`: compiles each graph for the shapes of its inputs, one whose shapes vary for each that
    it meets. Inference on the CPU only: an UnsupportedError for a graph whose inputs need gradients, or that changes one in place."""
    torch = _torch()
    is_tensor = [isinstance(each, torch.Tensor) for each in example_inputs]
    if torch.is_grad_enabled() and any(each.requires_grad for each, tensor in zip(example_inputs, is_tensor) if tensor):
        raise UnsupportedError("the backend deuteron computes no gradients: call the module under torch.no_grad()")
    compiled: dict[Any, Executable] = {}
    if all(is_tensor):
        compiled[None] = compile(graph, example_inputs)

    class Fixed(torch.nn.Module):  # type: ignore[misc, name-defined]
        """The graph with its numbers, which are sizes, as constants."""

        def __init__(self, given: Sequence[Any]) -> None:
            super().__init__()
            self.graph, self.given = graph, [None if tensor else each for each, tensor in zip(given, is_tensor)]

        def forward(self, *tensors: Any) -> Any:
            waiting = iter(tensors)
            return self.graph(*(next(waiting) if each is None else each for each in self.given))

    def call(*inputs: Any) -> tuple[Any, ...]:
        tensors = [each.detach() for each, tensor in zip(inputs, is_tensor) if tensor]
        key = None if all(is_tensor) else tuple(tuple(each.shape) for each in tensors)
        if key not in compiled:
            compiled[key] = compile(Fixed(inputs), tensors)
        return tuple(compiled[key].run(*tensors))

    return call


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
