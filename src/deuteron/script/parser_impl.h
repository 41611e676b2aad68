/// \file
/// The parser's state: names in scope, the functions of the module, and the function being read.
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/script/cursor.h"
#include "deuteron/script/op_attrs.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/scopes.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::script {

using tir::IterVar;
using tir::IterVarType;
using tir::Range;

inline String ToString(std::string_view text) { return String(text.data(), text.size()); }
inline std::string Quote(std::string_view text) { return "`" + std::string(text) + "`"; }

/// The type of the condition that chooses between values of `dtype`: one truth, or one a lane.
inline DataType TruthFor(const PrimExpr& condition, DataType dtype) {
  return DataType::Bool(condition.dtype().lanes() == dtype.lanes() ? dtype.lanes() : 1);
}

/// A function whose first lines have been read.
struct FunctionHeader {
  std::string_view name;
  size_t at = 0;
  bool is_prim = false;
  bool is_private = false;
  bool is_pure = true;
  /// Whether the decorator says s_tir, and what.
  std::optional<bool> s_tir;
  /// Where the `:` before the body stands.
  size_t line = 0;
  size_t position = 0;
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

/// A binding block of a function as its bindings are read.
struct BindingsInProgress {
  bool is_dataflow = false;
  std::vector<relax::Binding> bindings;
  /// Names that a dataflow block gives to what follows it.
  TextMap<bool> outputs;
};

class Parser {
 public:
  Parser(const SourceText& source, const NamedTensors* weights)
      : source_(source), tokens_(source), weights_(weights), builder_(std::make_unique<relax::BlockBuilder>()) {}

  /// parse_module.cc
  IRModule Module();

 private:
  [[noreturn]] void Fail(const Syntax& node, const std::string& message) const { source_.Fail(node.at, message); }
  [[noreturn]] void Unsupported(const Syntax& node, const std::string& message) const {
    source_.Fail(node.at, message, /*unsupported=*/true);
  }
  /// Runs `action`; errors from the IR's constructors and type inference get the place `at`.
  template <typename Action>
  auto Located(size_t at, Action action) -> decltype(action());
  [[noreturn]] void Relocate(size_t at, const tvm::ffi::Error& error) const;

  // recovery.cc: statements, suites, and going on after errors.
  /// Consumes the end of a statement; the span of its `# at` comment, or null.
  Span EndStatement();
  Span SpanOf(const Token& line_end) const;
  /// Calls `statement` for each statement of the suite that begins with `:`.
  template <typename Each>
  void Suite(Each statement);
  /// Reads one statement; where it fails, keeps the error and goes on behind it.
  template <typename Each>
  void Statement(Each statement);
  /// How deep suites may be nested: one takes as much stack as four levels of an expression.
  int MaxSuites() const { return tokens_.max_depth() / 4; }
  void SuiteStart(size_t header_line);
  void CheckIndentation() const;
  void Recover(size_t line);
  /// Keeps an error that has no place yet: it belongs to the statement at `line`.
  void AddError(size_t line, const tvm::ffi::Error& error);
  /// Leaves what cannot be made because statements have failed since `failures` had.
  void CheckFailuresSince(size_t failures) const {
    if (failures_ > failures) throw AlreadyReported{};
  }
  /// What `name` stands for, null if nothing. Throws AlreadyReported for what an error has spoilt.
  const Object* Find(std::string_view name) const {
    const Object* value = scopes_.Find(name);
    if (value != nullptr && value == spoilt_.get()) throw AlreadyReported{};
    return value;
  }
  /// That `name` is not defined is said once.
  [[noreturn]] void FailUndefined(const Syntax& node);

  // parse_module.cc
  void ClassBody(std::string_view name);
  void ModuleStatement(const Syntax& statement, size_t line);
  void ModuleAttrs(const Syntax& node);
  void ModuleLine(bool* found);
  void SymbolDeclaration(std::string_view name, const Syntax& value);
  void AddHeader(FunctionHeader header);
  void FunctionAhead(const std::vector<const Syntax*>& decorators);
  void Body(FunctionHeader* header);
  GlobalVar Global(std::string_view name, size_t at);
  Map<String, Array<ObjectRef>> GlobalInfos(const Syntax& dict);

  // parse_header.cc
  FunctionHeader Header(const std::vector<const Syntax*>& decorators);
  std::vector<const Syntax*> Decorators();
  void FindDeclarations();
  void PrimParams(const std::vector<std::pair<std::string_view, const Syntax*>>& params, FunctionHeader* header);

