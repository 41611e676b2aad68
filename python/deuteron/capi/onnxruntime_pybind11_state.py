"""ONNX Runtime's exceptions by their names: the errors here that are raised in their place."""

from ..errors import DeuteronError, ModelError, UnsupportedError, UsageError

EPFail = EngineError = Fail = RuntimeException = DeuteronError
InvalidArgument = UsageError
InvalidGraph = InvalidProtobuf = ModelLoaded = NoModel = NoSuchFile = ModelError
NotImplemented = UnsupportedError  # noqa: A001
