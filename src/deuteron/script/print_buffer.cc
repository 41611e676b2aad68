/// \file
/// Prints buffers: their names, declarations, and regions.
#include <algorithm>
#include <unordered_set>

#include "deuteron/script/printer_impl.h"

namespace deuteron::script {

using tir::Buffer;

namespace {

/// The buffers that a function uses and neither its parameters nor an allocation defines, in order of use.
class UndeclaredBuffers : private tir::StmtExprVisitor {
 public:
  explicit UndeclaredBuffers(const tir::PrimFunc& func) {
    for (const auto& [param, buffer] : func->buffer_map) defined_.insert(buffer.get());
    VisitStmt(func->body);
  }

  std::vector<Buffer> Take() {
    std::vector<Buffer> undeclared;
    for (Buffer& buffer : used_) {
      if (defined_.count(buffer.get()) == 0) undeclared.push_back(std::move(buffer));
    }
    return undeclared;
  }
  /// Whether an allocation of the function makes this data.
  bool Allocates(const tir::Var& data) const { return allocated_.count(data.get()) != 0; }

 private:
  void Define(const Buffer& buffer) {
    defined_.insert(buffer.get());
    allocated_.insert(buffer->data.get());
  }
  void Use(const Buffer& buffer) {
    if (seen_.insert(buffer.get()).second) used_.push_back(buffer);
  }
  void VisitAllocBuffer_(const tir::AllocBufferNode* op) override {
    Define(op->buffer);
    StmtExprVisitor::VisitAllocBuffer_(op);
  }
  void VisitSBlock_(const tir::SBlockNode* op) override {
    for (const Buffer& buffer : op->alloc_buffers) Define(buffer);
    StmtExprVisitor::VisitSBlock_(op);
  }
  void VisitBufferStore_(const tir::BufferStoreNode* op) override {
    Use(op->buffer);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const tir::BufferLoadNode* op) override {
    Use(op->buffer);
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitRegion(const tir::BufferRegion& region) override {
    Use(region->buffer);
    StmtExprVisitor::VisitRegion(region);
  }

  std::unordered_set<const Object*> defined_;
  std::unordered_set<const Object*> allocated_;
  std::unordered_set<const Object*> seen_;
  std::vector<Buffer> used_;
};

}  // namespace

const std::string& Printer::DefineBuffer(const Buffer& buffer, std::string_view hint) {
  const std::string& name = names_.Define(buffer.get(), hint.empty() ? View(buffer->name) : hint);
  if (names_.Find(buffer->data.get()) == nullptr) names_.DefineAs(buffer->data.get(), name + ".data");
  return name;
}

void Printer::BufferName(const Buffer& buffer) {
  const std::string* name = names_.Find(buffer.get());
  Put(name != nullptr ? *name : DefineBuffer(buffer));
}

void Printer::BufferArguments(const Buffer& buffer, bool default_dtype, const tir::VarNode* data) {
  Dims(buffer->shape);
  if (!default_dtype || buffer->dtype != DataType::Float(32)) {
    Put(", \"");
    PutDtype(buffer->dtype);
    Put('"');
  }
  if (data != nullptr) {
    Put(", data=");
    PrintVar(data);
  }
  if (!buffer->strides.empty()) {
    Put(", strides=");
    Dims(buffer->strides);
  }
  // A variable that nothing has named is where the argument begins; the text has no other word for it.
  const auto* offset = data == nullptr ? buffer->elem_offset.as<tir::VarNode>() : nullptr;
  const bool is_implied = offset != nullptr && names_.Find(offset) == nullptr;
  if (is_implied) {
    names_.DefineAs(offset, *names_.Find(buffer.get()) + ".elem_offset");
  } else if (buffer->elem_offset.defined() || buffer->offset_factor != 1) {
    Put(", elem_offset=");
    Dim(buffer->elem_offset.defined() ? buffer->elem_offset : MakeConst(DataType::Int(32), 0));
  }
  if (View(buffer->scope) != "global" && !View(buffer->scope).empty()) {
    Put(", scope=");
    Quoted(View(buffer->scope));
  }
  if (buffer->offset_factor != 1 || is_implied) {
    Put(", offset_factor=");
    PutInt(buffer->offset_factor);
  }
}

void Printer::CollectViews(const tir::PrimFunc& func) {
  views_.clear();
  waiting_views_.clear();
  UndeclaredBuffers buffers(func);
  std::unordered_set<const Object*> owners;
  for (const tir::Var& param : func->params) {
    const auto buffer = func->buffer_map.Get(param);
    owners.insert(buffer ? (*buffer)->data.get() : param.get());
  }
  std::vector<Buffer> ownerless;
  for (Buffer& buffer : buffers.Take()) {
    if (owners.count(buffer->data.get()) != 0 || buffers.Allocates(buffer->data)) {
      views_[buffer->data.get()].push_back(std::move(buffer));
    } else {
      ownerless.push_back(std::move(buffer));
    }
  }
  for (const tir::Var& param : func->params) {
    const auto buffer = func->buffer_map.Get(param);
    DeclareViews(buffer ? (*buffer)->data : param);
  }
  for (const Buffer& buffer : ownerless) DeclareForeignBuffer(buffer);
}

void Printer::DeclareViews(const tir::Var& data) {
  const auto views = views_.find(data.get());
  if (views == views_.end()) return;
  for (const Buffer& view : views->second) {
    if (CanDeclare(view)) {
      DeclareView(view);
    } else {
      waiting_views_.push_back(view);
    }
  }
  views_.erase(views);
}

void Printer::DeclareWaitingViews() {
  // They go on waiting: the scope that defines their variables may come again.
  for (const Buffer& view : waiting_views_) {
    if (names_.Find(view.get()) == nullptr && CanDeclare(view)) DeclareView(view);
  }
}

void Printer::DeclareView(const Buffer& view) {
  Line();
  Put(DefineBuffer(view));
  Put(" = T.decl_buffer(");
  BufferArguments(view, /*default_dtype=*/true, view->data.get());
  Put(')');
}

bool Printer::CanDeclare(const Buffer& view) const {
  if (!view->elem_offset.defined()) return true;
  const std::vector<tir::Var> vars = FreeVars(view->elem_offset);
  return std::all_of(vars.begin(), vars.end(), [&](const tir::Var& var) { return names_.Find(var.get()) != nullptr; });
}

void Printer::DeclareForeignBuffer(const Buffer& buffer) {
  if (names_.Find(buffer.get()) != nullptr) return;
  Line();
  Put(DefineBuffer(buffer));
  Put(" = T.Buffer(");
  BufferArguments(buffer, /*default_dtype=*/true);
  Put(')');
}

/// Annotations may name buffers that are no more ("layout_free_placeholders" of a kernel that TVM has fused).
void Printer::DeclareForeignBuffers(const Map<String, Any>& annotations) {
  for (const auto& [key, value] : annotations) {
    const auto list = value.try_cast<Array<ObjectRef>>();
    if (!list.has_value()) continue;
    for (const ObjectRef& item : *list) {
      if (const auto buffer = As<Buffer>(item); buffer.defined()) DeclareForeignBuffer(buffer);
    }
  }
}

void Printer::PrintRange(const Range& range) {
  if (IsOne(range->extent)) return Prim(range->min);
  Prim(range->min);
  Put(':');
  Prim(range->min + range->extent);
}

void Printer::Regions(const char* what, const Array<tir::BufferRegion>& regions) {
  Line();
  Put(what);
  Joined(regions, [&](const tir::BufferRegion& region) {
    BufferName(region->buffer);
    Put('[');
    if (region->region.empty()) Put("()");
    Joined(region->region, [&](const Range& range) { PrintRange(range); });
    Put(']');
  });
  Put(')');
}

}  // namespace deuteron::script
