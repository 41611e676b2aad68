/// \file
/// The walk over a model's graph that emits its conversion.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/frontend/onnx/custom.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/frontend/onnx/long_dims.h"
#include "deuteron/frontend/onnx/node_context.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/block_builder.h"

namespace deuteron::onnx {

/// Values by name, in a graph and the graphs around it, and the operator sets in force.
struct Scope {
  Scope* parent = nullptr;
  /// What is converted in it belongs to another function than what is around it.
  bool is_function = false;
  /// It is the graph itself, or what follows in it for one of several ranks: whose long lengths have names. Those of a
  /// loop's body would not be known outside.
  bool names_lengths = false;
  std::unordered_map<std::string_view, Value> values;
  std::unordered_map<std::string, int64_t> opsets;

  /// Null if undefined. A function has its own copy of a value from outside: what makes an expression of it there is
  /// not seen here.
  const Value* Find(std::string_view name);
  void Import(const std::vector<OpsetImport>& imported);
  int64_t Opset(std::string_view domain) const;
};

/// Thrown in a survey by what needs a value of which nothing is known.
struct NeedsUnknown {};

/// Thrown where the rank of a result depends on whether a length that the run knows is 1.
struct NeedsLength {
  PrimExpr length;
};

/// `name` as an identifier of the text; `otherwise` if nothing of it is left.
std::string Identifier(std::string_view name, const char* otherwise);

/// The name of an element of a sequence that is an input or output of the graph: "NAME[0]".
std::string ElementName(const std::string& name, size_t index);

/// An UnsupportedError if a tensor of that type is larger than the limits allow (support/limits.h), a ModelError if an
/// extent is negative. `what`: the tensor, for messages.
void CheckSize(const Type& type, std::string_view what);

/// Converts one model.
class Importer {
 public:
  Importer(std::shared_ptr<const ModelProto> model, const ImportOptions& options);

  IRModule Run();
  /// The same, going on after each problem.
  std::vector<Problem> Survey();

  /// For converters.
  relax::BlockBuilder& builder() { return builder_; }
  /// Channels of a block in com.microsoft.nchwc (nchwc.h).
  int64_t nchwc_block();
  relax::Expr ExprOf(const Value& value, const Span& span);
  Symbolic SymbolicOf(const Value& value);
  /// Type of a value without forcing it into an expression; null if not known.
  Type TypeOf(const Value& value);
  Tensor Decode(const TensorProto& tensor, const std::string& where) { return decoder_.Decode(tensor, where); }
  /// Converts a subgraph in the current scope, its inputs bound to `inputs`; its outputs.
  std::vector<Value> ImportGraph(const GraphProto& graph, const std::vector<Value>& inputs);
  /// A ModelError if nodes of a subgraph that is never run take values from outside of it whose dtypes they do not
  /// take.
  void CheckNeverRun(const GraphProto& graph);
  /// What `body` emits, as a sequence of its own that ends with the tuple of the values that it returns.
  relax::SeqExpr Sequence(const std::function<std::vector<Value>()>& body);
  /// Converts a graph that the run may not need: why it cannot be computed, where its nodes contradict their inputs.
  std::optional<std::string> WhyImpossible(const std::function<void()>& branch);
  /// Whether a length is 1; where that is not known, what uses it is imported for both.
  bool IsOneHere(const PrimExpr& length);
  /// The type of a sequence without symbols that only it defines.
  static Type TypeOutside(const relax::SeqExpr& sequence) { return TypeOutside(sequence, sequence.ty()); }
  /// `type` without them.
  static Type TypeOutside(const relax::SeqExpr& sequence, const Type& type);
  /// A local function of such a body. It may use what is defined around it, its parameters, and their symbols.
  relax::Function LocalFunction(const Array<relax::Var>& params, const std::function<std::vector<Value>()>& body);

