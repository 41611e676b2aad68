"""Executables in the hands of processes, threads and coroutines, and the options that have to be refused."""

import asyncio
import copy
import gc
import os
import pickle
import subprocess
import sys
import time
import warnings
import weakref

import numpy as np
import pytest

import deuteron
from conftest import reference


@pytest.fixture(scope="module")
def exe(model):
    return deuteron.compile(model, threads=1)


def test_copies_are_the_same_and_pickles_are_refused(exe):
    assert copy.copy(exe) is exe and copy.deepcopy([exe])[0] is exe
    with pytest.raises(TypeError, match="save it to a file"):
        pickle.dumps(exe)


def test_executables_are_not_made_by_hand():
    with pytest.raises(TypeError, match="deuteron.compile"):
        deuteron.Executable()


def in_a_child(work):
    """The exit status of a forked process that does it; None if it hangs."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(2)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def test_forked_processes_run_in_other_threads(exe, x):
    exe.run_async(x).result(10)
    assert in_a_child(lambda: np.array_equal(exe.run_async(x).result(5)[0], reference(x))) == 0


def test_runs_are_awaited(exe, x):
    async def all_of_them():
        return await asyncio.gather(*(exe.run_async(x + i) for i in range(20)))

    for i, [y] in enumerate(asyncio.run(all_of_them())):
        assert np.array_equal(y, reference(x + i))

    async def wrong():
        await exe.run_async({"q": x})

    with pytest.raises(deuteron.UsageError, match='no input "q"'):
        asyncio.run(wrong())


def test_a_file_that_is_written_anew_is_another_model(model, x, tmp_path):
    """The kernels of both have the same name, and the files too."""
    path = tmp_path / "model.so"
    before = deuteron.compile(model, shapes={"n": 5}, threads=1)
    before.save(path)
    first = deuteron.load(path)
    assert np.array_equal(first(x)[0], reference(x))
    deuteron.compile(model, shapes={"n": 2}, threads=1).save(path)
    second = deuteron.load(path)
    guarded = np.full((4, 4), 7, np.float32)
    second.run(x[:2], out=[guarded[:2]])
    assert np.array_equal(guarded[:2], reference(x[:2])) and (guarded[2:] == 7).all()
    assert np.array_equal(second(x[:2])[0], reference(x[:2])) and np.array_equal(first(x)[0], reference(x))
    before.save(path)
    assert np.array_equal(deuteron.load(path)(x)[0], reference(x))


@pytest.mark.parametrize(
    "option, message",
    [
        ({"threads": -1}, "threads: -1"),
        ({"opt_level": 9}, "no opt_level 9"),
        ({"disabled_passes": ["Fuse"]}, 'no pass "Fuse"'),
        ({"required_passes": ["Fuse"]}, 'no pass "Fuse"'),
        ({"disabled_passes": "FuseOps"}, "a list of names"),
        ({"instruments": [3]}, "3 has none"),
        ({"shapes": {"n": -4}}, "dimension n cannot be -4"),
        ({"shapes": {"x": [None, 3]}}, "the shape of x is not of numbers"),
        ({"shapes": [(5, 3)]}, "shapes are a dictionary by name"),
        ({"limits": {"run_bytes": "much"}}, "the limit run_bytes is a number"),
        ({"opt_level": "2"}, "opt_level is a number, not '2'"),
        ({"backend": ["dnnl"]}, "backend is text, not"),
        ({"target": None}, "target is text, not None"),
        ({"progress": "plain"}, "progress is a function, not 'plain'"),
        ({"threads": 2**40}, "threads: 1099511627776 is no number"),
        ({"shapes": {"n": 2**70}}, "the shape of n is not of numbers of 64 bits"),
    ],
)
def test_options_that_are_refused(model, option, message):
    with pytest.raises(deuteron.UsageError, match=message):
        deuteron.compile(model, **option)


def test_what_cannot_be_run_on(exe, x, path, tmp_path):
    with pytest.raises(deuteron.UsageError, match='input "x": a tensor of (float128|longdouble)'):
        exe(x.astype(np.longdouble))
    exe.save(tmp_path / "model.so")
    for threads in ("2", 2**32):
        with pytest.raises(deuteron.UsageError, match="^threads"):
            deuteron.load(tmp_path / "model.so", threads=threads)


def test_results_that_would_be_written_over(exe, x):
    """Also for one who writes them by hand: an array whose elements share places holds no result."""
    for shared in (np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (5, 4), strides) for strides in ((4, 4), (0, 4), (16, 0))):
        with pytest.raises(deuteron.UsageError, match="several elements at one place"):
            exe.run(x, out=[shared])
    backwards = np.zeros((5, 8), np.float32)[::-1, ::-2]
    exe.run(x, out=[backwards])
    assert np.array_equal(backwards, reference(x))


def test_executables_in_a_cache(model):
    exe = deuteron.compile(model)
    known = weakref.WeakValueDictionary(model=exe)
    assert known["model"] is exe
    del exe
    gc.collect()
    assert not known


def test_numbers_of_numpy_are_numbers(model):
    assert deuteron.compile(model, shapes={"n": np.int64(4)}).inputs[0].shape == (4, 3)
    assert deuteron.compile(model, shapes={"x": np.array([4, 3])}, threads=np.int64(1)).inputs[0].shape == (4, 3)


def test_options_of_other_kinds(model):
    options = dict(disabled_passes={"FuseOps"}, required_passes=None, instruments=None, custom=None, config=None, limits={"run_bytes": "1Gi"})
    assert deuteron.compile(model, **options).num_kernels == 2


def test_paths_may_be_of_bytes(path, x):
    class Path:
        def __fspath__(self):
            return os.fsencode(path)

    assert np.array_equal(deuteron.compile(Path())(x)[0], reference(x))


def test_warnings_name_the_line_of_the_program(path, tmp_path):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        deuteron.compile(path, cache=path)
    assert [os.path.basename(each.filename) for each in seen] == ["test_lifetimes.py"]


@pytest.mark.parametrize("work", ["exe(x)", "deuteron.compile(model)"])
def test_the_process_ends_while_a_daemon_thread_works(model, tmp_path, work):
    """By itself, not by a signal: the thread is not unwound through the library."""
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    program = f"""
import threading, time
import numpy as np
import deuteron
model = {str(tmp_path / "model.onnx")!r}
exe, x = deuteron.compile(model), np.ones((64, 3), np.float32)
def loop():
    while True:
        {work}
threading.Thread(target=loop, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        start = time.monotonic()
        assert subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).returncode == 0
        # Nobody waits for calls that will not be made.
        assert time.monotonic() - start < 30
