/// \file
/// One graph-level function to byte code. Internal.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/codegen/vm/program_builder.h"
#include "deuteron/codegen/vm/shape_cells.h"
#include "deuteron/relax/expr.h"
#include "deuteron/tir/function.h"

namespace deuteron::codegen {

class FunctionCompiler {
 public:
  FunctionCompiler(const IRModule& module, ProgramBuilder* builder) : module_(module), builder_(builder) {}

  runtime::FunctionSpec Compile(const std::string& name, const relax::Function& function, bool is_private);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Code = std::vector<uint32_t>;

  /// Where a value is found: data in a slot, an object, both, or its fields.
  struct Value {
    uint32_t slot = kNone;
    uint32_t object = kNone;
    /// Of a literal tuple.
    std::shared_ptr<const std::vector<relax::Expr>> fields;
    /// Of a shape that is made where somebody asks for it.
    relax::Expr shape;
    Type type;
    /// Memory of somebody else (a parameter, a constant, the arena): must be copied before it is returned.
    bool borrowed = false;
    /// Of a storage: its offset in the arena; null for one with memory of its own, in `slot`.
    PrimExpr storage_offset;
    /// Position in `code_` of the operand of kAlloc that says which output it is.
    uint32_t output_word = kNone;
  };
  enum class MatchMode { kBind, kCheck, kDescribe };

  // function_compiler.cc: structure.
  void CompileParams(const relax::Function& function);
  void CompileSeq(const relax::SeqExpr& seq);
  void CompileBinding(const relax::Binding& binding);
  void CompileIf(const relax::Var& var, const relax::IfNode* branch);
  void CompileMatchCast(const relax::MatchCastNode* match);
  bool CompileSignCheck(const relax::MatchCastNode* match);
  void CompileReturn(const relax::Expr& result);
  void FinishFunction(const relax::Function& function);

  // compile_call.cc: calls.
  void CompileCall(const relax::Var& var, const relax::CallNode* call);
  void CompileOperator(const relax::Var& var, const relax::CallNode* call);
  void CompileLoop(const relax::Var& var, const relax::CallNode* call);
  void CompileKernel(const relax::CallNode* call, const std::string& name, const tir::PrimFunc& kernel);
  void CheckBuffer(const std::string& kernel, size_t index, const relax::Expr& arg, const tir::Buffer& buffer,
                   ExprVarMap* values);
  void CompileScalarCall(const relax::Var& var, const tir::PrimFunc& func, const Array<relax::Expr>& args);
  void CompilePacked(const relax::Var& var, const std::string& name, const Array<relax::Expr>& args);
  void CompileInvoke(const relax::Var& var, const relax::Expr& callee, const Array<relax::Expr>& args);
  /// Either of the two above: what `callee` says, by `opcode`.
  void EmitOutsideCall(const relax::Var& var, runtime::Opcode opcode, uint32_t callee, const Array<relax::Expr>& args);
  Array<relax::Expr> FieldsOf(const relax::Expr& tuple);
  void CompileAlloc(const relax::Var& var, const relax::CallNode* call);
  /// Code that refuses sizes of the inputs at which a tensor of `type` has a negative extent.
  void RequireExtents(const TensorType& type);
  void CompileStorage(const relax::Var& var, const relax::CallNode* call);
  void CompileTensorInStorage(const relax::Var& var, const relax::CallNode* call);
  void CompileShapeOf(const relax::Var& var, const relax::Expr& tensor);
  void MatchResult(const relax::Var& var, uint32_t object);

  // values.cc: finding values, types.
  Value& Find(const relax::Expr& var);
  void Remember(const Object* key, Value* value);
  uint32_t SlotOf(const relax::Expr& expr);
  uint32_t ObjectOf(const relax::Expr& expr);
  uint32_t ObjectOfValue(const Object* key, Value* value);
  uint32_t LiteralObject(runtime::Literal literal);
  uint32_t ClosureObject(const relax::Expr& function, const Array<relax::Expr>& captured);
  Type TypeOf(const relax::Expr& expr);
  bool IsBorrowed(const relax::Expr& expr);
  uint32_t TypeIndex(const Type& type, MatchMode mode);
  runtime::DimSpec Dim(const PrimExpr& extent, MatchMode mode);
  /// Whether a kCheck match of `type` would see more than kBind has seen.
  bool HasExpressions(const Type& type) const;

  uint32_t NewObject() { return spec_.num_objects++; }
  uint32_t NewSlot() { return spec_.num_slots++; }
  void Emit(runtime::Opcode opcode, const std::vector<uint32_t>& operands) {
    EmitInstruction(&code_, opcode, operands);
  }
  void MarkSource(const Span& span);
  /// The same for arithmetic that begins at the end of `code`.
  void MarkArithmetic(const Code& code);
  /// " (at SOURCE)", or nothing where there is no span.
  static std::string PlaceText(const Span& span);
  [[noreturn]] void Unsupported(const std::string& what, const Span& span) const;
  void Set(const relax::Var& var, Value value) { values_[var.get()] = std::move(value); }

  const IRModule& module_;
  ProgramBuilder* builder_;
  runtime::FunctionSpec spec_;
  Code matches_, prologue_, checks_, code_;
  std::unique_ptr<ShapeCells> cells_;
  /// By variable, and by constant for those that have a place.
  std::unordered_map<const Object*, Value> values_;
  std::unordered_map<const Object*, uint32_t> constant_slots_;
  /// Values as they were before code of a branch gave them places that only that branch fills.
  std::vector<std::pair<const Object*, Value>> undo_;
  int branch_depth_ = 0;
  PrimExpr arena_;
  /// Slots in the arena, with offsets still as expressions.
  std::vector<std::pair<uint32_t, PrimExpr>> arena_slots_;
  std::vector<std::pair<uint32_t, std::string>> sources_, prologue_sources_;
  /// The binding that is being translated.
  Span span_;
  const relax::VarNode* binding_ = nullptr;
  bool matching_params_ = false;
  /// The parameter that gave a symbol its value, for messages of others that contradict it.
  std::unordered_map<const Object*, size_t> givers_;
};

}  // namespace deuteron::codegen
