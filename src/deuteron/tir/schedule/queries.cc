/// \file
/// Construction of schedules and questions about the function as it stands.
#include <algorithm>
#include <unordered_map>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

bool IsScheduleError(const std::exception& error) {
  const auto* ffi_error = dynamic_cast<const ffi::Error*>(&error);
  return ffi_error != nullptr && ffi_error->kind() == "ScheduleError";
}

Schedule::Schedule(PrimFunc func) : func_(std::move(func)) {
  if (!HasRootBlock(func_)) {
    DEUTERON_SCHEDULE_ERROR << "the function is not made of blocks: its body is no root block";
  }
  // Names are the blocks' handles: make them unique.
  std::unordered_map<std::string, int> uses;
  for (const SBlockRealize& realize : BlocksIn(ScopeBody(func_))) ++uses[std::string(realize->block->name_hint)];
  if (std::none_of(uses.begin(), uses.end(), [](const auto& entry) { return entry.second > 1; })) return;
  std::unordered_set<std::string> seen;
  for (const SBlockRealize& realize : BlocksIn(ScopeBody(func_))) {
    std::string name = realize->block->name_hint;
    if (seen.insert(name).second) continue;
    for (int i = 1; uses.count(name) != 0 || !seen.insert(name).second; ++i) {
      name = std::string(realize->block->name_hint) + "_" + std::to_string(i);
    }
    const Path path = FindStmt(ScopeBody(func_), [&](const Stmt& stmt) { return stmt.same_as(realize); });
    SBlockRealize renamed = realize;
    SBlock block = realize->block;
    CopyOnWrite(&block)->name_hint = name;
    CopyOnWrite(&renamed)->block = block;
    func_ = ReplaceIn(func_, path, renamed);
  }
}

std::vector<Schedule::Block> Schedule::GetBlocks() const {
  std::vector<Block> names;
  for (const SBlockRealize& realize : BlocksIn(ScopeBody(func_))) names.push_back(realize->block->name_hint);
  return names;
}

bool Schedule::HasBlock(const Block& block) const {
  const auto blocks = BlocksIn(ScopeBody(func_));
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const SBlockRealize& realize) { return realize->block->name_hint == block; });
}

SBlockRealize Schedule::GetRealize(const Block& block) const { return RealizeOf(FindBlock(func_, block)); }
SBlock Schedule::Get(const Block& block) const { return GetRealize(block)->block; }
For Schedule::GetLoop(const Loop& loop) const { return Downcast<For>(FindLoop(func_, loop).back()); }

std::vector<Schedule::Loop> Schedule::GetLoops(const Block& block) const {
  std::vector<Loop> loops;
  for (const For& loop : LoopsOf(FindBlock(func_, block))) loops.push_back(loop->loop_var);
  return loops;
}

std::vector<Schedule::Block> Schedule::GetBlocksUnder(const Loop& loop) const {
  std::vector<Block> names;
  for (const SBlockRealize& realize : BlocksIn(GetLoop(loop))) names.push_back(realize->block->name_hint);
  return names;
}

const ScopeInfo& Schedule::Scope() const {
  if (!scope_of_.same_as(func_)) {
    scope_ = std::make_shared<const ScopeInfo>(AnalyzeScope(ScopeBody(func_)));
    scope_of_ = func_;
  }
  return *scope_;
}

namespace {

/// The blocks besides `block` that `table`, by buffer, has for those of `regions`, each once.
std::vector<Schedule::Block> Others(const ScopeInfo& scope,
                                    const std::unordered_map<const Object*, std::vector<size_t>>& table,
                                    const Schedule::Block& block, const Array<BufferRegion>& regions) {
  std::vector<Schedule::Block> names;
  for (const BufferRegion& region : regions) {
    const auto it = table.find(region->buffer.get());
    if (it == table.end()) continue;
    for (const size_t position : it->second) {
      const std::string name = scope.blocks[position]->block->name_hint;
      if (name != block && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

std::vector<Schedule::Block> Schedule::GetProducers(const Block& block) const {
  const ScopeInfo& scope = Scope();
  return Others(scope, scope.writers, block, Get(block)->reads);
}

std::vector<Schedule::Block> Schedule::GetConsumers(const Block& block) const {
  const ScopeInfo& scope = Scope();
  return Others(scope, scope.readers, block, Get(block)->writes);
}

std::optional<int64_t> Schedule::ConstExtent(const Loop& loop) const { return AsConstInt(GetLoop(loop)->extent); }

bool Schedule::IsParameter(const Buffer& buffer) const {
  const Array<Buffer> buffers = ParamBuffers(func_);
  return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& other) { return other.same_as(buffer); });
}

Buffer Schedule::WriteBuffer(const Block& block) const {
  const SBlock node = Get(block);
  if (node->writes.size() != 1) {
    DEUTERON_SCHEDULE_ERROR << "block " << block << " writes " << node->writes.size() << " buffers, not one";
  }
  return node->writes[0]->buffer;
}

}  // namespace deuteron::tir
