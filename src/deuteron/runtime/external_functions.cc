#include "deuteron/runtime/external_functions.h"

#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::runtime {

ExternalFunctions::ExternalFunctions(const Program& program, const std::vector<const void*>& weights)
    : program_(program), weights_(weights) {
  for (const ExternalSpec& external : program.externals) entries_[external.symbol].spec = &external;
}

const tvm::ffi::Function* ExternalFunctions::Find(const std::string& symbol) const {
  const auto it = entries_.find(symbol);
  if (it == entries_.end()) return nullptr;
  std::call_once(it->second.made, [&] { Make(&it->second); });
  return &it->second.function;
}

void ExternalFunctions::Make(Entry* entry) const {
  std::vector<Tensor> constants;
  for (const uint32_t index : entry->spec->constants) {
    const ConstantSpec& constant = program_.constants[index];
    constants.push_back(ViewTensor(const_cast<void*>(weights_[index]), constant.shape, constant.dtype));
  }
  entry->function = LoadExternal(*entry->spec, constants);
}

}  // namespace deuteron::runtime