 private:
  void CheckOperators();
  /// CheckSignature, of a node that is named where it fails.
  void CheckForm(const NodeProto& node, int64_t version);
  /// Runs a part of the work; in a survey its errors are problems of `node`, and it may fail.
  bool Attempt(const std::string& node, const std::string& op, const std::function<void()>& work);
  /// The outputs of a node that is not supported, as the model describes them.
  void BindUnknown(const NodeProto& node, Scope* scope);
  void AddParameters(Array<relax::Var>* params, Array<String>* names);
  /// The parameters that make up `input`, in order: itself, or the elements of a sequence or optional.
  std::vector<const ValueInfoProto*> TakenApart(const ValueInfoProto& input);
  relax::Var InputParameter(const ValueInfoProto& input);
  PrimExpr Dimension(const DimProto& dim, const std::string& input, size_t axis);
  void BindShapeOverrides(const std::vector<const ValueInfoProto*>& inputs);
  void BindOverride(const ValueInfoProto& input, const std::vector<int64_t>& dims);
  void BindInitializers(const GraphProto& graph, Scope* scope);
  /// Binds the outputs of nodes, each after those that it uses; of `outputs` all that one of them computes. Where a
  /// branch decides about a rank and a node cannot go on with either, what follows the branch is imported for each.
  void ImportNodes(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs, Scope* scope);
  /// Imports a node; in a survey, whether that was possible.
  bool Try(const NodeProto& node, Scope* scope);
  /// Whether nothing is known of the rank of one of its outputs.
  static bool HasResultOfNoRank(const NodeProto& node, Scope* scope);
  /// The first of nodes whose outputs are of either of two ranks; their number if none is.
  static size_t FirstOfEitherRank(std::span<const NodeProto* const> nodes, Scope* scope);
  /// Of nodes behind the first, whose outputs are of either of two ranks, for each of both.
  void ImportByRank(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                    Scope* scope);
  /// Imports nodes for a length of 1 and for any other, where the first of them needs to know.
  void ImportByLength(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                      const PrimExpr& length, Scope* scope);
  /// What nodes make of `values`, in a scope of their own.
  Results ImportIn(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                   std::unordered_map<std::string_view, Value> values, bool names_lengths);
  /// Forgets what nodes have computed; which of `outputs` that is.
  static std::vector<std::string_view> Unbind(std::span<const NodeProto* const> nodes,
                                              const std::vector<std::string_view>& outputs, Scope* scope);
  NodeContext ContextOf(const NodeProto& node, Scope* scope);
  void ImportNode(const NodeProto& node, Scope* scope);
  /// A node of an operator of the table.
  Results Convert(const NodeProto& node, Scope* scope, const std::vector<Value>& inputs);
  Results CallFunction(const FunctionProto& function, const NodeProto& node, std::vector<Value> inputs);
  /// The values of nodes in `order`, for ImportOptions::all_values.
  std::vector<ValueInfoProto> AllValues(const std::vector<const NodeProto*>& order);
  /// Adds `value`, or the elements of a sequence.
  void EmitOutput(const ValueInfoProto& output, const Value& value, const std::string& name,
                  Array<relax::Expr>* outputs, Array<String>* names);
  const FunctionProto* FindFunction(const NodeProto& node) const;

  std::shared_ptr<const ModelProto> model_;
  const ImportOptions& options_;
  CustomOperators custom_;
  TensorDecoder decoder_;
  relax::BlockBuilder builder_;
  LongDims long_dims_{&builder_};
  Scope* scope_ = nullptr;
  Scope root_;
  /// Of a survey; else null.
  std::vector<Problem>* problems_ = nullptr;
  std::unordered_map<std::string, tir::Var> dims_;
  std::unordered_map<std::string, int64_t> fixed_dims_;
  std::unordered_map<std::string, std::vector<int64_t>> fixed_shapes_;
  std::unordered_map<std::string_view, const FunctionProto*> functions_;
  /// Elements of inputs, and their names.
  std::deque<ValueInfoProto> elements_;
  std::deque<std::string> element_names_;
  /// Lengths that are 1, or are not, in the branch that is being imported.
  std::vector<std::pair<PrimExpr, bool>> lengths_;
  /// 0 until asked for.
  int64_t nchwc_block_ = 0;
  int call_depth_ = 0;
  int64_t imported_nodes_ = 0;
};

}  // namespace deuteron::onnx
