/// \file
/// Loads a network, runs it, and writes an artefact that `deployed` runs without the compiler.
///
///     embed MODEL.onnx ARTEFACT.so
#include <deuteron/deuteron.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const deuteron::IRModule module = deuteron::onnx::Load(argv[1]);
    const deuteron::Executable executable = deuteron::Compile(module, {.target = "native", .threads = 2});
    std::map<std::string, deuteron::Tensor> inputs;
    for (const deuteron::TensorInfo& info : executable.inputs()) {
      const deuteron::Tensor tensor = deuteron::runtime::AllocTensor(info.shape, info.dtype);
      auto* data = static_cast<float*>(tensor.data_ptr());
      for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<float>(i % 7) - 3.0F;
      inputs.emplace(info.name, tensor);
    }
    const std::vector<deuteron::Tensor> outputs = executable.Run(inputs);
    std::printf("%.6f\n", static_cast<const float*>(outputs[0].data_ptr())[0]);
    executable.Save(argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
