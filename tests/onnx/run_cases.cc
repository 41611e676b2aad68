/// Runs many small ONNX models in one process, for comparison with ONNX Runtime (op_cases.py).
///
///     run_cases MODE DIRECTORY...
///
/// Each directory holds model.onnx, 0.npy, 1.npy, … (its inputs in order), and shapes.txt where sequences have lengths
/// to be given; out_0.npy, … are written, or error.txt ("kind: message"). MODE: "interpret" (the imported graph by the
/// interpreter), "import" (no run), "compile" (the whole pipeline), with options after it: "compile:no-fuse:dnnl" does
/// not fuse, and uses that back end (none: generated code alone), "checked" compares every access with its buffer. What
/// is compiled leaves kernels.txt: how many calls there are of generated kernels, of kernels of libraries, of functions
/// of the runtime that compute, and of those that check indices or convert shapes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "deuteron/frontend/onnx/import.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/expr.h"
#include "deuteron/support/error.h"
#include "deuteron/support/npy.h"
#ifndef DEUTERON_WITHOUT_DRIVER
#include "deuteron/driver/compile.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instruction.h"
#endif

namespace deuteron {
namespace {

namespace fs = std::filesystem;

std::vector<Tensor> ReadInputs(const fs::path& folder, const IRModule& module) {
  std::vector<Tensor> inputs;
  const auto main = Downcast<relax::Function>(module.Lookup("main"));
  for (const relax::Var& param : main->params) {
    const auto* type = param->ty.as<TensorTypeNode>();
    const std::string path = (folder / (std::to_string(inputs.size()) + ".npy")).string();
    inputs.push_back(type == nullptr ? ReadNpy(path) : ReadNpy(path, type->dtype));
  }
  return inputs;
}

std::vector<Tensor> Interpret(const IRModule& module, const std::vector<Tensor>& inputs) {
  const std::vector<interpreter::Value> values(inputs.begin(), inputs.end());
  const interpreter::Value result = interpreter::Run(module, "main", values);
  if (const auto tensor = result.try_cast<Tensor>()) return {*tensor};
  std::vector<Tensor> outputs;
  for (const Any& field : result.cast<Array<Any>>()) outputs.push_back(field.cast<Tensor>());
  return outputs;
}

/// Lines "NAME 2,3" of shapes.txt, where there is one.
onnx::ImportOptions ReadShapes(const fs::path& folder) {
  onnx::ImportOptions options;
  std::ifstream file(folder / "shapes.txt");
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.rfind(' ');
    std::vector<int64_t>& dims = options.shapes[line.substr(0, space)];
    std::istringstream numbers(line.substr(space + 1));
    for (std::string number; std::getline(numbers, number, ',');) dims.push_back(std::stoll(number));
  }
  return options;
}

#ifndef DEUTERON_WITHOUT_DRIVER
CompileOptions OptionsOf(const std::string& mode) {
  CompileOptions options{.threads = 1};
  std::istringstream words(mode);
  std::string word;
  std::getline(words, word, ':');
  while (std::getline(words, word, ':')) {
    if (word == "no-fuse") {
      options.fuse = false;
    } else if (word == "checked") {
      options.config["check_bounds"] = "true";
    } else if (word != "fuse") {
      options.backend = word;
    }
  }
  return options;
}

/// Functions of the runtime that compute no tensor's elements.
bool IsCheck(const std::string& name) {
  static const std::set<std::string> kChecks = {
      "deuteron.vm.check_indices",   "deuteron.vm.check_positions", "deuteron.vm.tensor_to_shape",
      "deuteron.vm.shape_to_tensor", "deuteron.vm.shape_of",        "deuteron.vm.view",
      "deuteron.vm.move_axes",       "deuteron.vm.assert",          "deuteron.vm.fail",
      "deuteron.vm.check_within",    "deuteron.vm.check_above"};
  return kChecks.count(name) != 0;
}

/// Calls in the byte code.
std::string CountKernels(const runtime::Program& program) {
  int64_t generated = 0, library = 0, computing = 0, checks = 0;
  for (const runtime::FunctionSpec& function : program.functions) {
    for (size_t at = 0; at < function.code.size(); at += runtime::LengthOf(function.code[at])) {
      const auto opcode = runtime::OpcodeOf(function.code[at]);
      if (opcode == runtime::Opcode::kKernel) ++generated;
      if (opcode != runtime::Opcode::kCallPacked) continue;
      const std::string& name = program.strings[function.code[at + 2]];
      const bool is_external = std::any_of(program.externals.begin(), program.externals.end(),
                                           [&](const auto& external) { return external.symbol == name; });
      ++(is_external ? library : IsCheck(name) ? checks : computing);
    }
  }
  return std::to_string(generated) + " " + std::to_string(library) + " " + std::to_string(computing) + " " +
         std::to_string(checks);
}
#endif

void RunCase(const std::string& mode, const fs::path& folder) {
  const IRModule module = onnx::Load((folder / "model.onnx").string(), ReadShapes(folder));
  if (mode == "import") return;
  std::vector<Tensor> outputs;
  if (mode == "interpret") {
    outputs = Interpret(module, ReadInputs(folder, module));
  } else {
#ifdef DEUTERON_WITHOUT_DRIVER
    DEUTERON_THROW(UsageError) << "built without the driver";
#else
    const Executable executable = Compile(module, OptionsOf(mode));
    std::ofstream(folder / "kernels.txt") << CountKernels(executable.runtime()->program());
    outputs = executable.Run(ReadInputs(folder, module));
#endif
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    WriteNpy((folder / ("out_" + std::to_string(i) + ".npy")).string(), outputs[i]);
  }
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: run_cases interpret|import|compile[:no-fuse][:BACKEND][:checked] DIRECTORY...\n";
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path folder = argv[i];
    // Left behind if the process dies: says which case it was.
    std::ofstream(folder / "error.txt") << "Crash: the process ended";
    std::string failure;
    try {
      deuteron::RunCase(argv[1], folder);
    } catch (const tvm::ffi::Error& error) {
      failure = std::string(error.kind()) + ": " + std::string(error.message());
    } catch (const std::exception& error) {
      failure = std::string("std::exception: ") + error.what();
    }
    std::filesystem::remove(folder / "error.txt");
    if (!failure.empty()) std::ofstream(folder / "error.txt") << failure;
  }
  return 0;
}
