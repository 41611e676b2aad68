"""PyTorch's modules, exported programs and `torch.compile`, by way of `torch.onnx.export`.

    exe = deuteron.torch.compile(module, (x,))
    faster = torch.compile(module, backend="deuteron", dynamic=False)  # after `import deuteron.torch`

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
    export it raises itself.
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
    program.save(buffer)
    return executable.compile(buffer.getvalue(), **options)


def backend(graph: Any, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """The backend "deuteron" of `torch.compile`: compiles each graph for the shapes of its inputs. Inference on the CPU only: an
    UnsupportedError for a graph whose inputs need gradients or whose shapes are not known."""
    torch = _torch()
    tensors = [each for each in example_inputs if isinstance(each, torch.Tensor)]
    if torch.is_grad_enabled() and any(each.requires_grad for each in tensors):
        raise UnsupportedError("the backend deuteron computes no gradients: call the module under torch.no_grad()")
    if len(tensors) < len(example_inputs):
        raise UnsupportedError("the backend deuteron compiles for known shapes: torch.compile(..., dynamic=False)")
    exe = compile(graph, example_inputs)

    def call(*inputs: Any) -> tuple[Any, ...]:
        return tuple(exe.run(*(each.detach() for each in inputs)))

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
