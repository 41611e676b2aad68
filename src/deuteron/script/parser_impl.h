/// \file
/// The parser's state: names in scope, the functions of the module, and the function being read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/block_builder.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/syntax.h"
#include "deuteron/tir/functor.h"

namespace deuteron::script {

using tir::IterVar;
using tir::IterVarType;
using tir::Range;

/// What names stand for, in nested scopes; inner ones hide outer ones.
class Scopes {
 public:
  void Push() { frames_.emplace_back(); }
  void Pop();
  void Define(std::string_view name, ObjectRef value);
  /// Null if it stands for nothing.
  ObjectRef Find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::vector<ObjectRef>> values_;
  std::vector<std::vector<std::string_view>> frames_ = std::vector<std::vector<std::string_view>>(1);
};

/// A function whose first lines have been read.
struct FunctionHeader {
  std::string_view name;
  size_t at = 0;
  bool is_prim = false;
  bool is_private = false;
  bool is_pure = true;
  /// Whether the decorator says s_tir, and what.
  std::optional<bool> s_tir;
  /// Position of the `:` before the body.
  size_t body = 0;
  Span span;
  Array<relax::Var> params;
  Type ret_ty;
  Array<tir::Var> prim_params;
  Map<tir::Var, tir::Buffer> buffer_map;
  /// Parameters and symbols.
  std::vector<std::pair<std::string_view, ObjectRef>> names;
  GlobalVar global_var;
};

/// A block of a kernel as its statements are read.
struct BlockInProgress {
  Array<IterVar> iter_vars;
  Array<PrimExpr> iter_values;
  PrimExpr predicate;
  std::optional<Array<tir::BufferRegion>> reads;
  std::optional<Array<tir::BufferRegion>> writes;
  Map<String, Any> annotations;
  Array<tir::Buffer> alloc_buffers;
  tir::Stmt init;
};

class Parser {
 public:
  Parser(const SourceText& source, std::vector<Token> tokens)
      : source_(source), tokens_(source, std::move(tokens)), builder_(std::make_unique<relax::BlockBuilder>()) {}

  /// parse_module.cc
  IRModule Module();

 private:
  [[noreturn]] void Fail(const Syntax& node, const std::string& message) const { source_.Fail(node.at, message); }
  /// Runs `action`; errors from the IR's constructors and type inference get the place `at`.
  template <typename Action>
  auto Located(size_t at, Action action) -> decltype(action());
  [[noreturn]] void Relocate(size_t at, const tvm::ffi::Error& error) const;

  // parse_module.cc
  void ClassBody(std::string_view name);
  void ModuleStatement(const Syntax& statement);
  void Metadata();
  void SymbolDeclaration(std::string_view name, const Syntax& value);
  FunctionHeader Header(const std::vector<const Syntax*>& decorators, bool nested);
  std::vector<const Syntax*> Decorators();
  void AddHeader(FunctionHeader header);
  void Body(FunctionHeader* header);
  GlobalVar Global(std::string_view name, size_t at);
  Map<String, Any> Dict(const Syntax& node);
  VDevice Device(const Syntax& node);
  /// Consumes the end of a statement; the span of its `# at` comment, or null.
  Span EndStatement();
  /// Calls `statement` for each statement of the suite that begins with `:`.
  template <typename Each>
  void Suite(Each statement);

  // parse_expr.cc: scalars and attribute values.
  PrimExpr Prim(const Syntax& node);
  PrimExpr PrimAs(const Syntax& node, DataType dtype);
  PrimExpr PrimLiteral(const Syntax& node, DataType dtype);
  PrimExpr PrimName(const Syntax& node);
  PrimExpr PrimCall(const Syntax& node);
  PrimExpr PrimOperator(const Syntax& node);
  PrimExpr PrimMath(const Syntax& node, std::string_view name);
  PrimExpr TypedValue(const Syntax& node, DataType dtype);
  std::pair<PrimExpr, PrimExpr> Operands(const Syntax& a, const Syntax& b);
  /// A dimension: an expression, or one in a string; symbols that are new are defined in a signature.
  PrimExpr Dimension(const Syntax& node);
  Array<PrimExpr> Dimensions(const Syntax& node);
  std::optional<DataType> DtypeName(std::string_view dotted) const;
  DataType DtypeOf(const Syntax& node);
  std::string StringOf(const Syntax& node, const char* what);
  int64_t IntOf(const Syntax& node, const char* what);
  bool BoolOf(const Syntax& node, const char* what);
  Any Value(const Syntax& node);
  ObjectRef IndexMapOf(const Syntax& lambda);
  Array<PrimExpr> Indices(const Syntax& subscript);
  tir::Var Symbol(std::string_view name, DataType dtype);

