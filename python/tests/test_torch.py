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


@pytest.fixture
def compiled():
    """`torch.compile` by the backend, for functions and modules."""
    if torch is None:
        pytest.skip(f"needs torch and onnxscript: {MISSING}")
    torch._dynamo.reset()
    return lambda what, **options: torch.compile(what, backend="deuteron", **options)


def test_numbers_of_a_function(compiled):
    """A number is none of the tensors' shapes: results of another are not taken for its."""
    repeat = compiled(lambda a, n: a.repeat(n, 1) * n, dynamic=True)
    for n in (2, 3, 4, 3):
        assert torch.equal(repeat(torch.ones(1, 3), n), torch.full((n, 3), float(n)))

    def branches(a, n):
        return a @ a + n if n > 2 else (a * a).sum()

    function, a = compiled(branches), torch.randn(4, 4)
    for n in (3, 1, 4, 5):
        close(function(a, n), branches(a, n))


def test_parameters_are_constants_until_they_change(compiled):
    module = torch.nn.BatchNorm1d(3).eval()
    function, x = compiled(module), torch.randn(2, 3)
    with torch.no_grad():
        for factor in (1, 2, 3, 4):
            module.weight.mul_(factor)
            module.running_mean.add_(factor)
            close(function(x), module(x))
        module.weight.data = torch.full((3,), 7.0)
        close(function(x), module(x))
    with torch.inference_mode():
        close(function(x), module(x))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("masked", ["", "keys", "pairs", "both"])
def test_the_fast_path_of_transformers(compiled, norm_first, masked):
    """PyTorch runs a layer of an encoder as one operator, which its exporter does not know."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 24, batch_first=True, norm_first=norm_first, activation="gelu").eval()
    x, masks = torch.randn(2, 5, 16), {}
    if masked in ("keys", "both"):
        masks["src_key_padding_mask"] = torch.tensor([[False] * 5, [False, False, False, True, True]])
    if masked in ("pairs", "both"):
        masks["src_mask"] = torch.ones(5, 5, dtype=torch.bool).triu(1)
    with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
        result = compiled(layer)(x, **masks)
        patch.setattr(torch.backends.mha, "get_fastpath_enabled", lambda: False)
        close(result, layer(x, **masks))


def test_graphs_that_pytorch_runs(compiled):
    def change(a):
        a.add_(1)
        return a * 2

    a = torch.ones(3)
    with pytest.warns(RuntimeWarning, match="cannot compile: .* would be changed in place"):
        result = compiled(change)(a)
    assert torch.equal(a, torch.full((3,), 2.0)) and torch.equal(result, torch.full((3,), 4.0))


def test_options_and_other_results(compiled):
    seen = []
    function = compiled(lambda a: (a + 1, None, a.shape[0], {"twice": a * 2}), options={"progress": seen.append, "threads": 1})
    one, none, size, named = function(torch.ones(3))
    assert seen and none is None and size == 3
    assert torch.equal(one, torch.full((3,), 2.0)) and torch.equal(named["twice"], torch.full((3,), 2.0))


def test_a_module_keeps_its_mode(network):
    network[1].train()
    deuteron.torch.compile(network, (torch.randn(2, 3, 6, 6),))
    assert network[1].training and not network[0].training
