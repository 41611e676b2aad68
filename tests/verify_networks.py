"""Every pass of the pipeline on every network, at reduced sizes: the interpreter's result before and after each agrees, and
so does the compiled code's (`deuteron verify`).

    python tests/verify_networks.py BINARY [NAME...]
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAKE = ROOT / "tests" / "networks" / "make.py"
NETWORKS = ["resnet50", "mobilenetv2", "densenet121", "inceptionv1", "shufflenet", "squeezenet", "vgg19", "zfnet", "bert", "decoder",
            "lstm", "unet", "transformer", "vit"]


def main():
    binary, names = sys.argv[1], sys.argv[2:] or NETWORKS
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            model = pathlib.Path(folder) / f"{name}.onnx"
            subprocess.run([sys.executable, MAKE, name, model, "--size", "small"], check=True, stdout=subprocess.DEVNULL)
            result = subprocess.run([binary, "verify", model, "--threads", "2", "--backend", "none"], capture_output=True, text=True)
            stages = result.stdout.splitlines()
            good = result.returncode == 0 and stages and stages[-1].startswith("compiled code")
            failed += not good
            print(f"{name:16}{len(stages):>4} stages  {'ok' if good else 'FAILED: ' + result.stderr.strip()}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    sys.exit(5 if failed else 0)


if __name__ == "__main__":
    main()
