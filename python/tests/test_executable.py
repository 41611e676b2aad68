import concurrent.futures
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import onnx
import pytest
import tvm_ffi
from onnx import TensorProto, helper

import deuteron
from conftest import reference


@pytest.fixture(scope="module")
def exe(model):
    return deuteron.compile(model, threads=1)


def test_kinds_of_models(model, path, x):
    for given in (str(path), path, model, model.SerializeToString(), deuteron.read(path)):
        [y] = deuteron.compile(given)(x)
        assert np.array_equal(y, reference(x))


def test_limits(model, path, x):
    for given in (path, model, deuteron.read(path)):
        [y] = deuteron.compile(given, limits={"nodes": 100, "run_bytes": 80})(x)
        assert np.array_equal(y, reference(x))
        with pytest.raises(deuteron.UnsupportedError, match="limit run_bytes=79"):
            deuteron.compile(given, limits={"run_bytes": 79})(x)
    with pytest.raises(deuteron.UnsupportedError, match="limit nodes=0"):
        deuteron.compile(path, limits={"nodes": 0})
    with pytest.raises(deuteron.UsageError, match='no limit "node"; did you mean "nodes"'):
        deuteron.compile(path, limits={"node": 1})


def test_inputs_and_outputs(exe):
    assert exe.inputs == [deuteron.TensorInfo("x", "float32", ("n", 3))]
    assert exe.outputs == [deuteron.TensorInfo("y", "float32", ("n", 4))]
    assert exe.num_kernels == 1 and exe.backend == "none" and exe.threads == 1
    assert repr(exe) == "deuteron.Executable((x: float32[n, 3]) -> (y: float32[n, 4]))"


def test_layouts_of_inputs(exe, x):
    frozen = x.copy()
    frozen.flags.writeable = False
    swapped = x.astype(x.dtype.newbyteorder())
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, 0)[::2], x[::-1], frozen, frozen[:, ::-1], swapped, x.tolist()):
        assert np.array_equal(exe(given)[0], reference(np.asarray(given, np.float32)))


def test_any_array_with_dlpack_gives_tensors(exe, x):
    [y] = exe(tvm_ffi.from_dlpack(x))
    assert isinstance(y, tvm_ffi.Tensor)
    assert np.array_equal(np.from_dlpack(y), reference(x))


def test_torch_gives_torch_without_a_copy(exe, x):
    torch = pytest.importorskip("torch")
    given = torch.from_numpy(x).requires_grad_()
    result = torch.empty((5, 4))
    [y] = exe(given)
    assert isinstance(y, torch.Tensor) and np.array_equal(y.numpy(), reference(x))
    address = result.data_ptr()
    [same] = exe.run(given, out=[result])
    assert same is result and result.data_ptr() == address and np.array_equal(result.numpy(), reference(x))


def test_memory_of_results():
    """The library's is aligned, so that it is read and written in place; none is given away twice."""
    module = deuteron.script.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1024, 1024), "float32")) -> R.Tensor((1024, 1024), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
""")
    exe = deuteron.compile(module)
    [given] = exe(np.ones((1024, 1024), np.float32))  # of the library's memory: aligned
    [result] = exe(given)
    assert not np.shares_memory(given, result) and (result == 4).all()
    address = result.ctypes.data
    [same] = exe.run(given, out=[result])
    assert same.ctypes.data == address and given.ctypes.data % 64 == 0 and (result == 4).all()


def aligned(array):
    """The same elements at an address that is a multiple of 64."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    result = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_kernels_see_the_callers_memory(library):
    """A function that is called within a run is given the addresses of the caller's arrays, in and out."""

    @tvm_ffi.register_global_func("tests.addresses", override=True)
    def addresses(x, out):
        seen.append((x.data_ptr(), out.data_ptr()))
        np.from_dlpack(out)[:] = np.from_dlpack(x)

    seen = []
    exe = deuteron.compile(deuteron.script.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((64, 64), "float32")) -> R.Tensor((64, 64), "float32"):
        y = R.call_dps_packed("tests.addresses", (x,), out_ty=R.Tensor((64, 64), "float32"))
        return y
"""))
    given, result = aligned(np.ones((64, 64), np.float32)), aligned(np.zeros((64, 64), np.float32))
    address = lambda array: array.ctypes.data  # noqa: E731
    if library == "torch":
        torch = pytest.importorskip("torch")
        given, result = torch.from_numpy(given), torch.from_numpy(result)
        address = lambda tensor: tensor.data_ptr()  # noqa: E731
    [same] = exe.run(given, out=[result])
    assert same is result and seen.pop() == (address(given), address(result)) and (same == 1).all()
    [fresh] = exe.run(given)
    assert seen.pop() == (address(given), address(fresh)) and type(fresh) is type(given)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    module = deuteron.script.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "bfloat16")) -> R.Tensor((3,), "bfloat16"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
""")
    x = np.array([1, 2, 3], ml_dtypes.bfloat16)
    [y] = deuteron.compile(module)(x)
    assert y.dtype == x.dtype and np.array_equal(y, x + x)


