"""Where ONNX Runtime does something else, and why ours stays."""


def disagreement(network, verdict):
    """The reason, or None."""
    return None
