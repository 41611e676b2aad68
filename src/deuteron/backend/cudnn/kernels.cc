#include "deuteron/backend/cudnn/kernels.h"

#include "deuteron/backend/cudnn/graph.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::cudnn {
namespace {

using cuda::TensorInfo;

enum Uid : int64_t { kX = 1, kW, kBias, kOut, kSum, kQuery, kKey, kValue };

void* Mutable(const void* data) { return const_cast<void*>(data); }

class CudnnKernel : public cuda::Kernel {
 public:
  explicit CudnnKernel(std::string what) : what_(std::move(what)) {}
  const std::vector<int64_t>& shape() const override { return shape_; }

 protected:
  [[noreturn]] void Fail(const std::string& problem) const {
    DEUTERON_THROW(UnsupportedError) << what_ << ": cuDNN cannot compute it on this device: " << problem
                                     << "; compile with --backend none";
    throw;  // not reached: the macro's call is not known to be final
  }

  std::string what_;
  std::vector<int64_t> shape_;
};

/// A convolution with bias and ReLU. cuDNN thinks of dimensions as (n, c, h, w), whatever the order in memory, which
/// strides tell.
class Convolution : public CudnnKernel {
 public:
  Convolution(const JsonNode& node, std::span<const TensorInfo> inputs) : CudnnKernel(DescribeKernel(node, inputs)) {
    const auto& attrs = node.attrs;
    last_ = attrs.at("layout") == "NHWC";
    bias_ = attrs.at("bias").get<bool>();
    relu_ = attrs.at("relu").get<bool>();
    strides_ = attrs.at("strides").get<std::vector<int64_t>>();
    padding_ = attrs.at("padding").get<std::vector<int64_t>>();
    dilation_ = attrs.at("dilation").get<std::vector<int64_t>>();
    x_ = Ordered(inputs[0].shape);
    w_ = Ordered(inputs[1].shape);
    // The graph tells groups by the channels of both.
    const auto groups = attrs.at("groups").get<int64_t>();
    if (x_.size() != 4 || w_.size() != 4 || x_[1] != groups * w_[1])
      DEUTERON_THROW(ModelError) << what_ << ": the channels do not fit";
    out_ = {x_[0], w_[0], Extent(0), Extent(1)};
    shape_ = last_ ? std::vector<int64_t>{out_[0], out_[2], out_[3], out_[1]} : out_;
    type_ = TypeOf(inputs[0].dtype);
    const bool exact = type_ == fe::DataType_t::FLOAT;
    fused_ = std::make_unique<Graph>([this](fe::graph::Graph* graph) { AddAll(graph); }, exact);
    if (bias_) {
      alone_ = std::make_unique<Graph>([this](fe::graph::Graph* graph) { AddConvolution(graph, kSum, true); }, exact);
      rest_ = std::make_unique<Graph>([this](fe::graph::Graph* graph) { AddRest(graph); }, false);
    }
  }

  void Run(cuda::Call* call, std::span<const void* const> inputs, void* output) const override {
    std::unordered_map<int64_t, void*> data = {{kX, Mutable(inputs[0])}, {kW, Mutable(inputs[1])}, {kOut, output}};
    if (bias_) data[kBias] = Mutable(inputs[2]);
    const std::string problem = fused_->Problem(*call);
    if (problem.empty()) return fused_->Run(call, data);
    // Exact single precision and uneven channels have no fused engine: the sum goes through memory.
    if (!bias_) Fail(problem);
    for (const Graph* graph : {alone_.get(), rest_.get()}) {
      if (const std::string other = graph->Problem(*call); !other.empty()) Fail(problem + "; in two steps: " + other);
    }
    int64_t count = 1;
    for (const int64_t dim : out_) count *= dim;
    void* sum = call->Scratch(static_cast<size_t>(count) * (type_ == fe::DataType_t::HALF ? 2 : 4));
    alone_->Run(call, {{kX, Mutable(inputs[0])}, {kW, Mutable(inputs[1])}, {kSum, sum}});
    rest_->Run(call, {{kSum, sum}, {kBias, Mutable(inputs[2])}, {kOut, output}});
  }

 private:
  std::vector<int64_t> Ordered(const std::vector<int64_t>& shape) const {
    return last_ && shape.size() == 4 ? std::vector<int64_t>{shape[0], shape[3], shape[1], shape[2]} : shape;
  }
  int64_t Extent(size_t axis) const {
    const int64_t window = dilation_[axis] * (w_[2 + axis] - 1) + 1;
    return (x_[2 + axis] + padding_[axis] + padding_[2 + axis] - window) / strides_[axis] + 1;
  }

  Operand AddConvolution(fe::graph::Graph* graph, int64_t result, bool is_output) const {
    const Operand x = graph->tensor(TensorOf(kX, x_, StridesOf(x_, last_), type_));
    const Operand w = graph->tensor(TensorOf(kW, w_, StridesOf(w_, last_), type_));
    const auto attributes = fe::graph::Conv_fprop_attributes()
                                .set_pre_padding({padding_[0], padding_[1]})
                                .set_post_padding({padding_[2], padding_[3]})
                                .set_stride(strides_)
                                .set_dilation(dilation_);
    const Operand sum = graph->conv_fprop(x, w, attributes);
    sum->set_dim(out_).set_stride(StridesOf(out_, last_));
    if (is_output) sum->set_output(true).set_uid(result).set_data_type(type_);
    return sum;
  }

