#include "deuteron/backend/dnnl/block_uses.h"

#include <utility>

#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend::dnnl {
namespace {

using relax::BoundValue;
using relax::Expr;

const size_t* Find(const std::unordered_map<const Object*, size_t>& map, const Object* key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace

BlockUses::BlockUses(const relax::BindingBlock& block, bool quantized)
    : bindings_(block->bindings.begin(), block->bindings.end()) {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    defined_.emplace(bindings_[i]->var.get(), i);
    if (quantized) ReadOperand(i);
    relax::VisitLeaves(BoundValue(bindings_[i]), [&](const Expr& leaf) {
      auto& users = users_[leaf.get()];
      if (users.empty() || users.back() != i) users.push_back(i);
    });
  }
}

const size_t* BlockUses::Definition(const Object* value) const { return Find(defined_, value); }
const size_t* BlockUses::Operand(const Object* value) const { return Find(operand_at_, value); }

const std::vector<size_t>& BlockUses::Users(const Object* value) const {
  static const std::vector<size_t> kNone;
  const auto it = users_.find(value);
  return it == users_.end() ? kNone : it->second;
}

void BlockUses::ReadOperand(size_t index) {
  // What is a result of the block cannot be copied: it is one of whatever function it is in.
  if (bindings_[index]->var->kind != RelaxKind::kDataflowVar) return;
  auto operand = ReadQuantizedOperand(bindings_[index], operands_);
  if (!operand) return;
  operands_.emplace(bindings_[index]->var.get(), *std::move(operand));
  operand_at_.emplace(bindings_[index]->var.get(), index);
}

std::vector<size_t> BlockUses::ReadersOf(const relax::Var& var) const {
  std::vector<size_t> readers;
  std::vector<const Object*> open = {var.get()};
  while (!open.empty()) {
    const auto users = users_.find(open.back());
    open.pop_back();
    if (users == users_.end()) continue;
    for (const size_t user : users->second) {
      const relax::Var& value = bindings_[user]->var;
      if (operand_at_.count(value.get()) != 0) {
        open.push_back(value.get());
      } else {
        readers.push_back(user);
      }
    }
  }
  return readers;
}

void BlockUses::CollectSources(size_t index, std::set<size_t>* sources) const {
  std::vector<size_t> open = {index};
  while (!open.empty()) {
    const size_t next = open.back();
    open.pop_back();
    relax::VisitLeaves(BoundValue(bindings_[next]), [&](const Expr& leaf) {
      const auto at = defined_.find(leaf.get());
      if (at == defined_.end() || leaf.ty().as<TensorTypeNode>() == nullptr) return;
      if (operand_at_.count(leaf.get()) != 0) {
        open.push_back(at->second);
      } else {
        sources->insert(at->second);
      }
    });
  }
}

}  // namespace deuteron::backend::dnnl
