/// \file
/// Runs a compiled model with the runtime library alone.
///
///     deployed ARTEFACT.so
#include <deuteron/runtime/executable.h>
#include <deuteron/runtime/instance.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto executable = deuteron::runtime::Executable::Load(argv[1]);
    std::vector<deuteron::Tensor> inputs;
    for (const auto& info : executable->Inputs("main")) {
      inputs.push_back(deuteron::runtime::AllocTensor(info.shape, info.dtype));
      auto* data = static_cast<float*>(inputs.back().data_ptr());
      for (int64_t i = 0; i < inputs.back().numel(); ++i) data[i] = static_cast<float>(i % 7) - 3.0F;
    }
    deuteron::runtime::Instance instance(executable);
    const std::vector<deuteron::Tensor> outputs = instance.Run("main", inputs);
    std::printf("%.6f\n", static_cast<const float*>(outputs[0].data_ptr())[0]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
