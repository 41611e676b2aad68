/// \file
/// A graph of kernels as one CUDA source: the parts of device/ that it needs, a configuration for each kernel, and the
/// function that the runtime calls. No name of the module is in it, so that the layers of a network that are alike are
/// one.
#include <algorithm>
#include <set>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/backend/cutlass/device_code.h"
#include "deuteron/backend/json/json_graph.h"
#include "deuteron/runtime/kernel_function.h"
#include "deuteron/support/letters.h"
#include "deuteron/support/number_text.h"
#include "deuteron/target/gpu_table.h"

namespace deuteron::backend::cutlass {
namespace {

std::string CudaTypeOf(const std::string& dtype) {
  if (dtype == "float16") return "cutlass::half_t";
  if (dtype == "float32") return "float";
  return dtype + "_t";
}
/// For kernels that need nothing of CUTLASS.
std::string PlainTypeOf(const std::string& dtype) { return dtype == "float16" ? "__half" : CudaTypeOf(dtype); }

std::string Float(double value) {
  const std::string number = NumberText(value, "%.9g");
  return number + (number.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

const char* Bool(const nlohmann::json& value) { return value.get<bool>() ? "true" : "false"; }

std::string Capitalised(std::string text) {
  text[0] = CapitalLetter(text[0]);
  return "Operand::k" + text;
}

std::string List(const nlohmann::json& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + value.dump();
  return "{" + text + "}";
}

/// The sizes of a block's and a warp's part of the result, and the stages of loads ahead, for operands of a dtype.
struct Tiles {
  const char *large, *small;
};
Tiles TilesFor(const std::string& dtype) {
  if (dtype == "float16") return {"128, 128, 64, 64, 4", "64, 64, 32, 32, 5"};
  if (dtype == "int8") return {"128, 128, 64, 64, 3", "64, 64, 32, 32, 4"};
  // Three products each take more registers.
  return {"128, 64, 64, 32, 3", "64, 64, 32, 32, 4"};
}

class SourceWriter {
 public:
  SourceWriter(JsonGraph graph, const std::vector<std::string>& constants, int64_t processors)
      : graph_(std::move(graph)), constants_(constants), processors_(processors) {}

  std::string Write() {
    Operands();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind == JsonNode::kKernel) Kernel(i);
    }
    for (size_t i = 0; i < graph_.heads.size(); ++i) {
      body_ += "    call.Result(" + std::to_string(i) + ", " + Value(graph_.heads[i]) + ");\n";
    }
    std::string text = CallCode();
    for (const auto part : {&EpilogueCode, &ProductCode, &ConvolutionCode, &DecodeCode, &AttentionCode, &NormCode}) {
      if (parts_.count(part) != 0) text += part();
    }
    text += "\nnamespace deuteron {\nnamespace {\n" + configurations_ + "}  // namespace\n}  // namespace deuteron\n\n";
    text += "extern \"C\" __attribute__((visibility(\"default\"))) int " DEUTERON_NAMELESS_FUNCTION
            "(const deuteron::Tensor* const* tensors, int32_t count) {\n  using namespace deuteron;\n";
    text += "  return RunCall(tensors, count, " + std::to_string(graph_.inputs.size()) + ", " +
            std::to_string(graph_.heads.size()) + ", " + std::to_string(constants_.size()) + ", [](Call& call) {\n";
    return text + body_ + "  });\n}\n";
  }

 private:
  using Part = const char* (*)();

  static std::string Value(const JsonEntry& entry) { return "v" + std::to_string(entry.node); }

  /// Inputs and constants that kernels (or results) use.
  void Operands() {
    std::set<uint32_t> used;
    for (const JsonEntry head : graph_.heads) used.insert(head.node);
    for (const JsonNode& node : graph_.nodes) {
      for (const JsonEntry input : node.inputs) used.insert(input.node);
    }
    const auto define = [&](uint32_t node, const char* method, size_t index) {
      if (used.count(node) == 0) return;
      body_ += "    const View v" + std::to_string(node) + " = call." + method + "(" + std::to_string(index) + ");\n";
    };
    for (size_t i = 0; i < graph_.inputs.size(); ++i) define(graph_.inputs[i], "Input", i);
    for (const uint32_t node : graph_.constants) {
      const auto it = std::find(constants_.begin(), constants_.end(), graph_.nodes[node].name);
      define(node, "Constant", static_cast<size_t>(it - constants_.begin()));
    }
  }

  void Kernel(size_t index) {
    const JsonNode& node = graph_.nodes[index];
    const std::string family = node.attrs.at("family");
    std::string call;
    if (family == "product") {
      call = Product(index, "Product", "");
    } else if (family == "decode") {
      call = DecodeProduct(index);
    } else if (family == "convolution") {
      call = Convolution(index);
    } else if (family == "layer_norm" || family == "rms_norm") {
      call = Norm(index, family == "layer_norm");
    } else {
      call = Attention(index, family);
    }
    std::string operands;
    for (const JsonEntry input : node.inputs) operands += (operands.empty() ? "" : ", ") + Value(input);
    body_ += "    const View v" + std::to_string(index) + " = Kernel(\"" + node.name + "\", {" + operands +
             "}, [&] {\n" + call + "    });\n";
  }

  /// The result of the function that node `index` computes, or -1.
  std::string ResultOf(size_t index) const {
    for (size_t i = 0; i < graph_.heads.size(); ++i) {
      if (graph_.heads[i].node == index) return std::to_string(i);
    }
    return "-1";
  }

  std::string DtypeOf(const JsonEntry& entry) const { return graph_.nodes[entry.node].dtypes[entry.output]; }

  /// Whether the tile is to be compiled: results of fewer blocks than the device has processors get the small one.
  /// Products have both where only the run tells, convolutions the large one alone.
  bool UsesTile(const JsonNode& node, bool large) const {
    const nlohmann::json& blocks = node.attrs.at("blocks");
    if (blocks.is_null()) return large || node.attrs.at("family") != "convolution";
    return (blocks.get<int64_t>() >= processors_) == large;
  }

  /// What templates of products and convolutions are instantiated with; `element` is the operands' dtype.
  std::string Configure(size_t index, const std::string& element) {
    parts_.insert(&EpilogueCode);
    const JsonNode& node = graph_.nodes[index];
    const auto& attrs = node.attrs;
    const std::string name = "Config" + std::to_string(index), type = CudaTypeOf(element);
    const Tiles tiles = TilesFor(element);
    std::string text = "struct " + name + " {  // " + node.name + "\n";
    const auto line = [&text](const std::string& what) { text += "  " + what + ";\n"; };
    line("using Element = " + type);
    line("using Output = " + CudaTypeOf(node.dtypes[0]));
    line("static constexpr bool kTransposed = " + std::string(Bool(attrs.value("transposed", nlohmann::json(false)))));
    line("static constexpr int kAlignA = " + attrs.at("align_a").dump() + ", kAlignB = " + attrs.at("align_b").dump() +
         ", kAlignC = " + attrs.at("align_c").dump());
    line("static constexpr Operand kBias = " + Capitalised(attrs.at("bias")) +
         ", kResidual = " + Capitalised(attrs.at("residual")));
    const auto alias = [&](const char* as, const std::string& what) {
      line("template <typename T>\n  using " + std::string(as) + " = " + what + "<T>");
    };
    alias("Activation", "cutlass::epilogue::thread::" + attrs.at("activation").get<std::string>());
    alias("Combine", "cutlass::" + attrs.at("combine").get<std::string>());
    alias("Final", "cutlass::epilogue::thread::" + attrs.at("final").get<std::string>());
    line("static constexpr bool kLarge = " + std::string(Bool(UsesTile(node, /*large=*/true))) +
         ", kSmall = " + Bool(UsesTile(node, /*large=*/false)));
    line("static constexpr int64_t kProcessors = " + std::to_string(processors_));
    line("using Large = Tile<" + type + ", " + tiles.large + ">");
    line("using Small = Tile<" + type + ", " + tiles.small + ">");
    configurations_ += text + "};\n";
    return name;
  }

  /// Pointers to the operands of the epilogue, which follow the first `count` ones.
  std::string EpilogueOperands(const JsonNode& node, size_t count) const {
    std::string text;
    for (const char* operand : {"bias", "residual"}) {
      const bool there = node.attrs.at(operand) != "none";
      text += there ? ", &" + Value(node.inputs[count++]) : ", nullptr";
    }
    return text;
  }

  std::string Product(size_t index, const std::string& function, const std::string& right) {
    parts_.insert(&ProductCode);
    const JsonNode& node = graph_.nodes[index];
    const std::string config = Configure(index, DtypeOf(node.inputs[0]));
    return "      return " + function + "<" + config + ">(call, " + Value(node.inputs[0]) + ", " +
           (right.empty() ? Value(node.inputs[1]) : right) + EpilogueOperands(node, right.empty() ? 2 : 3) + ", " +
           ResultOf(index) + ");\n";
  }

  std::string DecodeProduct(size_t index) {
    parts_.insert(&DecodeCode);
    const JsonNode& node = graph_.nodes[index];
    const std::string name = "Decode" + std::to_string(index), packed = CudaTypeOf(DtypeOf(node.inputs[1])),
                      scales = CudaTypeOf(DtypeOf(node.inputs[2]));
    configurations_ += "struct " + name + " {\n  const " + packed + "* in0;\n  const " + scales +
                       "* in1;\n  __device__ cutlass::half_t operator()(int64_t i, int64_t j) const {\n    return " +
                       node.attrs.at("decode").get<std::string>() + ";\n  }\n};\n";
    const std::string decode = "      const " + name + " decode{" + Value(node.inputs[1]) + ".as<const " + packed +
                               ">(), " + Value(node.inputs[2]) + ".as<const " + scales + ">()};\n" +
                               "      const View weights = DecodeWeights(call, decode, " +
                               node.attrs.at("rows").dump() + ", " + node.attrs.at("columns").dump() + ");\n";
    return decode + Product(index, "Product", "weights");
  }

  std::string Convolution(size_t index) {
    parts_.insert(&ConvolutionCode);
    const JsonNode& node = graph_.nodes[index];
    const std::string config = Configure(index, DtypeOf(node.inputs[0]));
    return "      const ConvolutionShape shape = {" + List(node.attrs.at("strides")) + ", " +
           List(node.attrs.at("padding")) + ", " + List(node.attrs.at("dilation")) + "};\n      return Convolution<" +
           config + ">(call, shape, " + Value(node.inputs[0]) + ", " + Value(node.inputs[1]) +
           EpilogueOperands(node, 2) + ", " + ResultOf(index) + ");\n";
  }

  std::string Attention(size_t index, const std::string& family) {
    parts_.insert(&AttentionCode);
    const JsonNode& node = graph_.nodes[index];
    const auto& attrs = node.attrs;
    const std::string type = PlainTypeOf(DtypeOf(node.inputs[0]));
    std::string text = "      const AttentionMask mask = {" + Float(attrs.at("scale").get<double>()) + ", " +
                       Bool(attrs.at("causal")) + ", " + Bool(attrs.at("bottom_right")) + "};\n      return ";
    const char* function = family == "attention" ? "Attention"
                           : family == "stacked" ? "StackedAttention"
                                                 : "AttentionOfSequences";
    text += std::string(function) + "<" + type + ">(call, mask";
    const size_t tensors = family == "attention" ? 3 : family == "stacked" ? 1 : 5;
    for (size_t i = 0; i < tensors; ++i) text += ", " + Value(node.inputs[i]);
    if (family == "stacked") {
      for (const char* extent : {"heads", "channels", "value_channels"}) text += ", " + attrs.at(extent).dump();
    }
    if (family != "sequences") text += node.inputs.size() > tensors ? ", &" + Value(node.inputs[tensors]) : ", nullptr";
    return text + ", " + ResultOf(index) + ");\n";
  }

  std::string Norm(size_t index, bool shifts) {
    parts_.insert(&NormCode);
    const JsonNode& node = graph_.nodes[index];
    return "      return Norm<" + PlainTypeOf(DtypeOf(node.inputs[0])) + ">(call, " + Value(node.inputs[0]) + ", " +
           Value(node.inputs[1]) + ", " + (shifts ? "&" + Value(node.inputs[2]) : "nullptr") + ", " +
           Float(node.attrs.at("epsilon").get<double>()) + ", " + ResultOf(index) + ");\n";
  }

  JsonGraph graph_;
  const std::vector<std::string>& constants_;
  int64_t processors_;
  std::set<Part> parts_;
  std::string configurations_, body_;
};

}  // namespace

std::string WriteSource(const relax::CodegenRequest& request, std::vector<std::string>* constants) {
  const auto describe = [&request](const MatchedComposite& composite) {
    return DescribeKernel(composite, request.module);
  };
  const relax::ExternalFunction graph = GenerateGraph(request, "cutlass", describe);
  if (constants != nullptr) *constants = graph.constants;
  return SourceWriter(ParseJsonGraph(graph.code), graph.constants, ProcessorsOfGpu(ArchitectureOf(request))).Write();
}

}  // namespace deuteron::backend::cutlass
