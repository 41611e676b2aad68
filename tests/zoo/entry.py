"""What the zoo knows of an architecture before it is exported."""

import dataclasses
from typing import Callable

import torch


@dataclasses.dataclass(frozen=True)
class Entry:
    """`build` makes the module with random weights; `inputs(k)` its keyword arguments, the k-th of three. `dynamic`, by
    argument, names axes whose extents differ between them; without it all three have one shape. `loosest` is the
    tolerance where the architecture amplifies rounding (a reason stands beside its use)."""

    name: str
    build: Callable[[], torch.nn.Module]
    inputs: Callable[[int], dict]
    dynamic: dict | None = None
    tolerance: float = 1e-4

    @property
    def form(self):
        return "dynamic" if self.dynamic else "static"


def seeded(make):
    """A function of k that draws from a generator seeded by k."""

    def inputs(k):
        torch.manual_seed(100 + k)
        return make(k)

    return inputs


class Unwrapped(torch.nn.Module):
    """A module that returns tensors: of a model's output object those entries that are tensors, or what `pick` takes."""

    def __init__(self, module, pick=None):
        super().__init__()
        self.module, self.pick = module, pick

    def forward(self, **arguments):
        result = self.module(**arguments)
        if self.pick is not None:
            return self.pick(result)
        if hasattr(result, "to_tuple"):
            result = result.to_tuple()
        return tensors_of(result)


class Applied(torch.nn.Module):
    """The tensors that `function(module, **arguments)` gives, by default those of the module for its arguments in order."""

    def __init__(self, module, function=lambda module, **arguments: module(*arguments.values())):
        super().__init__()
        self.module, self.function = module, function

    def forward(self, **arguments):
        return tensors_of(self.function(self.module, **arguments))


def tensors_of(value):
    """The tensors of nested tuples, lists and dictionaries, in order."""
    if isinstance(value, torch.Tensor):
        return (value,)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return tuple(tensor for item in value for tensor in tensors_of(item))
    return ()
