"""The process that runs networks (serve_networks.cc): started where there is none, ended where it hangs."""

import contextlib
import resource
import select
import shutil
import subprocess
import tempfile

import numpy as np
import onnx

MEMORY = 8 << 30


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Server:
    """`command`: a program that answers every line of its input by a line, perhaps with arguments."""

    def __init__(self, command, seconds):
        self.command, self.seconds, self.process = command if isinstance(command, list) else [command], seconds, None

    def start(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(list(map(str, self.command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, preexec_fn=limit_memory)

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
        if not select.select([self.process.stdout], [], [], self.seconds)[0]:
            self.stop()
            return f"hang: no answer in {self.seconds} s"
        answer = self.process.stdout.readline().decode(errors="replace").strip()
        if answer:
            return answer
        status = self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        self.stop()
        return f"crash: status {status}: {' '.join(lines[-3:])[-300:]}"

    def run(self, config, model, inputs, folder):
        """Outputs in each world, or the answer."""
        for old in folder.glob("*/out_*.npy"):
            old.unlink()
        answer = self.ask("{mode} {backend} {threads} {folder} {target}".format(**config, folder=folder))
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
