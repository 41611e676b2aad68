/// \file
/// The printer's state: the text so far, the names in scope, and what must be declared ahead of it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/script/name_table.h"
#include "deuteron/script/printer.h"
#include "deuteron/tir/functor.h"

namespace deuteron::script {

inline std::string_view View(const String& text) { return {text.data(), text.size()}; }

using tir::IterVar;
using tir::IterVarType;
using tir::Range;

/// Binding strength of Python's operators, weakest first.
enum class Precedence : uint8_t {
  kNone,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom,
};

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  /// print_module.cc
  void Node(const ObjectRef& node);
  void Module(const IRModule& module);
  /// One function with its decorator; `name` as it is in the module.
  void Function(const BaseFunc& func, const std::string& name);
  std::string Finish();

  /// print_type.cc
  void PrintType(const Type& type);

  /// print_relax.cc
  void RelaxFunction(const relax::Function& func, const std::string& name);
  void Block(const relax::BindingBlock& block);
  void PrintBinding(const relax::Binding& binding);
  void Relax(const RelaxExpr& expr);

  /// print_tir.cc, print_buffer.cc
  void PrimFunction(const tir::PrimFunc& func, const std::string& name);
  /// A line for each variable that is bound inside of `expr`: Python wants a name to be there before it is used.
  void DeclareLets(const PrimExpr& expr);
  void PrintStmt(const tir::Stmt& stmt);

  /// print_expr.cc
  void Prim(const PrimExpr& expr, Precedence context = Precedence::kNone);

  /// print_value.cc
  void Value(const Any& value);
  void Quoted(std::string_view text);

 private:
  // Text.
  void Put(std::string_view text) { text_.append(text); }
  void Put(char c) { text_.push_back(c); }
  void PutInt(int64_t value);
  void PutDtype(DataType dtype);
  void Line() {
    text_.push_back('\n');
    text_.append(indent_, ' ');
  }
  /// A comma between the items of a list: nothing before the first.
  void Comma(bool* first) {
    if (!*first) text_.append(", ");
    *first = false;
  }
  template <typename List, typename Each>
  void Joined(const List& list, Each each) {
    bool first = true;
    for (const auto& item : list) {
      Comma(&first);
      each(item);
    }
  }
  void SpanComment(const Span& span);

  // Scalars.
  void PrintFloat(double value);
  /// Digits of a float that has no fraction are told from an integer's.
  void PutDigits(std::string_view digits);
  void PrintImm(const PrimExprNode* expr);
  void PrintBinary(const tir::BinaryNode* expr, Precedence context);
  void PrintIntrinsic(const tir::CallNode* call, Precedence context);
  void PrintIndices(const Array<PrimExpr>& indices);
  void PrintVar(const tir::VarNode* var);
  void PrintRange(const Range& range);
  void PrintDict(const Map<String, Any>& dict);
  void PrintIndexMap(const ObjectRef& map);
  /// A dimension of a signature, where symbols are not yet values: in quotes unless it is one symbol or none.
  void SignatureDim(const PrimExpr& dim);
  void Dims(const Array<PrimExpr>& dims);
  void Dim(const PrimExpr& dim);

  // Statements.
  const std::string& DefineBuffer(const tir::Buffer& buffer, std::string_view hint = "");
  void BufferName(const tir::Buffer& buffer);
  /// `data`: the pointer that the buffer is a view of; null if it has its own.
  void BufferArguments(const tir::Buffer& buffer, bool default_dtype, const tir::VarNode* data = nullptr);
  /// Declares the buffers that `func` uses without defining them where the pointers to their data are known: those of
  /// the parameters here, others behind the allocation.
  void CollectViews(const tir::PrimFunc& func);
  void DeclareViews(const tir::Var& data);
  /// Those that waited for variables of theirs to be defined.
  void DeclareWaitingViews();
  void DeclareView(const tir::Buffer& view);
  /// Whether all that its declaration names is defined.
  bool CanDeclare(const tir::Buffer& view) const;
  void DeclareForeignBuffer(const tir::Buffer& buffer);
  void Body(const tir::Stmt& stmt);
  void PrintFor(const tir::ForNode* loop);
  void PrintRealize(const tir::SBlockRealizeNode* realize);
  void BlockSignature(const tir::SBlockRealizeNode* realize);
  void BlockInner(const tir::SBlockNode* block);
  void DeclareForeignBuffers(const Map<String, Any>& annotations);
  void Regions(const char* what, const Array<tir::BufferRegion>& regions);

