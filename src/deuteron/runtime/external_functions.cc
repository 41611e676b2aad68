#include "deuteron/runtime/external_functions.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::runtime {
namespace {

/// The names that each call of `function` calls, in order: those in what a branch may leave out are not among them.
std::vector<uint32_t> AlwaysCalled(const FunctionSpec& function) {
  std::vector<uint32_t> names;
  size_t branch_end = 0;
  for (size_t at = 0; at < function.code.size(); at += LengthOf(function.code[at])) {
    const uint32_t* const words = function.code.data() + at;
    const Opcode opcode = OpcodeOf(words[0]);
    const size_t next = at + LengthOf(words[0]);
    if (opcode == Opcode::kIf) branch_end = std::max(branch_end, next + words[2]);
    if (opcode == Opcode::kJump) branch_end = std::max(branch_end, next + words[1]);
    if (opcode == Opcode::kCallPacked && at >= branch_end) names.push_back(words[2]);
  }
  return names;
}

}  // namespace

ExternalFunctions::ExternalFunctions(const Program& program, const Weights& weights)
    : program_(program), weights_(weights), begun_(program.functions.size()) {
  for (const ExternalSpec& external : program.externals) entries_[external.symbol].spec = &external;
}

const tvm::ffi::Function* ExternalFunctions::Find(const std::string& symbol, int threads) const {
  const auto it = entries_.find(symbol);
  if (it == entries_.end()) return nullptr;
  MakeOnce(&it->second, threads);
  return &it->second.function;
}

void ExternalFunctions::MakeCalledBy(size_t function, int threads) const {
  if (threads < 2 || entries_.size() < 2) return;
  std::call_once(begun_[function], [&] {
    std::vector<Entry*> entries;
    for (const uint32_t name : AlwaysCalled(program_.functions[function])) {
      const auto it = entries_.find(program_.strings[name]);
      if (it == entries_.end() || std::find(entries.begin(), entries.end(), &it->second) != entries.end()) continue;
      entries.push_back(&it->second);
    }
    std::vector<size_t> sizes;
    for (const Entry* entry : entries) {
      sizes.push_back(entry->spec->code->size());
      // First: who opens it has the processor that another function could be made on.
      static_cast<void>(PluginProblem(entry->spec->plugin));
    }
    PrepareEach(sizes, threads, [&](size_t i) { TryToMake(entries[i], threads); });
  });
}

void ExternalFunctions::TryToMake(Entry* entry, int threads) const {
  try {
    MakeOnce(entry, threads);
  } catch (const std::exception&) {
    // Its call tries again, and says why not.
  }
}

void ExternalFunctions::MakeOnce(Entry* entry, int threads) const {
  if (entry->made.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> lock(entry->making);
  if (entry->made.load(std::memory_order_relaxed)) return;
  Make(entry, threads);
  entry->made.store(true, std::memory_order_release);
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
