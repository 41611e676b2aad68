#include "deuteron/runtime/external_functions.h"

#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::runtime {

ExternalFunctions::ExternalFunctions(const Program& program, const Weights& weights)
    : program_(program), weights_(weights) {
  for (const ExternalSpec& external : program.externals) entries_[external.symbol].spec = &external;
}

const tvm::ffi::Function* ExternalFunctions::Find(const std::string& symbol, int threads) const {
  const auto it = entries_.find(symbol);
  if (it == entries_.end()) return nullptr;
  std::call_once(it->second.made, [&] { Make(&it->second, threads); });
  return &it->second.function;
}

void ExternalFunctions::Make(Entry* entry, int threads) const {
  std::vector<Tensor> constants;
  for (const uint32_t index : entry->spec->constants) {
    const ConstantSpec& constant = program_.constants[index];
    const void* data = weights_.Get(index, threads, [entry] { return "'" + entry->spec->symbol + "'"; });
    constants.push_back(ViewTensor(const_cast<void*>(data), constant.shape, constant.dtype));
  }
  entry->function = LoadExternal(*entry->spec, constants);
}

}  // namespace deuteron::runtime
