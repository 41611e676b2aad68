import numpy as np
import pytest

import deuteron


@pytest.fixture
def artefact(path, tmp_path):
    file = tmp_path / "model.so"
    deuteron.compile(path).save(file)
    return file


def test_options_of_what_is_compiled(path, artefact, x):
    """They would have no effect: refused by name. A file takes those of `load`."""
    exe = deuteron.compile(path)
    for compiled in (exe, artefact, str(artefact)):
        for call in (deuteron.explain, lambda given, **options: deuteron.profile(given, [x], seconds=0, **options)):
            with pytest.raises(deuteron.UsageError, match="fuse, backend: what is compiled already"):
                call(compiled, fuse=False, backend="none")
            assert len(call(compiled).kernels) >= 1
    with pytest.raises(deuteron.UsageError, match="^threads: "):
        deuteron.profile(exe, [x], threads=1)
    assert deuteron.profile(artefact, [x], seconds=0, threads=1).threads == 1
    assert len(deuteron.explain(path, fuse=False).kernels) == 2


def test_options_of_what_is_compiled_again(path, artefact):
    """`verify` and `bisect` compile: options are in place of those that the executable was compiled with."""
    exe = deuteron.compile(path, opt_level=0)
    assert deuteron.verify(exe).ok and deuteron.verify(exe, opt_level=2).ok and deuteron.bisect(exe, opt_level=1).culprit == ""
    with pytest.raises(deuteron.UsageError, match="no opt_level 7"):
        deuteron.verify(exe, opt_level=7)
    for compiled in (artefact, deuteron.load(artefact)):
        with pytest.raises(deuteron.DeuteronError):
            deuteron.verify(compiled, opt_level=1)


def test_the_text_of_kernels(path):
    """Kept in an executable where it is asked for."""
    asked, not_asked = (deuteron.compile(path, backend="none", config=config) for config in ({"kernel_text": True}, {}))
    assert "@T.prim_func" in deuteron.explain(asked).html()
    assert "@T.prim_func" not in deuteron.explain(not_asked).html()


def test_a_report_in_a_notebook(path, x):
    for report in (deuteron.explain(path), deuteron.profile(path, [x], seconds=0), deuteron.verify(path), deuteron.bisect(path)):
        page = report._repr_html_()
        assert page.startswith(("<iframe", "<pre>")) and str(report) == report.text() and report.to_json().startswith("{")
        with pytest.raises(AttributeError, match="nothing; it has"):
            report.nothing


def test_wrong_numbers(path, x):
    """Refused by name, as the command's are."""
    for wrong in (-1, 2**63, 1.5, "one"):
        for call in (deuteron.verify, deuteron.bisect):
            with pytest.raises(deuteron.UsageError, match="^seed is a number"):
                call(path, seed=wrong)
    for wrong in (-1, float("nan"), float("inf"), None, "one"):
        with pytest.raises(deuteron.UsageError, match="^tolerance is a"):
            deuteron.verify(path, tolerance=wrong)
        with pytest.raises(deuteron.UsageError, match="^seconds is a"):
            deuteron.profile(path, [x], seconds=wrong)


def test_names_with_a_zero(path, tmp_path):
    """The system would take what stands before it for the name."""
    with pytest.raises(deuteron.ModelError, match="No such file"):
        deuteron.compile(f"{path}\0.onnx")
    with pytest.raises(deuteron.UsageError, match="Invalid argument"):
        deuteron.compile(path).save(f"{tmp_path}/model.so\0.so")
    assert not (tmp_path / "model.so").exists()


def test_what_is_no_module():
    with pytest.raises(deuteron.UsageError, match="^FuseOps takes an IRModule, not NoneType"):
        deuteron.transform.FuseOps()(None)
