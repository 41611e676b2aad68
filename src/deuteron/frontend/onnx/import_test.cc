#include "deuteron/frontend/onnx/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/expr.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/error.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron::onnx {
namespace {

/// Writes the wire format of onnx.proto.
struct Message {
  std::string bytes;

  Message& Varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
    bytes += static_cast<char>(value);
    return *this;
  }
  Message& Int(int field, int64_t value) {
    return Varint(static_cast<uint64_t>(field) << 3).Varint(static_cast<uint64_t>(value));
  }
  Message& Bytes(int field, const std::string& value) {
    Varint((static_cast<uint64_t>(field) << 3) | 2).Varint(value.size());
    bytes += value;
    return *this;
  }
  Message& Add(int field, const Message& message) { return Bytes(field, message.bytes); }
};

Message Node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::string& name = "") {
  Message node;
  for (const auto& input : inputs) node.Bytes(1, input);
  for (const auto& output : outputs) node.Bytes(2, output);
  return node.Bytes(3, name).Bytes(4, op);
}

/// Dimensions that are numbers or names; `type` is ONNX's number of it, of float32 unless given.
Message ValueInfo(const std::string& name, const std::vector<std::string>& dims, int64_t type = 1) {
  Message shape;
  for (const auto& dim : dims) {
    const bool number = std::isdigit(static_cast<unsigned char>(dim[0])) != 0;
    shape.Add(1, number ? Message().Int(1, std::stoll(dim)) : Message().Bytes(2, dim));
  }
  return Message().Bytes(1, name).Add(2, Message().Add(1, Message().Int(1, type).Add(2, shape)));
}