def test_out(exe, x):
    result = np.empty((5, 4), np.float32)
    assert exe.run(x, out=[result])[0] is result
    assert np.array_equal(result, reference(x))
    gaps = np.zeros((5, 8), np.float32)
    exe.run({"x": x}, out={"y": gaps[:, ::2]})
    assert np.array_equal(gaps[:, ::2], reference(x)) and not gaps[:, 1::2].any()
    with pytest.raises(deuteron.UsageError, match=r"float32\[5, 4\].*float32\[5, 5\]"):
        exe.run(x, out=[np.empty((5, 5), np.float32)])
    frozen = np.empty((5, 4), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(deuteron.UsageError, match="cannot be written"):
        exe.run(x, out=[frozen])
    with pytest.raises(deuteron.UsageError, match="bytes are in another order"):
        exe.run(x, out=[np.empty((5, 4), np.dtype(np.float32).newbyteorder())])
    with pytest.raises(deuteron.UsageError, match="out is a list"):
        exe.run(x, out=np.empty((5, 4), np.float32))


def test_out_may_overlap_an_input(exe, x):
    memory = np.zeros(27, np.float32)
    memory[5:20] = x.ravel()
    given, result = memory[5:20].reshape(5, 3), memory[:20].reshape(5, 4)
    exe.run(given, out=[result])
    assert np.array_equal(result, reference(x)) and not memory[20:].any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (({"z": 1},), 'the model has no input "z"; its inputs are "x"'),
        (({},), 'input "x" is missing; the model\'s inputs are "x"'),
        ((1, 2), 'the model has 1 input ("x"), given 2'),
        ((np.zeros((5, 3), np.int32),), "input 'x': expected dtype float32, got int32[5, 3]"),
        ((np.array(["text"]),), 'input "x": a tensor of <U4; tensors hold real numbers'),
        ((np.zeros((5, 3), np.complex64),), 'input "x": a tensor of complex64; tensors hold real numbers'),
        ((None,), 'input "x": None is no tensor of float32'),
        (("text",), 'input "x": str is no tensor of float32'),
        ((bytes(1 << 20),), 'input "x": bytes is no tensor of float32; numpy.frombuffer makes one of bytes'),
        ((object(),), 'input "x": float() argument'),
    ],
)
def test_inputs_that_are_refused(exe, arguments, message):
    with pytest.raises(deuteron.UsageError) as error:
        exe.run(*arguments)
    assert str(error.value).startswith(message)
    assert isinstance(error.value, ValueError)


def test_models_that_are_refused(tmp_path, path):
    for given, kind in (
        (tmp_path / "none.onnx", deuteron.ModelError),
        (b"text", deuteron.ModelError),
        (3, deuteron.UsageError),
        ("model.so", deuteron.UsageError),
    ):
        with pytest.raises(kind):
            deuteron.compile(given)
    with pytest.raises(deuteron.UsageError, match="nonsense"):
        deuteron.compile(path, target="nonsense")
    with pytest.raises(deuteron.UsageError, match="neither an input nor a symbolic dimension"):
        deuteron.compile(path, shapes={"q": (1, 2)})


def test_shapes(path):
    assert deuteron.compile(path, shapes={"x": (7, 3)}).inputs[0].shape == (7, 3)
    assert deuteron.compile(path, shapes={"n": 7}).inputs[0].shape == (7, 3)


def test_saved_and_loaded(exe, x, tmp_path):
    exe.save(tmp_path / "model.so")
    loaded = deuteron.load(tmp_path / "model.so", threads=1, verify_weights=True)
    assert np.array_equal(loaded(x)[0], reference(x))
    loaded.save(tmp_path / "again.so")
    assert np.array_equal(deuteron.load(tmp_path / "again.so")(x)[0], reference(x))
    with pytest.raises(deuteron.ModelError, match="none.so"):
        deuteron.load(tmp_path / "none.so")


