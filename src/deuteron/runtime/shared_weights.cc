#include "deuteron/runtime/shared_weights.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/support/safetensors.h"
#include "deuteron/support/write_file.h"

namespace deuteron::runtime {
namespace {

namespace fs = std::filesystem;

/// Writers of a folder, one after the other.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : folder_(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // Where there are no locks, who writes last wins: what the others wrote is missed by name when it is loaded.
    while (folder_ >= 0 && flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (folder_ >= 0) close(folder_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_;
};

uint64_t BytesOf(const ConstantSpec& constant) {
  return static_cast<uint64_t>(TensorBytes(constant.shape, constant.dtype));
}

/// "float32_64x3x7x7_0123456789abcdef".
std::string NameOf(const ConstantSpec& constant) {
  std::string name = std::string(tvm::ffi::DLDataTypeToString(constant.dtype)) + "_";
  for (size_t i = 0; i < constant.shape.size(); ++i) name += (i == 0 ? "" : "x") + std::to_string(constant.shape[i]);
  char hex[24];
  std::snprintf(hex, sizeof(hex), "_%016llx", static_cast<unsigned long long>(constant.checksum));
  return name + hex;
}

/// The constant as a tensor of the file: of bytes where the format does not know its dtype.
Tensor AsTensor(const ConstantSpec& constant, const void* data) {
  if (SafeTensorsKnow(constant.dtype)) return BorrowedHostTensor(constant.shape, constant.dtype, data, nullptr);
  return BorrowedHostTensor({static_cast<int64_t>(BytesOf(constant))}, {kDLUInt, 8, 1}, data, nullptr);
}

uint64_t BytesOf(const Tensor& tensor) {
  const auto shape = tensor.shape();
  return static_cast<uint64_t>(CheckedByteSize({shape.begin(), shape.end()}, tensor.dtype()));
}

}  // namespace

std::vector<std::string> AddSharedWeights(const std::string& path, const Program& program,
                                          const std::function<const void*(size_t)>& weight) {
  CheckFolderOf(path);
  const FolderLock lock(fs::path(path).parent_path());
  NamedTensors tensors;
  if (fs::exists(path)) tensors = ReadSafeTensors(path);
  std::unordered_set<std::string> known;
  for (const auto& [name, tensor] : tensors) known.insert(name);
  const size_t before = tensors.size();
  std::vector<std::string> names;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    names.push_back(NameOf(program.constants[i]));
    if (known.insert(names.back()).second) {
      tensors.emplace_back(names.back(), AsTensor(program.constants[i], weight(i)));
    }
  }
  if (tensors.size() != before || !fs::exists(path)) WriteSafeTensors(path, tensors);
  return names;
}

std::vector<const void*> ReadSharedWeights(const std::string& path, const Program& program,
                                           const std::vector<std::string>& names,
                                           std::vector<std::shared_ptr<const void>>* keep_alive) {
  auto tensors = std::make_shared<NamedTensors>(ReadSafeTensors(path));
  std::unordered_map<std::string_view, Tensor*> by_name;
  for (auto& [name, tensor] : *tensors) by_name.emplace(name, &tensor);
  if (names.size() != program.constants.size()) DEUTERON_THROW(ModelError) << path << ": weights of another model";
  std::vector<const void*> weights;
  for (size_t i = 0; i < names.size(); ++i) {
    const ConstantSpec& constant = program.constants[i];
    const auto found = by_name.find(names[i]);
    if (found == by_name.end() || BytesOf(*found->second) != BytesOf(constant)) {
      DEUTERON_THROW(ModelError) << path << " has no tensor \"" << names[i]
                                 << "\": these are the weights of another model; compile it again with them";
    }
    Tensor& tensor = *found->second;
    if (reinterpret_cast<uintptr_t>(tensor.data_ptr()) % kTensorAlignment != 0) {
      const auto shape = tensor.shape();
      Tensor copy = EmptyHostTensor({shape.begin(), shape.end()}, tensor.dtype());
      std::memcpy(copy.data_ptr(), tensor.data_ptr(), BytesOf(constant));
      tensor = copy;
    }
    weights.push_back(tensor.data_ptr());
  }
  keep_alive->push_back(std::move(tensors));
  return weights;
}

}  // namespace deuteron::runtime