  // parse_metadata.cc
  void Metadata();
  void MetadataEntry(const Syntax& item, std::vector<relax::Constant>* constants);
  relax::Constant WeightAt(const Syntax& node, const std::vector<int64_t>& shape, DataType dtype);
  void MetadataJson(const Syntax& text);
  relax::Expr ConstantAt(const Syntax& node);

  // parse_prim.cc: scalars.
  PrimExpr Prim(const Syntax& node);
  PrimExpr PrimAs(const Syntax& node, DataType dtype);
  static PrimExpr FloatLiteral(DataType dtype, double value);
  PrimExpr PrimLiteral(const Syntax& node, DataType dtype);
  PrimExpr PrimName(const Syntax& node);
  PrimExpr PrimOperator(const Syntax& node);
  PrimExpr PrimConditional(const Syntax& node);
  PrimExpr TypedValue(const Syntax& node, DataType dtype);
  std::pair<PrimExpr, PrimExpr> Operands(const Syntax& a, const Syntax& b);
  bool IsScalar(const Syntax& node) const;

  // parse_intrinsic.cc: functions on scalars.
  PrimExpr PrimCall(const Syntax& node);
  PrimExpr PrimMath(const Syntax& node, std::string_view name);
  PrimExpr LetOf(const Syntax& node);
  int64_t LanesOf(const Syntax& node);

  // parse_value.cc: dimensions, dtypes and attribute values.
  /// A dimension: an expression, or one in a string; symbols that are new are defined in a signature.
  PrimExpr Dimension(const Syntax& node);
  Array<PrimExpr> Dimensions(const Syntax& node);
  std::optional<DataType> DtypeName(std::string_view dotted) const;
  DataType DtypeOf(const Syntax& node);
  std::string StringOf(const Syntax& node, const char* what);
  int64_t IntOf(const Syntax& node, const char* what);
  bool BoolOf(const Syntax& node, const char* what);
  Any Value(const Syntax& node);
  Map<String, Any> Dict(const Syntax& node);
  VDevice Device(const Syntax& node);
  ObjectRef IndexMapOf(const Syntax& call);
  tir::Var Symbol(std::string_view name, DataType dtype);

  // parse_tir.cc: functions and statements.
  tir::PrimFunc PrimFunction(FunctionHeader* header);
  /// How a function writes blocks: T.sblock, or T.block as before, when T.alloc_buffer was of a block.
  enum class BlockSpelling : uint8_t { kNone, kOld, kNew };
  BlockSpelling FindBlocks(size_t line) const;
  tir::Stmt TirSuite();
  void TirStatement(Array<tir::Stmt>* out);
  tir::Stmt TirFor();
  tir::Stmt TirWith(size_t at);
  tir::Stmt TirIf();
  tir::Stmt TirAssert();
  void TirAttr(const Syntax& call, Array<tir::Stmt>* out);
  void TirAssign(const Syntax& target, const Syntax* annotation, const Syntax& value, Array<tir::Stmt>* out);
  void TirStore(const Syntax& target, const Syntax& value, Array<tir::Stmt>* out);
  /// Whether `values` declare so many symbols: T.int32(), T.int32()
  bool IsSymbols(const Syntax& values, size_t count) const;
  bool TirDeclaration(const Syntax& target, const Syntax& call, std::string_view name, Array<tir::Stmt>* out);
  void TirExpression(const Syntax& node, Array<tir::Stmt>* out);

  // parse_block.cc: blocks, their axes and regions; buffers.
  tir::Stmt TirBlock(const Syntax& call);
  /// begin:end.
  Range RangeOf(const Syntax& begin, const Syntax& end);
  void AxisRemap(const Syntax& target, const Syntax& call);
  void AxisOne(const Syntax& target, const Syntax& call, IterVarType type);
  Array<tir::BufferRegion> Regions(const Syntax& call);
  tir::BufferRegion Region(const Syntax& node);
  void MatchBuffer(const Syntax& target, const Syntax& call);
  /// Binds variables for the strides and the offset of a buffer to what they are of its region, or compares them.
  void MatchPlace(const Syntax& call, const tir::Buffer& buffer, const tir::BufferRegion& region);
  /// `buffer.elem_offset`.
  PrimExpr OffsetOf(const tir::Buffer& buffer);
  /// `is_given`: a caller or a region says where it begins, a variable if nothing else is written.
  tir::Buffer BufferOf(const Syntax& call, std::string_view name, size_t first_argument, bool is_given = false);
  /// Complains of what buffers here cannot be.
  void CheckBufferArguments(const Syntax& call);
  /// A.view(extent, …): the data of A in another shape.
  tir::Buffer ViewOf(const Syntax& call, std::string_view name);
  tir::Buffer FindBuffer(const Syntax& node);
  /// The element or vector that a subscript means: behind a buffer matched to a region, of the region's buffer.
  std::pair<tir::Buffer, Array<PrimExpr>> ElementOf(const Syntax& subscript);
  Array<PrimExpr> Indices(const Syntax& subscript);
  BlockInProgress& OpenBlock(const Syntax& node);