def test_saved_without_weights(exe, x, tmp_path):
    exe.save(tmp_path / "model.so", weights=tmp_path / "weights.safetensors")
    assert np.array_equal(deuteron.load(tmp_path / "model.so", verify_weights=True)(x)[0], reference(x))
    os.rename(tmp_path / "weights.safetensors", tmp_path / "moved.safetensors")
    with pytest.raises(deuteron.ModelError, match="weights.safetensors, which does not exist"):
        deuteron.load(tmp_path / "model.so")
    assert np.array_equal(deuteron.load(tmp_path / "model.so", weights=tmp_path / "moved.safetensors")(x)[0], reference(x))


def test_threads_run_one_executable(exe):
    def often(seed):
        for i in range(100):
            x = np.full((seed + 1, 3), i % 7, np.float32)
            assert np.array_equal(exe(x)[0], reference(x))
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(often, range(8)))
    assert np.array_equal(exe.run_async(np.ones((2, 3), np.float32)).result()[0], reference(np.ones((2, 3))))


def test_no_memory_is_kept(exe):
    """Of 10,000 runs."""
    if "libclang_rt.asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer keeps what is freed for a while")

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    x = np.ones((256, 3), np.float32)  # 4 KiB of results a run: a leak of them would be 40 MiB
    for _ in range(1000):
        exe(x)
    before = resident()
    for _ in range(10000):
        exe(x)
    assert resident() - before < 4 << 20


def test_other_threads_run_meanwhile(exe):
    """The library's functions hold no lock of Python's: in 0.3 s of one of them, another thread has its turns."""
    stop, turns = threading.Event(), []

    def count():
        while not stop.wait(0.001):
            turns.append(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(turns)
    try:
        deuteron.profile(exe, [np.ones((4, 3), np.float32)], seconds=0.3)
        during = len(turns) - before
    finally:
        stop.set()
        thread.join()
    assert during >= 5


def test_cache(path, model, x, tmp_path):
    """Of paths, models and sessions: what was compiled before generates no code."""

    def stages(given, **options):
        seen = []
        [y] = deuteron.compile(given, progress=seen.append, **options)(x)
        assert np.array_equal(y, reference(x))
        return seen

    folder = tmp_path / "cache"
    assert "generating code" in stages(path, cache=folder)
    for given in (path, model, model.SerializeToString(), deuteron.read(path)):
        assert "generating code" not in stages(given, cache=str(folder))
        assert "generating code" in stages(given)
    entries = sorted(folder.glob("*.so"))
    session = deuteron.InferenceSession(str(path), cache=folder)
    assert np.array_equal(session.run(None, {"x": x})[0], reference(x)) and sorted(folder.glob("*.so")) == entries
    unwritable = tmp_path / "file"
    unwritable.write_text("")
    with pytest.warns(RuntimeWarning, match="file"):
        stages(path, cache=unwritable)


def test_the_users_cache(path, tmp_path):
    program = f"import deuteron; deuteron.compile({str(path)!r}, cache=True)"
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "DEUTERON_CACHE": str(tmp_path / "mine")})
    assert list((tmp_path / "mine").glob("*.so"))


def test_custom_operators(tmp_path):
    text = """
@I.ir_module
class Mine:
    @R.function
    def lift(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"onnx_operator": "mine::Lift"})
        n = T.int64()
        with R.dataflow():
            y: R.Tensor((n,), "float32") = R.add(x, R.const(2.0, "float32"))
            R.output(y)
        return y
"""
    (tmp_path / "mine.py").write_text(text)
    node = helper.make_node("Lift", ["x"], ["y"], domain="mine")
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy"]
    made = helper.make_model(
        helper.make_graph([node], "g", sides[:1], sides[1:]), opset_imports=[helper.make_opsetid("mine", 1), helper.make_opsetid("", 17)]
    )
    with pytest.raises(deuteron.UnsupportedError, match="Lift"):
        deuteron.compile(made)
    onnx.save(made, tmp_path / "model.onnx")
    for given in (made, tmp_path / "model.onnx"):
        for custom in (tmp_path / "mine.py", deuteron.script.parse(text)):
            assert np.array_equal(deuteron.compile(given, custom=[custom])(np.zeros(3, np.float32))[0], [2, 2, 2])
        assert deuteron.explain(given, custom=[tmp_path / "mine.py"]).operators == 1
    with pytest.raises(deuteron.UsageError, match="not mine.txt"):
        deuteron.compile(made, custom=["mine.txt"])
    with pytest.raises(deuteron.UsageError, match="none.so"):
        deuteron.compile(made, custom=[tmp_path / "mine.py", "none.so"])


