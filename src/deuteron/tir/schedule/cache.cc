/// \file
/// Copies of what a block reads or writes, and memory scopes.
#include <algorithm>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// Inserts a statement before (after) the child of the scope that holds the last statement of `path`.
PrimFunc InsertBeside(const PrimFunc& func, const Path& path, const Stmt& replacement, const Stmt& extra, bool before) {
  // path[0] is the scope's body; a sequence has the child next.
  const bool is_seq = path[0]->kind == StmtKind::kSeq;
  Path inner(path.begin() + (is_seq ? 1 : 0), path.end());
  const Stmt child = Replace(inner, replacement);
  const Stmt both = before ? SeqStmt::Flatten({extra, child}) : SeqStmt::Flatten({child, extra});
  return ReplaceIn(func, Path(path.begin(), path.begin() + (is_seq ? 2 : 1)), both);
}

}  // namespace

Schedule::Block Schedule::CacheRead(const Block& name, size_t read_index, const String& scope_name,
                                    const std::vector<Block>& others) {
  const Path path = FindBlock(func_, name);
  SBlockRealize realize = RealizeOf(path);
  if (read_index >= realize->block->reads.size()) {
    DEUTERON_SCHEDULE_ERROR << "cache_read: block " << name << " reads " << realize->block->reads.size()
                            << " buffers; there is no number " << read_index;
  }
  const Buffer buffer = realize->block->reads[read_index]->buffer;
  // The copy is made before the statement of the scope that holds the block: its writers must be further up.
  const Stmt& top = path[path[0]->kind == StmtKind::kSeq ? 1 : 0];
  for (const SBlockRealize& other : BlocksIn(top)) {
    for (const BufferRegion& write : other->block->writes) {
      if (write->buffer.same_as(buffer)) {
        DEUTERON_SCHEDULE_ERROR << "cache_read: block " << other->block->name_hint << ", which writes " << buffer->name
                                << ", shares a loop with block " << name;
      }
    }
  }
  const Buffer copy(std::string(buffer->name) + "_cache", buffer->dtype, buffer->shape, scope_name);
  const std::string copy_name = UniqueBlockName(func_, std::string(buffer->name) + "_cache");
  CopyOnWrite(&realize)->block = WithDetectedRegions(ReplaceBuffer(realize->block, buffer, copy));
  func_ = AddBuffer(InsertBeside(func_, path, realize, MakeNest(CopyBlock(copy_name, buffer, copy)), true), copy);
  for (const Block& other : others) {
    const Path place = FindBlock(func_, other);
    SBlockRealize reader = RealizeOf(place);
    CopyOnWrite(&reader)->block = WithDetectedRegions(ReplaceBuffer(reader->block, buffer, copy));
    func_ = ReplaceIn(func_, place, reader);
  }
  return copy_name;
}

Schedule::Block Schedule::CacheWrite(const Block& name, const String& scope_name) {
  const Path path = FindBlock(func_, name);
  SBlockRealize realize = RealizeOf(path);
  const Buffer buffer = WriteBuffer(name);
  const ScopeInfo& scope = Scope();
  if (scope.writers.at(buffer.get()).size() != 1) {
    DEUTERON_SCHEDULE_ERROR << "cache_write: buffer " << buffer->name << " has writers besides block " << name;
  }
  const Stmt& top = path[path[0]->kind == StmtKind::kSeq ? 1 : 0];
  for (const SBlockRealize& other : BlocksIn(top)) {
    for (const BufferRegion& read : other->block->reads) {
      if (read->buffer.same_as(buffer) && !other.same_as(realize)) {
        DEUTERON_SCHEDULE_ERROR << "cache_write: block " << other->block->name_hint << ", which reads " << buffer->name
                                << ", shares a loop with block " << name;
      }
    }
  }
  const Buffer copy(std::string(buffer->name) + "_local", buffer->dtype, buffer->shape, scope_name);
  const std::string copy_name = UniqueBlockName(func_, name + "_write");
  CopyOnWrite(&realize)->block = WithDetectedRegions(ReplaceBuffer(realize->block, buffer, copy));
  func_ = AddBuffer(InsertBeside(func_, path, realize, MakeNest(CopyBlock(copy_name, copy, buffer)), false), copy);
  return copy_name;
}

void Schedule::SetScope(const Buffer& buffer, const String& scope) {
  if (!IsAllocated(func_, buffer)) {
    DEUTERON_SCHEDULE_ERROR << "set_scope: " << buffer->name << " is no intermediate buffer";
  }
  const Buffer scoped(buffer->name, buffer->dtype, buffer->shape, scope, buffer->strides, buffer->elem_offset,
                      buffer->offset_factor);
  func_ = WithScopeBody(func_, ReplaceBuffer(ScopeBody(func_), buffer, scoped));
  func_ = AddBuffer(RemoveBuffer(func_, buffer), scoped);
}

}  // namespace deuteron::tir
