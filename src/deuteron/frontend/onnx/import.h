/// \file
/// Reads ONNX models.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {

struct ImportOptions {
  /// Dimensions of graph inputs by name, one for each axis; the symbolic dimensions of an input are replaced
  /// by them wherever their names occur. A symbolic dimension's own name with one value does the same. Of an input that
  /// is a sequence, its length, which has to be given, of an optional 1 where it holds something; the elements are
  /// inputs of their own, "NAME[0]", ….
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Initialisers become parameters after the inputs (their values in the attribute "params", the number of
  /// inputs in "num_input") instead of constants.
  bool params_as_inputs = false;
  /// The results are all values that the nodes of the main graph compute, in an order in which they can be computed, by
  /// their names in the model: to see what passes through a network.
  bool all_values = false;
  /// Modules whose functions implement operators (attribute "onnx_operator", docs/custom-operators.md): such that are
  /// not known, and in place of such that are.
  std::vector<IRModule> custom;
  /// Told of what may make a model's results others than its maker's: an operator set that is not known yet.
  std::function<void(const std::string& message)> warn = nullptr;
  /// Of reading; those of the scope (support/limits.h) where none are given.
  std::optional<Limits> limits;
};

/// The model in `path` as a module of one Relax function, "main": one dataflow block, one tensor parameter a
/// graph input that is no initialiser, the output or the tuple of outputs. Steps of loops, and branches of which the
/// run takes one, are local functions. Every binding carries the name of its ONNX node as its span. Parameter names are
/// made fit for text; the names in the model are the function's attributes "input_names" and "output_names". Dimensions
/// of one name are one symbolic variable.
///
/// Sequences and optionals are taken apart: their lengths are known, so that nothing is left of them at run time. Those
/// that are results are as many results as they have elements, "NAME[0]", ….
///
/// Shape arithmetic on known dimensions is evaluated; initialisers are constants over the mapped file where its
/// alignment allows.
///
/// Throws
///  - ModelError: a file that is missing or malformed, names undefined or defined twice, cycles, missing
///    outputs, wrong attributes, data that does not fit its shape, external data outside of the folder;
///  - UnsupportedError: operators (all of them, at once), operator sets below 1, dtypes, uses of
///    operators that are valid but not implemented, and what is more than the limits allow;
///  - UsageError: `options.shapes` that do not fit the model.
IRModule Load(const std::string& path, const ImportOptions& options = {});

/// The same of a model in memory, which is copied. External data is looked for in `folder`; empty: the working folder.
IRModule Parse(std::string_view bytes, const ImportOptions& options = {}, const std::string& folder = "");

/// Something in a model that Load refuses.
struct Problem {
  /// The node's name ("Conv:output" of one without), or the input's or output's; empty if it is the model as a whole.
  std::string node;
  /// Its operator, "Conv", "com.acme.Foo"; empty if it is no node.
  std::string op;
  std::string reason;
  /// What would make it work.
  std::string help;
  /// Whether the model is wrong (a ModelError), rather than something not supported (an UnsupportedError).
  bool is_malformed = false;
};

/// All problems of a model at once, in the order of its nodes; none if Load takes it. Behind a node that is not
/// supported it looks on with the shapes that the model states of the node's outputs (value_info); of nodes behind
/// outputs without any, only whether there is such an operator.
///
/// Throws what Load throws if the model cannot be read, or its graph is no graph.
std::vector<Problem> FindProblems(const std::string& path, const ImportOptions& options = {});

/// What a file holds, without importing it.
struct ModelSummary {
  struct Value {
    std::string name;
    std::string dtype;
    /// Dimensions as numbers or names, "?" where the model has neither.
    std::vector<std::string> dims;
  };
  struct OpCount {
    std::string domain;
    std::string op_type;
    int64_t count = 0;
  };
  int64_t ir_version = 0;
  std::string producer;
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  /// By descending count, then by name; nodes of subgraphs included.
  std::vector<OpCount> ops;
  int64_t nodes = 0;
  int64_t initializers = 0;
  /// Elements and bytes of all initialisers.
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
};

/// Throws a ModelError if the file is missing or malformed.
ModelSummary Inspect(const std::string& path);

}  // namespace deuteron::onnx