def test_progress_ends_a_compilation(model):
    class Enough(Exception):
        pass

    stages = []

    def progress(stage):
        stages.append(stage)
        if stage == "fusing operators":
            raise Enough("of it")

    with pytest.raises(Enough, match="of it"):
        deuteron.compile(model, progress=progress)
    assert stages[-1] == "fusing operators"


def test_interrupt_ends_a_compilation(path):
    program = textwrap.dedent(f"""
        import os, signal, deuteron
        try:
            deuteron.compile({str(path)!r}, progress=lambda stage: os.kill(os.getpid(), signal.SIGINT))
        except KeyboardInterrupt:
            print("ended")
    """)
    assert signal.getsignal(signal.SIGINT) is not None
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "ended\n"


def test_interrupt_ends_the_generation_of_code():
    """Which is one stage, and long: seconds of it are not waited for."""
    lines = "".join(f"            y{i} = R.nn.softmax(R.tanh(R.sum(x, axis=[{i % 3}])), axis=-1)\n" for i in range(3))
    lines += "".join(f"            z{i} = R.nn.softmax(R.multiply(x, R.const({i}.5, 'float32')), axis={i % 3})\n" for i in range(240))
    names = ", ".join([f"y{i}" for i in range(3)] + [f"z{i}" for i in range(240)])
    module = f"""@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 24, 40), "float32")):
        with R.dataflow():
{lines}            out = ({names})
            R.output(out)
        return out
"""
    program = textwrap.dedent("""
        import os, signal, sys, threading, time, deuteron

        module = deuteron.script.parse(sys.stdin.read())
        begins = []

        def compile(interrupt):
            def progress(stage):
                if stage == "generating code":
                    begins.append(time.monotonic())
                    if interrupt:
                        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            deuteron.compile(module, backend="none", threads=1, progress=progress)

        compile(False)
        whole = time.monotonic() - begins[-1]
        try:
            compile(True)
        except KeyboardInterrupt:
            print(whole, time.monotonic() - begins[-1])
    """)
    result = subprocess.run([sys.executable, "-c", program], input=module, capture_output=True, text=True, check=True)
    whole, ended = map(float, result.stdout.split())
    assert ended < whole / 2, result.stdout


def test_one_copy_of_tvm_ffi():
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "/libtvm_ffi.so" in line}
    assert len(files) == 1, files


def test_many_models_share_one_pool(path, tmp_path):
    """Each is a file of its own; what they are loaded and run with besides is there once."""

    def run(count):
        return textwrap.dedent(f"""
            import os, numpy as np, deuteron
            loaded = [deuteron.load({str(tmp_path)!r} + f"/{{i}}.so") for i in range({count})]
            for exe in loaded:
                exe(np.ones((4096, 3), np.float32))
            print(len(os.listdir("/proc/self/task")), len({{id(exe) for exe in loaded}}))
        """)

    exe = deuteron.compile(path, threads=2)
    for i in range(12):
        exe.save(tmp_path / f"{i}.so")
    one, many = (subprocess.run([sys.executable, "-c", run(count)], capture_output=True, text=True, check=True).stdout.split() for count in (1, 12))
    assert many[1] == "12" and one[0] == many[0]


def test_the_library_of_a_loaded_model_is_opened_meanwhile(path, x, tmp_path):
    """Whoever runs it finds it there; a process that is forked in that moment can use it, too."""
    deuteron.compile(path, backend="dnnl").save(tmp_path / "model.so")
    program = textwrap.dedent(f"""
        import os, time, numpy as np, deuteron
        x = np.arange(-7, 8, dtype=np.float32).reshape(5, 3)
        exe = deuteron.load({str(tmp_path)!r} + "/model.so")
        if (child := os.fork()) == 0:
            os._exit(0 if exe(x)[0].shape == (5, 4) else 1)
        def is_open():
            with open("/proc/self/maps") as maps:
                return "/libdnnl.so" in maps.read()
        until = time.monotonic() + 60
        while not is_open() and time.monotonic() < until:
            time.sleep(0.01)
        print(is_open(), os.waitpid(child, 0)[1], exe(x)[0].sum())
    """)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.split() == ["True", "0", str(np.float32(reference(x).sum()))], ran.stdout
