/// One long-living process that runs ONNX models for the differential fuzzer (networks.py).
///
/// A request is a line "MODE BACKEND THREADS FOLDER TARGET": MODE "interpret" (the imported graph by the interpreter),
/// "fused" or "unfused" (compiled), "checked" (fused, every access compared with its buffer) or "once" (fused, for one
/// run). FOLDER holds model.onnx and folders 0, 1, …: inputs 0.npy, 1.npy, … of one run each, all by one executable.
/// The answer is a line: "ok", or "error" and kind and message of what was thrown. Outputs are left beside the inputs:
/// out_0.npy, …. Arguments are limits of every request, NAME=VALUE; besides, processor_seconds is what reading and
/// compiling may take of the processor: unlike compile_seconds it says the same on a machine that is busy.
#include <cctype>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/support/error.h"
#include "deuteron/support/limits.h"
#include "deuteron/support/npy.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

std::vector<Tensor> ReadInputs(const fs::path& folder) {
  std::vector<Tensor> inputs;
  while (fs::exists(folder / (std::to_string(inputs.size()) + ".npy"))) {
    inputs.push_back(ReadNpy((folder / (std::to_string(inputs.size()) + ".npy")).string()));
  }
  return inputs;
}

std::vector<Tensor> Interpret(const IRModule& module, const std::vector<Tensor>& inputs) {
  const interpreter::Value result = interpreter::Run(module, "main", {inputs.begin(), inputs.end()});
  if (const auto tensor = result.try_cast<Tensor>()) return {*tensor};
  std::vector<Tensor> outputs;
  for (const Any& field : result.cast<Array<Any>>()) outputs.push_back(field.cast<Tensor>());
  return outputs;
}

struct Allowed {
  Limits limits;
  double processor_seconds = 0;
};

/// That this process has used, all its threads.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void Answer(const std::string& request, const Allowed& allowed) {
  const Limits& limits = allowed.limits;
  std::istringstream words(request);
  std::string mode;
  std::string folder;
  CompileOptions options;
  options.limits = limits;
  const LimitScope scope(limits, [begin = ProcessorSeconds(), most = allowed.processor_seconds] {
    if (most == 0 || ProcessorSeconds() - begin <= most) return;
    DEUTERON_THROW(UnsupportedError) << "more than processor_seconds=" << most;
  });
  words >> mode >> options.backend >> options.threads >> folder;
  std::getline(words >> std::ws, options.target);
  options.fuse = mode != "unfused";
  if (mode == "checked") options.config["check_bounds"] = "true";
  if (mode == "once") options.config["expected_runs"] = "1";
  const IRModule module = onnx::Load(folder + "/model.onnx", {.limits = limits});
  Executable executable;
  if (mode != "interpret") executable = Compile(module, options);
  for (int world = 0; fs::exists(fs::path(folder) / std::to_string(world)); ++world) {
    const fs::path place = fs::path(folder) / std::to_string(world);
    const std::vector<Tensor> inputs = ReadInputs(place);
    const std::vector<Tensor> outputs = mode == "interpret" ? Interpret(module, inputs) : executable.Run(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      WriteNpy((place / ("out_" + std::to_string(i) + ".npy")).string(), outputs[i]);
    }
  }
}

Allowed ParseArguments(std::span<char*> arguments) {
  Allowed allowed;
  for (const std::string argument : arguments) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals),
                      value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "processor_seconds") {
      allowed.processor_seconds = std::stod(value);
    } else {
      SetLimit(name, value, &allowed.limits);
    }
  }
  return allowed;
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return text;
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) {
  const deuteron::Allowed allowed = deuteron::ParseArguments(std::span(argv, argc).subspan(1));
  std::string request;
  while (std::getline(std::cin, request)) {
    std::string answer = "ok";
    try {
      deuteron::Answer(request, allowed);
    } catch (const tvm::ffi::Error& error) {
      answer = "error " + std::string(error.kind()) + ": " + std::string(error.message());
    } catch (const std::exception& error) {
      answer = std::string("error std::exception: ") + error.what();
    }
    std::cout << deuteron::OneLine(answer) << std::endl;
  }
  return 0;
}
