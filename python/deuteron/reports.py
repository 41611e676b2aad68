"""What fusion decided, where time goes, whether passes keep results, and which one does not."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Mapping, Sequence

from . import _arrays, _library
from .errors import UsageError
from .executable import Executable, Model, _dims, compile, compile_options, load, not_negative, read, seed_number
from .ir import IRModule

_SHOWN_NAME = "model"


class Report:
    """A report: its fields (those of the JSON) are attributes."""

    def __init__(self, data: dict[str, Any], text: str, page: str | None = None) -> None:
        self._data, self._text, self._page = data, text, page

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_data"][name]
        except KeyError:
            raise AttributeError(f"the report has no {name}; it has {', '.join(self.__dict__.get('_data', ()))}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self._data, indent=1, ensure_ascii=False)

    def text(self) -> str:
        """As the command prints it."""
        return self._text

    def __str__(self) -> str:
        return self._text

    def html(self) -> str:
        """One page that needs nothing else."""
        return self._page if self._page is not None else f"<pre>{html.escape(self._text)}</pre>"

    def _repr_html_(self) -> str:
        if self._page is None:
            return self.html()
        # A page of its own: its styles and scripts are not the notebook's.
        return f'<iframe srcdoc="{html.escape(self._page)}" width="100%" height="700" style="border:0"></iframe>'


def _name_of(model: Any) -> str:
    return os.fsdecode(model) if isinstance(model, (str, os.PathLike)) else _SHOWN_NAME


def _is_artefact(model: Any) -> bool:
    return isinstance(model, (str, os.PathLike)) and os.fsdecode(model).endswith(".so")


def _as_executable(model: Any, options: dict[str, Any]) -> Executable:
    """What was compiled takes no options of compiling: a UsageError that names them, as they would have no effect."""
    if not isinstance(model, Executable) and not _is_artefact(model):
        return compile(model, **options)
    heeded = ("threads", "verify_weights", "weights") if _is_artefact(model) else ()
    unheeded = ", ".join(name for name in options if name not in heeded)
    if unheeded:
        raise UsageError(f"{unheeded}: what is compiled already has no options of compiling; give the model, and it is compiled with them")
    return load(model, **options) if _is_artefact(model) else model


def explain(model: Model | Executable, *, shapes: Mapping[str, Sequence[int] | int] | None = None, **options: Any) -> Report:
    """What was fused, what not, why, and what would change it (docs/explain.md has the fields).

    Of a model, the passes are run with `options` as `compile` takes them; of an executable or a compiled .so, what was decided when
    it was compiled, and options are a UsageError (a .so takes those of `load`).
    """
    name = _name_of(model)
    if isinstance(model, Executable) or _is_artefact(model):
        forms = _library.function("explain_executable")(_as_executable(model, options), _dims(shapes), name)
    else:
        forms = _library.calling("explain_module")(*_read(model, shapes, options), name)
    return Report(json.loads(forms["json"]), forms["text"], forms["html"])


class Profile(Report):
    """`kernels`: each with its name, places, calls, microseconds, share, bytes, GB/s, GFLOP/s, roofline."""

    def __init__(self, data: dict[str, Any], text: str, trace: str) -> None:
        super().__init__(data, text)
        self._trace = trace

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the first runs for Perfetto and Chrome."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._trace)


def profile(model: Model | Executable, inputs: Mapping[str, Any] | Sequence[Any], *, seconds: float = 1.0, **options: Any) -> Profile:
    """Time, bytes and arithmetic of every kernel, beside what the machine can do; runs for at least `seconds`. Options as in
    `explain`."""
    executable = _as_executable(model, options)
    values = executable._ordered((inputs,) if isinstance(inputs, Mapping) else tuple(inputs), "inputs")
    tensors = executable._tensors(values)
    forms = _library.function("profile_executable")(executable, tensors, not_negative("seconds", seconds), _name_of(model))
    return Profile(json.loads(forms["json"]), forms["text"], forms["trace"])


def _stage_lines(stages: Sequence[Mapping[str, Any]]) -> str:
    return "".join(f"{stage['name']:<28} {stage['problem'] or 'error %f' % stage['error']}\n" for stage in stages)


class Verification(Report):
    """`stages`: each pass and the compiled code, with `name`, `error` (as a share of the greatest value), `problem`."""

    @property
    def ok(self) -> bool:
        """Whether no stage changed a result."""
        return not self.stages[-1]["problem"]


def _read(model: Any, shapes: Any, options: dict[str, Any]) -> tuple[IRModule, dict[str, Any]]:
    folder = options.pop("folder", "")
    return read(model, shapes, options.get("limits"), options.get("custom", ()), folder), compile_options(**options)


def _model_of(model: Any, shapes: Any, options: dict[str, Any]) -> tuple[IRModule, dict[str, Any]]:
    """The module of a model, or of what an executable was compiled from, with its options where others are not given."""
    if isinstance(model, Executable):
        model, given = model.source()
        options = {**given, **options}
        shapes = shapes or options.pop("shapes")
    options.pop("shapes", None)
    return _read(model, shapes, options)


def verify(
    model: Model | Executable, *, seed: int = 0, tolerance: float = 1e-4, shapes: Mapping[str, Sequence[int] | int] | None = None, **options: Any
) -> Verification:
    """Checks every pass and the compiled code against the interpreter on random inputs; stops at the first that differs. Of an
    executable, the model is compiled once more as it was then; a UsageError if it was loaded, or compiled from bytes."""
    data = json.loads(_library.calling("verify_module")(*_model_of(model, shapes, options), seed_number(seed), not_negative("tolerance", tolerance)))
    return Verification(data, _stage_lines(data["stages"]))


class Bisection(Report):
    """`culprit`: the first pass that changes the result, "" if none does; `kernel`, `value`, `place`: where; `reduced`: the least
    module that shows it, or None; `reduced_text`."""

    def __init__(self, data: dict[str, Any], text: str, reduced: IRModule | None) -> None:
        super().__init__(data, text)
        self.reduced = reduced


def bisect(
    model: Model | Executable, *, seed: int = 0, tolerance: float = 1e-4, shapes: Mapping[str, Sequence[int] | int] | None = None, **options: Any
) -> Bisection:
    """The first pass whose result differs, the kernel in which it does, and a reduced module that shows it. Executables as in
    `verify`."""
    forms, reduced = _library.calling("bisect_module")(*_model_of(model, shapes, options), seed_number(seed), not_negative("tolerance", tolerance))
    data = json.loads(forms)
    text = _stage_lines(data["stages"])
    text += f"\nfirst stage that differs: {data['culprit']}\n" if data["culprit"] else "no pass changes the result\n"
    return Bisection(data, text, reduced)