  // parse_tir.cc
  tir::PrimFunc PrimFunction(FunctionHeader* header);
  tir::Stmt TirSuite();
  void TirStatement(Array<tir::Stmt>* out);
  tir::Stmt TirFor();
  tir::Stmt TirWith(size_t at);
  tir::Stmt TirBlock(const Syntax& call);
  tir::Stmt TirIf();
  void TirAssign(const Syntax& target, const Syntax* annotation, const Syntax& value, Array<tir::Stmt>* out);
  bool TirDeclaration(const Syntax& target, const Syntax& call, const std::string& name, Array<tir::Stmt>* out);
  void TirExpression(const Syntax& node, Array<tir::Stmt>* out);
  void AxisRemap(const Syntax& target, const Syntax& call);
  void AxisOne(const Syntax& target, const Syntax& call, IterVarType type);
  Array<tir::BufferRegion> Regions(const Syntax& call);
  tir::BufferRegion Region(const Syntax& node);
  tir::Buffer BufferOf(const Syntax& call, std::string_view name, size_t first_argument);
  tir::Buffer FindBuffer(const Syntax& node);
  BlockInProgress& OpenBlock(const Syntax& node);

  // parse_relax.cc
  Type TypeOf(const Syntax& node);
  Type TensorTypeOf(const Syntax* call);
  relax::Function RelaxFunction(FunctionHeader* header);
  struct Branch {
    relax::SeqExpr seq;
    std::string_view name;
    Type ty;
  };
  void RelaxStatement(std::vector<relax::BindingBlock>* blocks, relax::Expr* result, Branch* branch);
  void RelaxAssign(const Syntax& target, const Syntax* annotation, const Syntax& value, Branch* branch,
                   relax::Expr* result, Span span);
  void Bind(std::string_view name, size_t at, Type ty, const relax::Expr& value, const Span& span);
  void Dataflow(std::vector<relax::BindingBlock>* blocks);
  void RelaxIf(Branch* outer, relax::Expr* result);
  Branch IfBranch();
  void NestedFunction();
  void CloseBlock(std::vector<relax::BindingBlock>* blocks);
  relax::Var NewVar(std::string_view name, Type ty);
  relax::Expr Relax(const Syntax& node);
  relax::Expr RelaxName(const Syntax& node);
  relax::Expr RelaxOperator(const Syntax& node);
  bool IsScalar(const Syntax& node) const;
  relax::Expr ConstantAt(const Syntax& node);

  // parse_call.cc
  relax::Expr RelaxCall(const Syntax& node);
  relax::Expr OpCall(const Syntax& node, const std::string& name);
  relax::Expr DestinationCall(const Syntax& node, const std::string& name);
  relax::Expr PackedCall(const Syntax& node, const std::string& name);
  relax::Expr ConstantOf(const Syntax& node);
  relax::Expr Callee(const Syntax& node);
  relax::Expr Argument(const Syntax& node, std::string_view parameter);
  Array<Type> TypesOf(const Syntax& node);
  void SetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Syntax& node, const std::string& op);

  const SourceText& source_;
  TokenCursor tokens_;
  std::unique_ptr<relax::BlockBuilder> builder_;
  IRModule module_ = IRModule::Empty();
  Scopes scopes_;
  std::unordered_map<std::string_view, DataType> type_vars_;
  std::string_view class_name_ = "Module";
  std::unordered_map<std::string_view, GlobalVar> globals_;
  /// Uses of functions that have not been defined, by name: where.
  std::unordered_map<std::string_view, size_t> undefined_;
  std::vector<FunctionHeader> headers_;
  Map<String, Any> func_attrs_;
  std::vector<relax::Constant> constants_;
  std::vector<VDevice> devices_;
  bool in_signature_ = false;
  FunctionHeader* header_ = nullptr;
  /// int64 at the graph level, int32 in kernels.
  DataType default_int_ = DataType::Int(64);
  std::vector<BlockInProgress*> blocks_;
  bool alloc_is_block_ = false;
  /// Domains of loops in scope, for T.axis.remap.
  std::unordered_map<const Object*, Range> loop_domains_;
  /// Outputs of the open dataflow block.
  std::unordered_map<std::string_view, bool> dataflow_outputs_;
  int depth_ = 0;
};

template <typename Action>
auto Parser::Located(size_t at, Action action) -> decltype(action()) {
  try {
    return action();
  } catch (const tvm::ffi::Error& error) {
    Relocate(at, error);
  }
}

template <typename Each>
void Parser::Suite(Each statement) {
  if (++depth_ > 250) tokens_.Fail("blocks are nested more than 250 levels deep");
  tokens_.Expect(":");
  if (!tokens_.AtKind(TokenKind::kNewline)) {
    statement();
  } else {
    tokens_.Next();
    if (!tokens_.AtKind(TokenKind::kIndent)) tokens_.Fail("expected an indented block");
    tokens_.Next();
    while (!tokens_.AtKind(TokenKind::kDedent) && !tokens_.AtKind(TokenKind::kEnd)) {
      tokens_.Clear();
      statement();
    }
    if (tokens_.AtKind(TokenKind::kDedent)) tokens_.Next();
  }
  --depth_;
}

}  // namespace deuteron::script