  // parse_type.cc
  Type TypeOf(const Syntax& node);
  Type UncachedTypeOf(const Syntax& node);
  Type TensorTypeOf(const Syntax* call);
  Type CallableOf(const Syntax& node, bool is_call);
  /// The type annotation that begins here.
  Type Annotation();
  Array<Type> TypesOf(const Syntax& node);
  void ForgetTypes();

  // parse_relax.cc: functions and statements of the graph level.
  relax::Function RelaxFunction(FunctionHeader* header);
  struct Branch {
    relax::SeqExpr seq;
    std::string_view name;
    Type ty;
  };
  void RelaxStatement(std::vector<relax::BindingBlock>* blocks, relax::Expr* result, Branch* branch);
  void RelaxAssign(const Syntax& target, Type ty, const Syntax& value, Branch* branch, relax::Expr* result,
                   const Span& span);
  bool RelaxDeclaration(const Syntax& target, const Syntax& value);
  void UnpackTuple(const Syntax& target, const Syntax& value, const Span& span);
  void EffectOf(const Syntax& node, const Span& span);
  void Bind(std::string_view name, size_t at, const Type& ty, const relax::Expr& value, const Span& span);
  /// Emits the last binding of a branch, whose variable is the branch's result.
  relax::Expr BindResult(std::string_view name, size_t at, const Type& ty, const relax::Expr& value, Branch* branch,
                         const Span& span);
  void CheckAnnotation(size_t at, const Type& ty, const Type& inferred);
  void Dataflow(std::vector<relax::BindingBlock>* blocks);
  TextMap<bool> DataflowOutputs() const;
  void RelaxIf(Branch* outer, relax::Expr* result);
  /// Nothing if a statement of it has failed.
  std::optional<Branch> IfBranch(std::string_view suffix);
  void NestedFunction();
  void CloseBlock(std::vector<relax::BindingBlock>* blocks);
  relax::Var NewVar(std::string_view name, Type ty);
  relax::Expr Emit(const relax::Expr& value, const Span& span = Span());

  // parse_graph_expr.cc: expressions of the graph level.
  relax::Expr Relax(const Syntax& node);
  relax::Expr RelaxName(const Syntax& node);
  relax::Expr RelaxOperator(const Syntax& node);
  /// An expression in a place where A-normal form wants a leaf: others are bound to a variable first.
  relax::Expr Leaf(const Syntax& node);
  relax::Expr LeafOf(const relax::Expr& value, const Span& span = Span());
  relax::Expr ConstantOf(const Syntax& node);
  /// Complains of an integer that `dtype` cannot hold.
  void CheckRange(const Syntax& literal, DataType dtype) const;
  relax::Constant ScalarOf(const Syntax& leaf, DataType dtype);

  // parse_call.cc
  relax::Expr RelaxCall(const Syntax& node);
  relax::Expr OpCall(const Syntax& node, std::string_view name);
  relax::Expr FunctionCall(const Syntax& node);
  relax::Expr DestinationCall(const Syntax& node, std::string_view name);
  relax::Expr PackedCall(const Syntax& node);
  relax::Expr EffectCall(const Syntax& node, std::string_view name);
  relax::Expr DeviceHint(const Syntax& node);
  relax::Expr Callee(const Syntax& node);
  relax::Expr Argument(const Syntax& node, std::string_view parameter);
  /// The type of a call of an operator, remembered by the operator, its attributes and the types of its arguments.
  void InferType(const relax::Call& call);

  // parse_attrs.cc
  const KnownOp& FindOp(const Syntax& node, std::string_view name);
  /// False if the attribute keeps its default.
  bool SetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Syntax& node, std::string_view op);

