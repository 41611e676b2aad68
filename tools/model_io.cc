#include "tools/model_io.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <unordered_set>

#include "deuteron/runtime/random_tensor.h"
#include "deuteron/support/error.h"
#include "deuteron/support/npy.h"
#include "deuteron/support/printable.h"
#include "tools/file_name.h"

namespace deuteron::tools {

std::pair<std::string, std::string> SplitPair(const std::string& text, const char* flag, const char* form) {
  const size_t position = text.find('=');
  if (position == std::string::npos || position == 0) {
    DEUTERON_THROW(UsageError) << flag << " takes " << form << ", not \"" << text << "\"";
  }
  return {text.substr(0, position), text.substr(position + 1)};
}

std::map<std::string, std::vector<int64_t>> ParseShapes(const std::vector<std::string>& shapes) {
  std::map<std::string, std::vector<int64_t>> parsed;
  for (const std::string& text : shapes) {
    const auto [name, dims] = SplitPair(text, "--shape", "NAME=1,3,224,224");
    std::vector<int64_t> values;
    std::istringstream stream(dims);
    for (std::string dim; std::getline(stream, dim, ',');) {
      char* end = nullptr;
      errno = 0;
      const int64_t value = std::strtoll(dim.c_str(), &end, 10);
      if (dim.empty() || *end != '\0' || errno != 0 || value < 0) {
        DEUTERON_THROW(UsageError) << "--shape " << text << ": \"" << dim << "\" is no dimension";
      }
      values.push_back(value);
    }
    const auto [it, is_new] = parsed.emplace(name, values);
    if (!is_new && it->second != values) {
      DEUTERON_THROW(UsageError) << "--shape " << text << ": another one is given for '" << name << "'";
    }
  }
  return parsed;
}

std::map<std::string, Tensor> MakeInputs(const runtime::Executable& executable, const std::vector<std::string>& files,
                                         const std::vector<std::string>& shapes, uint64_t seed) {
  const auto infos = executable.Inputs("main");
  std::map<std::string, Tensor> inputs;
  for (const std::string& file : files) {
    const auto [name, path] = SplitPair(file, "--input", "NAME=FILE.npy");
    // What numpy has no name for is of the input's dtype.
    std::optional<DLDataType> dtype;
    for (const auto& info : infos) {
      if (info.name == name) dtype = info.dtype;
    }
    if (!inputs.emplace(name, ReadNpy(path, dtype)).second) {
      DEUTERON_THROW(UsageError) << "--input " << name << " is given twice";
    }
  }
  const auto given = ParseShapes(shapes);
  std::mt19937_64 random(seed);
  // A symbol takes the size it has in a given input, else what --shape says of an input or of it, else 1.
  std::map<std::string, int64_t> symbols;
  const auto bind = [&](const auto& info, const std::vector<int64_t>& dims) {
    for (size_t axis = 0; axis < info.shape.size() && axis < dims.size(); ++axis) {
      if (info.shape[axis] < 0) symbols.emplace(info.dims[axis], dims[axis]);
    }
  };
  for (const auto& info : infos) {
    if (auto it = inputs.find(info.name); it != inputs.end()) {
      bind(info, {it->second.shape().begin(), it->second.shape().end()});
    } else if (auto shape = given.find(info.name); shape != given.end()) {
      bind(info, shape->second);
    }
  }
  for (const auto& [name, dims] : given) {
    if (dims.size() == 1) symbols.emplace(name, dims[0]);
  }
  for (const auto& info : infos) {
    if (inputs.count(info.name) != 0) continue;
    std::vector<int64_t> shape = info.shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] >= 0) continue;
      auto it = symbols.find(info.dims[axis]);
      shape[axis] = it == symbols.end() ? 1 : it->second;
    }
    inputs.emplace(info.name, RandomTensor(shape, info.dtype, &random));
  }
  return inputs;
}

std::vector<std::filesystem::path> OutputPaths(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> paths;
  std::unordered_set<std::string> taken;
  for (const std::string& name : names) {
    const size_t open = name.rfind('[');
    const bool is_element = open != std::string::npos && open > 0 && name.size() > open + 2 && name.back() == ']' &&
                            name.find_first_not_of("0123456789", open + 1) == name.size() - 1;
    const std::filesystem::path plain = is_element ? std::filesystem::path(FileName(name.substr(0, open))) /
                                                         name.substr(open + 1, name.size() - open - 2)
                                                   : std::filesystem::path(FileName(name));
    std::string path = plain.string();
    for (int number = 1; !taken.insert(path).second; ++number) path = plain.string() + "_" + std::to_string(number);
    paths.emplace_back(path + ".npy");
  }
  return paths;
}

std::string LineOf(const std::string& name, const Tensor& tensor) {
  std::string shape;
  for (const int64_t dim : tensor.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  return Printable(name) + ": " + std::string(tvm::ffi::DLDataTypeToString(tensor.dtype())) + " (" + shape + ")\n";
}

void WriteTensor(const std::filesystem::path& path, const Tensor& tensor) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    DEUTERON_THROW(UsageError) << "cannot make the directory " << path.parent_path().string() << ": "
                               << error.message();
  }
  WriteNpy(path.string(), tensor);
}

}  // namespace deuteron::tools
