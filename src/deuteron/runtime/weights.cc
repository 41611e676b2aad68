#include "deuteron/runtime/weights.h"

#include <utility>

#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {

Weights::Weights(const Program& program, std::vector<const void*> data, std::string file,
                 std::vector<std::string> names)
    : program_(program),
      data_(std::move(data)),
      file_(std::move(file)),
      names_(std::move(names)),
      sound_(file_.empty() ? 0 : data_.size()) {
  DEUTERON_CHECK(data_.size() == program.constants.size()) << "weights unlike the program's";
}

const void* Weights::Get(size_t index, int threads, const std::function<std::string()>& user) const {
  if (const void* known = Known(index)) return known;
  const ConstantSpec& constant = program_.constants[index];
  const auto bytes = static_cast<uint64_t>(TensorBytes(constant.shape, constant.dtype));
  if (TensorChecksum(data_[index], bytes, threads) != constant.checksum) ThrowDamaged(index, user ? user() : "");
  sound_[index].store(true, std::memory_order_relaxed);
  return data_[index];
}

void Weights::CheckAll(int threads) const {
  const ComputeScope scope;
  for (size_t i = 0; i < data_.size(); ++i) Get(i, threads);
}

void Weights::ThrowDamaged(size_t index, const std::string& user) const {
  const ConstantSpec& constant = program_.constants[index];
  std::string what = index < names_.size() ? "tensor \"" + names_[index] + "\"" : "constant " + std::to_string(index);
  if (index >= names_.size()) {
    what += " (" + std::string(tvm::ffi::DLDataTypeToString(constant.dtype)) + " [";
    for (size_t i = 0; i < constant.shape.size(); ++i) what += (i == 0 ? "" : ", ") + std::to_string(constant.shape[i]);
    what += "])";
  }
  DEUTERON_THROW(ModelError) << file_ << " is damaged: the checksum of " << what
                             << (user.empty() ? "" : ", which " + user + " reads,") << " differs";
}

}  // namespace deuteron::runtime