  const SourceText& source_;
  Cursor tokens_;
  /// Tensors that the metadata names; may be null.
  const NamedTensors* weights_;
  std::unordered_map<std::string, tvm::ffi::Tensor> weight_index_;
  Diagnostics diagnostics_;
  /// How many statements have been given up, with an error of their own or of another's.
  size_t failures_ = 0;
  std::unique_ptr<relax::BlockBuilder> builder_;
  IRModule module_ = IRModule::Empty();
  Scopes scopes_;
  /// What names stand for whose definitions have errors.
  ObjectRef spoilt_ = PrimType(DataType::Void());
  TextMap<DataType> type_vars_;
  /// Of the symbols that the body of the kernel whose signature is read declares.
  TextMap<DataType> declared_;
  std::string_view class_name_ = "Module";
  /// Null for functions whose headers have errors.
  TextMap<GlobalVar> globals_;
  std::vector<FunctionHeader> headers_;
  Map<String, Any> func_attrs_;
  /// Where module attributes are written.
  std::vector<size_t> attrs_lines_;
  /// By their kind, such as "ir.GenericConst"; null for those whose data is left out.
  std::unordered_map<std::string, std::vector<relax::Constant>> constants_;
  bool metadata_failed_ = false;
  std::vector<VDevice> devices_;
  bool in_signature_ = false;
  FunctionHeader* header_ = nullptr;
  /// int64 at the graph level, int32 in kernels.
  DataType default_int_ = DataType::Int(64);
  /// Depth of suites.
  int depth_ = 0;

  // Kernels.
  std::vector<BlockInProgress*> blocks_;
  bool alloc_is_block_ = false;
  /// T.attr statements of the suite being read, with the number of statements before each; and how many there are now.
  std::vector<std::pair<size_t, tir::AttrStmt>>* suite_attrs_ = nullptr;
  size_t suite_size_ = 0;
  /// Domains of loops in scope, for T.axis.remap.
  std::unordered_map<const Object*, Range> loop_domains_;
  /// Regions of buffers that are matched to them (T.match_buffer in a block).
  std::unordered_map<const Object*, tir::BufferRegion> matched_;
  std::vector<tir::Buffer> matched_buffers_;
  struct KnownIntrinsic {
    const tir::Intrinsic* info = nullptr;
    Op op;
  };
  TextMap<KnownIntrinsic> intrinsics_;

  // The graph level.
  BindingsInProgress* block_ = nullptr;
  /// Names of variables that are made here, by prefix: how many.
  std::unordered_map<std::string_view, int> made_names_;
  std::deque<KnownOp> known_ops_;
  TextMap<const KnownOp*> ops_;
  /// By their text, as long as no symbol changes its meaning.
  TextMap<Type> types_;
  struct KnownAttrs {
    const relax::OpInfo* info = nullptr;
    Attrs attrs;
  };
  TextMap<KnownAttrs> attrs_;
  struct Inference {
    relax::Call call;
    Type ty;
  };
  std::unordered_map<uint64_t, Inference> inferences_;
  /// Annotations and inferred types that agree.
  std::unordered_map<const Object*, std::pair<Type, Type>> agreeing_;
};

template <typename Action>
auto Parser::Located(size_t at, Action action) -> decltype(action()) {
  try {
    return action();
  } catch (const TextError&) {
    throw;
  } catch (const tvm::ffi::Error& error) {
    Relocate(at, error);
  }
}

template <typename Each>
void Parser::Statement(Each statement) {
  const size_t line = tokens_.line();
  try {
    if (tokens_.AtLineStart()) {
      CheckIndentation();
      tokens_.Clear();
      tokens_.Load();
    }
    statement();
  } catch (const AlreadyReported&) {
    Recover(line);
  } catch (const TextError& error) {
    diagnostics_.Add(error);
    Recover(line);
  } catch (const tvm::ffi::Error& error) {
    AddError(line, error);
    Recover(line);
  }
}

template <typename Each>
void Parser::Suite(Each statement) {
  if (depth_ >= MaxSuites()) {
    tokens_.Fail("blocks are nested more than " + std::to_string(MaxSuites()) + " levels deep");
  }
  const Temporarily depth(&depth_, depth_ + 1);
  tokens_.Expect(":");
  const size_t header_line = tokens_.line();
  struct Column {
    Cursor* cursor;
    size_t outer;
    ~Column() { cursor->set_suite_column(outer); }
  } const column{&tokens_, tokens_.suite_column()};
  if (!tokens_.AtKind(TokenKind::kNewline)) {
    // Statements behind the colon, on its line.
    tokens_.set_suite_column(std::numeric_limits<size_t>::max());
    do {
      statement();
    } while (!tokens_.AtLineStart());
    return;
  }
  SuiteStart(header_line);
  while (!tokens_.AtSuiteEnd()) Statement(statement);
}

}  // namespace deuteron::script