  // Graph level.
  void Parameters(const Array<relax::Var>& params);
  void FunctionBody(const relax::SeqExpr& body, const Type& ret_ty);
  void SeqBlocks(const relax::SeqExpr& seq);
  void PrintIf(const relax::Var& var, const relax::IfNode* branch);
  void PrintCall(const relax::CallNode* call);
  void OpCall(const relax::CallNode* call, std::string_view name);
  void AttrFields(const ObjectRef& attrs, bool* first);
  void TypeArguments(const Array<Type>& types, bool* first);
  void TupleFields(const relax::TupleNode* tuple);
  void PrintConstant(const relax::ConstantNode* constant);
  void PrintConstFloat(DataType dtype, double value);
  void NewType(const Type& type);
  void PrintDevice(const VDevice& device);
  void GlobalInfos(const IRModule& module);
  /// Finds names for the functions whose own Python cannot write.
  void NameFunctions(const IRModule& module);
  std::string GlobalName(const GlobalVarNode* var) const;
  /// Declarations of the symbols of the open function's body.
  std::string BodySymbols() const;
  void PrintTarget(const relax::Var& var, bool annotate);
  void Metadata();
  bool PrintOpSpecially(const relax::CallNode* call, std::string_view name);

  PrintOptions options_;
  std::string text_;
  size_t indent_ = 0;
  NameTable names_;
  /// In types and shapes int64 literals stand bare, in kernels int32 ones.
  bool graph_level_ = false;
  bool in_signature_ = false;
  /// How often a symbol or variable of the scalar level was printed.
  int64_t names_used_ = 0;
  /// Text of types that name no symbols.
  std::unordered_map<const Object*, std::string> type_text_;
  /// Devices that the module declares, by their number among those of one target.
  std::unordered_map<const Object*, int64_t> device_numbers_;
  /// Of functions that have other names in the text than in the module.
  std::unordered_map<const Object*, std::string> function_names_;
  /// Names of int64 symbols declared at the top of the text, in order.
  std::vector<std::string> type_vars_;
  std::unordered_set<std::string> type_var_set_;
  /// Names of symbols that bodies declare, of all functions so far.
  std::unordered_set<std::string> body_symbol_set_;
  /// Names of int64 symbols that the signature of the inner function being printed uses first.
  std::vector<std::string> inner_type_vars_;
  /// Those of the open function: no values yet where its signature is evaluated.
  std::unordered_set<const Object*> signature_symbols_;
  /// Scalar parameters of the open kernel that come later in its signature.
  std::unordered_set<const Object*> later_params_;
  /// Undeclared buffers of the open kernel by the pointers to their data.
  std::unordered_map<const Object*, std::vector<tir::Buffer>> views_;
  std::vector<tir::Buffer> waiting_views_;
  /// Symbols that the body of the open function defines.
  std::vector<std::pair<std::string, DataType>> body_symbols_;
  bool uses_cls_ = false;
  int function_depth_ = 0;
  /// Loops in scope by variable, for T.axis.remap.
  std::unordered_map<const Object*, const tir::ForNode*> loops_;
  std::vector<const relax::ConstantNode*> constants_;
  std::unordered_map<const DLTensor*, int64_t> constant_index_;
};

}  // namespace deuteron::script