  void AddEpilogue(fe::graph::Graph* graph, Operand value) const {
    const std::vector<int64_t> dims = {1, out_[1], 1, 1};
    const Operand bias = graph->tensor(TensorOf(kBias, dims, StridesOf(dims, last_), type_));
    value = graph->pointwise(value, bias, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    if (relu_) {
      value->set_dim(out_).set_stride(StridesOf(out_, last_));
      value = graph->pointwise(value, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
    }
    value->set_dim(out_).set_stride(StridesOf(out_, last_));
    value->set_output(true).set_uid(kOut).set_data_type(type_);
  }

  void AddAll(fe::graph::Graph* graph) const {
    const Operand sum = AddConvolution(graph, kOut, !bias_);
    if (bias_) AddEpilogue(graph, sum);
  }
  void AddRest(fe::graph::Graph* graph) const {
    AddEpilogue(graph, graph->tensor(TensorOf(kSum, out_, StridesOf(out_, last_), type_)));
  }

  bool last_ = false, bias_ = false, relu_ = false;
  std::vector<int64_t> strides_, padding_, dilation_;
  /// As (n, c, h, w) and (o, c, r, s).
  std::vector<int64_t> x_, w_, out_;
  fe::DataType_t type_ = fe::DataType_t::FLOAT;
  std::unique_ptr<Graph> fused_, alone_, rest_;
};

/// Attention of queries, keys and values in one tensor of half floats: (batch, row, 3, head, channel), or (row, batch,
/// head, 3, channel). cuDNN thinks of (batch, head, row, channel).
class Attention : public CudnnKernel {
 public:
  Attention(const JsonNode& node, std::span<const TensorInfo> inputs) : CudnnKernel(DescribeKernel(node, inputs)) {
    const auto& attrs = node.attrs;
    const auto heads = attrs.at("heads").get<int64_t>(), channels = attrs.at("channels").get<int64_t>(),
               value_channels = attrs.at("value_channels").get<int64_t>();
    const auto& stacked = inputs[0].shape;
    const bool rows_first = attrs.at("layout") == "SBN3H";
    const int64_t batch = stacked[rows_first ? 1 : 0], rows = stacked[rows_first ? 0 : 1];
    const int64_t width = 2 * channels + value_channels;
    const int64_t bytes = static_cast<int64_t>(cuda::BytesOf(inputs[0].dtype, 1));
    // From one (batch, head, row, channel) to the next.
    std::vector<int64_t> strides, out_strides;
    if (rows_first) {
      strides = {heads * width, width, batch * heads * width, 1};
      out_strides = {heads * value_channels, value_channels, batch * heads * value_channels, 1};
      offsets_ = {0, channels * bytes, 2 * channels * bytes};
      shape_ = {rows, batch, heads, value_channels};
    } else {
      strides = {rows * heads * width, channels, heads * width, 1};
      out_strides = {rows * heads * value_channels, value_channels, heads * value_channels, 1};
      offsets_ = {0, heads * channels * bytes, 2 * heads * channels * bytes};
      shape_ = {batch, rows, heads, value_channels};
    }
    std::vector<int64_t> value_strides = strides;
    if (!rows_first) value_strides[1] = value_channels;
    const fe::DataType_t type = TypeOf(inputs[0].dtype);
    const auto scale = attrs.at("scale").get<float>();
    const auto describe = [=](fe::graph::Graph* graph) {
      const std::vector<int64_t> dims = {batch, heads, rows, channels},
                                 value_dims = {batch, heads, rows, value_channels};
      const Operand q = graph->tensor(TensorOf(kQuery, dims, strides, type));
      const Operand k = graph->tensor(TensorOf(kKey, dims, strides, type));
      const Operand v = graph->tensor(TensorOf(kValue, value_dims, value_strides, type));
      auto attributes = fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(false);
      attributes.set_attn_scale(scale);
      const auto [out, stats] = graph->sdpa(q, k, v, attributes);
      out->set_output(true).set_uid(kOut).set_dim(value_dims).set_stride(out_strides).set_data_type(type);
    };
    graph_ = std::make_unique<Graph>(describe, false);
  }

  void Run(cuda::Call* call, std::span<const void* const> inputs, void* output) const override {
    if (const std::string problem = graph_->Problem(*call); !problem.empty()) Fail(problem);
    char* stacked = static_cast<char*>(Mutable(inputs[0]));
    graph_->Run(call, {{kQuery, stacked + offsets_[0]},
                       {kKey, stacked + offsets_[1]},
                       {kValue, stacked + offsets_[2]},
                       {kOut, output}});
  }

 private:
  /// Of queries, keys and values in the stacked tensor, in bytes.
  std::array<int64_t, 3> offsets_{};
  std::unique_ptr<Graph> graph_;
};

}  // namespace

std::unique_ptr<cuda::Kernel> MakeKernel(const JsonNode& node, std::span<const TensorInfo> inputs) {
  const std::string op = node.attrs.at("op");
  if (op == "conv2d") return std::make_unique<Convolution>(node, inputs);
  if (op == "attention") return std::make_unique<Attention>(node, inputs);
  DEUTERON_THROW(ModelError) << "the plugin cudnn has no kernel " << op;
}

}  // namespace deuteron::backend::cudnn
