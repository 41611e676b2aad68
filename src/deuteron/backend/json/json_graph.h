/// \file
/// The graph that generators write as JSON and run sides read: nodes in order of evaluation, each an input of the
/// function, a constant of the executable or a kernel.
///
///     {"nodes": [{"op": "input", "name": "x", "attrs": {"shape": [[1, -1]], "dtype": ["float32"]}},
///                {"op": "const", "name": "f_dnnl_const_0", "attrs": {…}},
///                {"op": "kernel", "name": "dnnl.matmul", "inputs": [[0, 0, 0], [1, 0, 0]], "attrs": {…}}],
///      "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3]}
///
/// References are [node, output, version 0]. A dimension of -1 is symbolic.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron::backend {

struct JsonEntry {
  uint32_t node = 0;
  uint32_t output = 0;
};

struct JsonNode {
  enum Kind { kInput, kConst, kKernel };
  Kind kind = kInput;
  std::string name;
  std::vector<JsonEntry> inputs;
  /// Of each output.
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> dtypes;
  /// All attributes, those above included.
  nlohmann::json attrs;
};

struct JsonGraph {
  std::vector<JsonNode> nodes;
  /// Nodes of the function's parameters, in their order.
  std::vector<uint32_t> inputs;
  /// Nodes of constants.
  std::vector<uint32_t> constants;
  /// The results.
  std::vector<JsonEntry> heads;
};

/// A ModelError if `text` is no such graph: references only to what stands before, shapes for every output.
JsonGraph ParseJsonGraph(std::string_view text);

}  // namespace deuteron::backend