Message Ints(const std::string& name, const std::vector<int64_t>& values) {
  Message tensor;
  tensor.Int(1, static_cast<int64_t>(values.size())).Int(2, 7).Bytes(8, name);
  std::string raw(values.size() * 8, '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  return tensor.Bytes(9, raw);
}

struct Graph {
  std::vector<Message> nodes;
  std::vector<Message> initializers;
  std::vector<Message> inputs = {ValueInfo("x", {"n", "4"})};
  std::vector<std::string> outputs = {"y"};
  int64_t opset = 17;

  std::string Model() const {
    Message graph;
    for (const auto& node : nodes) graph.Add(1, node);
    graph.Bytes(2, "g");
    for (const auto& tensor : initializers) graph.Add(5, tensor);
    for (const auto& input : inputs) graph.Add(11, input);
    for (const auto& output : outputs) graph.Add(12, Message().Bytes(1, output));
    return Message().Int(1, 8).Add(7, graph).Add(8, Message().Int(2, opset)).bytes;
  }
};

std::string Write(const std::string& bytes) {
  static const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

relax::Function Main(const Graph& graph, const ImportOptions& options = {}) {
  return Downcast<relax::Function>(Load(Write(graph.Model()), options).Lookup("main"));
}

std::string ErrorOf(const std::string& bytes, const std::string& kind) {
  try {
    Load(Write(bytes));
  } catch (const ffi::Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.message();
    return std::string(error.message());
  }
  ADD_FAILURE() << "no " << kind;
  return "";
}

TEST(Import, WarnsOfOperatorSetsThatAreNotKnown) {
  for (const int64_t opset : {25, 26}) {
    std::vector<std::string> warnings;
    ImportOptions options;
    options.warn = [&](const std::string& message) { warnings.push_back(message); };
    const auto func = Main({.nodes = {Node("Relu", {"x"}, {"y"})}, .opset = opset}, options);
    EXPECT_EQ(func->params.size(), 1u);
    ASSERT_EQ(warnings.size(), opset == 26 ? 1u : 0u);
    for (const std::string& warning : warnings)
      EXPECT_NE(warning.find("operator set 26"), std::string::npos) << warning;
  }
}

TEST(Import, BindsNodesWithTheirNames) {
  const auto func = Main({.nodes = {Node("Relu", {"x"}, {"a"}, "/layer/relu"), Node("Tanh", {"a"}, {"y"})}});
  const auto block = func->body->blocks[0];
  ASSERT_GE(block->bindings.size(), 2u);
  EXPECT_EQ(block->bindings[0]->span->source, "/layer/relu");
  EXPECT_EQ(block->bindings[1]->span->source, "Tanh:y");
  const auto names = func->GetAttr<Array<String>>("input_names");
  ASSERT_TRUE(names.has_value() && names->size() == 1);
  EXPECT_EQ((*names)[0], "x");
  EXPECT_EQ(func->params[0].ty().as<TensorTypeNode>()->shape.value()[0]->kind, ExprKind::kVar);
}

TEST(Import, OrdersNodes) {
  const auto func = Main({.nodes = {Node("Tanh", {"a"}, {"y"}, "second"), Node("Relu", {"x"}, {"a"}, "first")}});
  EXPECT_EQ(func->body->blocks[0]->bindings[0]->span->source, "first");
}

TEST(Import, EvaluatesShapeArithmetic) {
  // y = reshape(x, shape(x) * [1, 1]): the shape is known to be that of x, so that nothing remains to be done.
  const auto func = Main(
      {.nodes = {Node("Shape", {"x"}, {"s"}), Node("Mul", {"s", "ones"}, {"t"}), Node("Reshape", {"x", "t"}, {"y"})},
       .initializers = {Ints("ones", {1, 1})}});
  ASSERT_EQ(func->body->blocks[0]->bindings.size(), 1u);
  EXPECT_TRUE(Downcast<relax::VarBinding>(func->body->blocks[0]->bindings[0])->value.same_as(func->params[0]));
}

TEST(Import, StopsEvaluatingWhereExpressionsGrow) {
  // A product of two copies of the last, again and again: as a tree it has 2^40 leaves.
  std::vector<Message> nodes = {Node("Shape", {"x"}, {"s0"})};
  for (int i = 0; i < 40; ++i) {
    const std::string last = "s" + std::to_string(i);
    nodes.push_back(Node("Add", {last, "one"}, {"t" + std::to_string(i)}));
    nodes.push_back(Node("Div", {last, "t" + std::to_string(i)}, {"d" + std::to_string(i)}));
    nodes.push_back(Node("Mul", {"d" + std::to_string(i), "t" + std::to_string(i)}, {"s" + std::to_string(i + 1)}));
  }
  nodes.push_back(Node("Identity", {"s40"}, {"y"}));
  EXPECT_NO_THROW(Main({.nodes = nodes, .initializers = {Ints("one", {1, 1})}}));
}

PrimExpr FirstDim(const relax::Function& func) { return func->ret_ty.as<TensorTypeNode>()->shape.value()[0]; }

TEST(Import, DimensionsJoinedAgainAndAgainDoNotGrow) {
  // x and z of n and m rows, which are equal or one: added to the sum in turn.
  std::vector<Message> nodes = {Node("Add", {"x", "z"}, {"s0"})};
  for (int i = 0; i < 60; ++i) {
    nodes.push_back(Node("Add", {"s" + std::to_string(i), i % 2 == 0 ? "x" : "z"}, {"s" + std::to_string(i + 1)}));
  }
  nodes.push_back(Node("Identity", {"s60"}, {"y"}));
  const std::vector<Message> inputs = {ValueInfo("x", {"n", "4"}), ValueInfo("z", {"m", "4"})};
  int64_t size = 0;
  PostOrderVisit(FirstDim(Main({.nodes = nodes, .inputs = inputs})), [&](const PrimExpr&) { ++size; });
  EXPECT_LE(size, 6);
}

size_t LongestLine(const Graph& graph) {
  std::istringstream text(script::Print(Load(Write(graph.Model()))));
  size_t longest = 0;
  for (std::string line; std::getline(text, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Import, LengthsOfPartsOfPartsDoNotGrow) {
  // Rows m to k of x twice; of these rows m to k, twice; and so on.
  std::vector<Message> nodes = {Node("Shape", {"a"}, {"m"}), Node("Shape", {"b"}, {"k"})};
  for (int i = 0; i < 8; ++i) {
    const std::string at = std::to_string(i);
    nodes.push_back(Node("Slice", {i == 0 ? "x" : "s" + at, "m", "k"}, {"part" + at}));
    nodes.push_back(Node("Tile", {"part" + at, "twice"}, {"s" + std::to_string(i + 1)}));
  }
  nodes.push_back(Node("Identity", {"s8"}, {"y"}));
  const std::vector<Message> inputs = {ValueInfo("x", {"n", "4"}), ValueInfo("a", {"m"}), ValueInfo("b", {"k"})};
  EXPECT_LE(LongestLine({.nodes = nodes, .initializers = {Ints("twice", {2, 1})}, .inputs = inputs}), 800u);
}

TEST(Import, LengthsOfWhichNoSignIsKnownDoNotGrow) {
  // A vector k shorter than the last one, or as long as another; and so on.
  std::vector<Message> nodes = {Node("Shape", {"a"}, {"k"})};
  std::vector<Message> inputs = {ValueInfo("s0", {"n"}), ValueInfo("a", {"k"})};
  for (int i = 0; i < 8; ++i) {
    const std::string at = std::to_string(i);
    nodes.push_back(Node("Shape", {"s" + at}, {"n" + at}));
    nodes.push_back(Node("Sub", {"n" + at, "k"}, {"d" + at}));
    nodes.push_back(Node("ConstantOfShape", {"d" + at}, {"z" + at}));
    nodes.push_back(Node("Add", {"b" + at, "z" + at}, {"s" + std::to_string(i + 1)}));
    inputs.push_back(ValueInfo("b" + at, {"m" + at}));
  }
  nodes.push_back(Node("Identity", {"s8"}, {"y"}));
  EXPECT_LE(LongestLine({.nodes = nodes, .inputs = inputs}), 800u);
}

TEST(Import, TheFirstRowsOfATableAreAsManyAsWhatTheyAreAddedTo) {
  const std::vector<Message> nodes = {Node("Shape", {"x"}, {"s"}), Node("Slice", {"s", "zero", "one"}, {"n"}),
                                      Node("Slice", {"table", "zero", "n"}, {"first"}),
                                      Node("Add", {"x", "first"}, {"sum"}), Node("Add", {"first", "sum"}, {"y"})};
  const std::vector<Message> inputs = {ValueInfo("x", {"n", "4"}), ValueInfo("table", {"512", "4"})};
  const auto func = Main({.nodes = nodes, .initializers = {Ints("zero", {0}), Ints("one", {1})}, .inputs = inputs});
  EXPECT_EQ(FirstDim(func)->kind, ExprKind::kVar);
}

TEST(Import, PositionsOfTablesOfAsManyRowsAreCheckedOnce) {
  const std::vector<Message> nodes = {Node("Unsqueeze", {"row", "axis"}, {"at"}),
                                      Node("RotaryEmbedding", {"x", "cosines", "sines", "at"}, {"y"})};
  const auto checks = [&](const std::string& rows) {
    const std::vector<Message> inputs = {ValueInfo("x", {"1", "2", "3", "8"}), ValueInfo("cosines", {"n", "4"}),
                                         ValueInfo("sines", {rows, "4"})};
    const Graph graph = {
        .nodes = nodes, .initializers = {Ints("row", {0, 1, 5}), Ints("axis", {0})}, .inputs = inputs, .opset = 23};
    const std::string text = script::Print(Load(Write(graph.Model())));
    int64_t count = 0;
    for (size_t at = text.find("check_indices"); at != std::string::npos; at = text.find("check_indices", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(checks("n"), 1);
  EXPECT_EQ(checks("m"), 2);
}

/// A loop of `n` steps that makes `appended` of the number of a step and appends it to the state, which begins as x.
std::string LoopThatAppends(const std::vector<Message>& appended) {
  Message body;
  for (const Message& node : appended) body.Add(1, node);
  body.Add(1, Node("Concat", {"state", "row"}, {"next"}).Add(5, Message().Bytes(1, "axis").Int(3, 0).Int(20, 2)));
  body.Add(1, Node("Identity", {"again"}, {"then"})).Bytes(2, "body");
  body.Add(11, ValueInfo("i", {}, 7)).Add(11, ValueInfo("again", {}, 9)).Add(11, ValueInfo("state", {"rows", "4"}));
  body.Add(12, ValueInfo("then", {}, 9)).Add(12, ValueInfo("next", {"more", "4"}));
  const Message loop = Node("Loop", {"n", "", "x"}, {"y"}).Add(5, Message().Bytes(1, "body").Add(6, body).Int(20, 5));
  const std::vector<Message> inputs = {ValueInfo("x", {"first", "4"}), ValueInfo("n", {}, 7),
                                       ValueInfo("z", {"1", "4"})};
  return script::Print(Load(Write(Graph{.nodes = {loop}, .inputs = inputs}.Model())));
}

TEST(Import, StepsThatAppendToAStateDoNotCarryIt) {
  const Message row = Node("Tanh", {"z"}, {"row"});
  const std::string stacked = LoopThatAppends({row});
  // A step takes its number and gives one row.
  EXPECT_NE(stacked.find("R.Shape([Loop_step])) -> R.Tuple(R.Tensor((1, 4), dtype=\"float32\"))"), std::string::npos)
      << stacked;
  const std::string carried =
      LoopThatAppends({Node("ReduceSum", {"state"}, {"sum"}), Node("Add", {"z", "sum"}, {"sums"}),
                       Node("Reshape", {"sums", "shape"}, {"row"}), Node("Shape", {"z"}, {"shape"})});
  EXPECT_NE(carried.find("state"), std::string::npos) << carried;
}

TEST(Import, EvaluatesOperatorsOnConstantsWhicheverTheyAre) {
  // Axes that TopK finds: there is no symbolic rule for it.
  const auto func = Main({.nodes = {Node("TopK", {"a", "k"}, {"v", "at"}), Node("Unsqueeze", {"x", "at"}, {"y"})},
                          .initializers = {Ints("a", {2, 9, 0}), Ints("k", {1})}});
  const auto shape = func->ret_ty.as<TensorTypeNode>()->shape.value();
  ASSERT_EQ(shape.size(), 3u);
  EXPECT_TRUE(IsConstInt(shape[1], 1));
}

TEST(Import, NormsOfFloat16AreSumsOfFloat32) {
  constexpr int64_t kFloat16 = 10;
  for (const char* op : {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "LpNormalization", "GlobalLpPool"}) {
    SCOPED_TRACE(op);
    const auto func =
        Main({.nodes = {Node(op, {"x"}, {"y"})}, .inputs = {ValueInfo("x", {"1", "3", "400", "400"}, kFloat16)}});
    int64_t sums = 0;
    for (const auto& binding : func->body->blocks[0]->bindings) {
      const auto* bound = binding.as<relax::VarBindingNode>();
      const auto* call = bound == nullptr ? nullptr : bound->value.as<relax::CallNode>();
      const auto* callee = call == nullptr ? nullptr : call->op.as<OpNode>();
      if (callee == nullptr || callee->name != "relax.sum") continue;
      ++sums;
      EXPECT_EQ(bound->var.ty().as<TensorTypeNode>()->dtype, DataType::Float(32));
    }
    EXPECT_EQ(sums, 1);
    EXPECT_EQ(func->ret_ty.as<TensorTypeNode>()->dtype, DataType::Float(16));
  }
}

TEST(Import, DimensionsWithoutNamesAreTheirOwn) {
  for (const char* name : {"?", "-1", " "}) {
    const auto func = Main({.nodes = {Node("Relu", {"x"}, {"y"})}, .inputs = {ValueInfo("x", {name, name})}});
    const auto shape = func->params[0].ty().as<TensorTypeNode>()->shape.value();
    EXPECT_FALSE(shape[0].same_as(shape[1])) << name;
  }
}

TEST(Import, FixesSymbolicDimensions) {
  const auto func = Main({.nodes = {Node("Relu", {"x"}, {"y"})}}, {.shapes = {{"x", {3, 4}}}});
  EXPECT_TRUE(IsConstInt(func->params[0].ty().as<TensorTypeNode>()->shape.value()[0], 3));
  EXPECT_THROW(Main({.nodes = {Node("Relu", {"x"}, {"y"})}}, {.shapes = {{"x", {3, 5}}}}), ffi::Error);
}

TEST(Import, NamesWhatIsWrongWithTheGraph) {
  const auto error = [](std::vector<Message> nodes) {
    return ErrorOf(Graph{.nodes = std::move(nodes)}.Model(), "ModelError");
  };
  EXPECT_NE(error({Node("Add", {"x", "b"}, {"a"}, "/p"), Node("Relu", {"a"}, {"b"}, "/q"), Node("Relu", {"b"}, {"y"})})
                .find("cycle"),
            std::string::npos);
  EXPECT_NE(error({Node("Add", {"x", "ghost"}, {"y"}, "/p")}).find("ghost"), std::string::npos);
  EXPECT_NE(error({Node("Relu", {"x"}, {"y"}, "/p"), Node("Abs", {"x"}, {"y"}, "/q")}).find("twice"),
            std::string::npos);
  EXPECT_NE(error({Node("Relu", {"x"}, {"z"})}).find("missing"), std::string::npos);
}

TEST(Import, ListsAllUnsupportedOperators) {
  const std::string message = ErrorOf(
      Graph{.nodes = {Node("Foo", {"x"}, {"a"}, "/p"), Node("Bar", {"a"}, {"y"}, "/q")}}.Model(), "UnsupportedError");
  for (const char* word : {"Foo", "Bar", "/p", "/q", "17"}) EXPECT_NE(message.find(word), std::string::npos) << word;
}

TEST(Import, SurvivesTruncationAndDamageAtEveryByte) {
  const std::string model = Graph{
      .nodes = {Node("Relu", {"x"}, {"a"}, "/p"), Node("Reshape", {"a", "t"}, {"y"})},
      .initializers = {
          Ints("t", {-1, 2})}}.Model();
  ASSERT_NO_THROW(Load(Write(model)));
  for (size_t length = 0; length < model.size(); ++length) {
    EXPECT_THROW(Load(Write(model.substr(0, length))), ffi::Error) << length;
  }
  // Whatever a changed byte means, it is imported or refused by an error that is not ours.
  for (size_t at = 0; at < model.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = model;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      try {
        Load(Write(damaged));
      } catch (const ffi::Error& error) {
        EXPECT_NE(error.kind(), "InternalError") << at << ": " << error.message();
      }
    }
  }
}

}  // namespace
}  // namespace deuteron::onnx
