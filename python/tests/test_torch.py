import numpy as np
import pytest

import deuteron
import deuteron.torch

try:
    import onnxscript  # noqa: F401
    import torch
except ImportError as error:
    torch = None
    MISSING = str(error)


def test_without_torch():
    if torch is not None:
        pytest.skip("torch is there")
    with pytest.raises(deuteron.UnsupportedError, match="pip install torch onnxscript"):
        deuteron.torch.compile(None)


@pytest.fixture
def network():
    if torch is None:
        pytest.skip(f"needs torch and onnxscript: {MISSING}")
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 5)
    ).eval()


def close(result, expected):
    # float32 sums of 288 products
    assert isinstance(result, torch.Tensor)
    assert np.allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_a_module(network):
    x = torch.randn(2, 3, 6, 6)
    [y] = deuteron.torch.compile(network, (x,), threads=1)(x)
    close(y, network(x))
    with pytest.raises(deuteron.UsageError, match="example_inputs"):
        deuteron.torch.compile(network)


def test_an_exported_program(network):
    batch = torch.export.Dim("batch", min=1, max=64)
    x = torch.randn(2, 3, 6, 6)
    program = torch.export.export(network, (x,), dynamic_shapes=({0: batch},))
    exe = deuteron.torch.compile(program)
    for size in (1, 2, 7):
        x = torch.randn(size, 3, 6, 6)
        close(exe(x)[0], network(x))


def test_backend(network):
    compiled = torch.compile(network, backend="deuteron", dynamic=False)
    with torch.no_grad():
        for size in (2, 4):
            x = torch.randn(size, 3, 6, 6)
            close(compiled(x), network(x))


def test_backend_of_varying_shapes(network):
    """After the second shape torch asks for one graph of all."""
    torch._dynamo.reset()
    compiled = torch.compile(network, backend="deuteron")
    with torch.no_grad():
        for size in (2, 4, 7, 3, 7):
            x = torch.randn(size, 3, 6, 6)
            close(compiled(x), network(x))


def test_changes_in_place(network):
    """Of what the module has made itself they are computed; of an input they are refused, since nobody would see them."""

    class Own(torch.nn.Module):
        def forward(self, a):
            b = a + 1
            b.mul_(3)
            return b

    class Input(torch.nn.Module):
        def forward(self, a):
            a.add_(1)
            return a * 2

    given = torch.ones(3)
    [result] = deuteron.torch.compile(Own(), (given,)).run(given)
    assert torch.equal(result, torch.full((3,), 6.0))
    with pytest.raises(deuteron.UnsupportedError, match="changed in place"):
        deuteron.torch.compile(Input(), (given,))
