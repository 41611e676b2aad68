"""The process that runs networks (serve_networks.cc): started where there is none, ended where it hangs."""

import contextlib
import os
import pathlib
import resource
import select
import shutil
import subprocess
import tempfile
import time

import numpy as np
import onnx

MEMORY = 8 << 30
# A process hangs that has worked this long for one answer, in seconds of its processors' time: a machine that is busy with
# something else makes nothing hang. One that waits for itself works no more: for that the clock counts.
WORK = 120
WAIT = 900


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def is_sanitized(program):
    """Whether a program is built with a sanitizer, which maps more addresses than may be data: what it really takes is limited by itself."""
    path = pathlib.Path(program)
    return path.is_file() and any(mark in path.read_bytes() for mark in (b"__asan_init", b"__tsan_init", b"__ubsan_"))


def worked(process):
    """Seconds of processor time that a process has used, all its threads."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """`command`: a program that answers every line of its input by a line, perhaps with arguments; `work`: what it may
    work for one answer."""

    def __init__(self, command, work=WORK):
        self.command, self.work, self.process = command if isinstance(command, list) else [command], work, None
        self.is_sanitized = is_sanitized(self.command[0])

    def start(self):
        self.log = tempfile.TemporaryFile()
        environment, limit = dict(os.environ), limit_memory
        if self.is_sanitized:
            limit = None
            for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
                environment[name] = f"hard_rss_limit_mb={MEMORY >> 20}:{environment.get(name, '')}"
        self.process = subprocess.Popen(list(map(str, self.command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment, preexec_fn=limit)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):  # it may have ended before it read the last request
                self.process.stdin.close()
            self.process.stdout.close()
            self.log.close()
            self.process = None

    def ask(self, request):
        """"ok", "error KIND: …", "crash: …" or "hang: …"."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(f"{request}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        began, before = time.monotonic(), worked(self.process)
        while not select.select([self.process.stdout], [], [], 1)[0]:
            waited, work = time.monotonic() - began, worked(self.process) - before
            if work > self.work or waited > WAIT:
                self.stop()
                return f"hang: no answer in {waited:.0f} s, of which it worked {work:.0f}"
        answer = self.process.stdout.readline().decode(errors="replace").strip()
        if answer:
            return answer
        status = self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        self.stop()
        return f"crash: status {status}: {' '.join(lines[-3:])[-300:]}"

    def answer(self, config, folder):
        """What serve_networks says of the model in a folder."""
        return self.ask("{mode} {backend} {threads} {folder} {target}".format(**config, folder=folder))

    def run(self, config, model, inputs, folder):
        """Outputs in each world, or the answer."""
        for old in folder.glob("*/out_*.npy"):
            old.unlink()
        answer = self.answer(config, folder)
        if answer != "ok":
            return answer
        return [[load(folder / str(world) / f"out_{index}.npy") for index in range(len(model.graph.output))] for world in range(len(inputs))]


def load(path):
    return np.load(path) if path.exists() else None


def write(folder, model, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for old in folder.glob("[0-9]*"):
        shutil.rmtree(old)
    for world, arrays in enumerate(inputs):
        place = folder / str(world)
        place.mkdir()
        for index, value in enumerate(model.graph.input):
            np.save(place / f"{index}.npy", arrays[value.name])
