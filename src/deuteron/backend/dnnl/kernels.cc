#include "deuteron/backend/dnnl/kernels.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

using ::dnnl::algorithm;
using ::dnnl::prop_kind;
using Dims = memory::dims;

constexpr auto kInference = prop_kind::forward_inference;

algorithm AlgorithmOf(const std::string& name) {
  static const std::map<std::string, algorithm> kAlgorithms = {{"relu", algorithm::eltwise_relu},
                                                               {"clip", algorithm::eltwise_clip},
                                                               {"gelu", algorithm::eltwise_gelu_erf},
                                                               {"gelu_tanh", algorithm::eltwise_gelu_tanh},
                                                               {"silu", algorithm::eltwise_swish},
                                                               {"tanh", algorithm::eltwise_tanh},
                                                               {"sigmoid", algorithm::eltwise_logistic},
                                                               {"linear", algorithm::eltwise_linear},
                                                               {"hardswish", algorithm::eltwise_hardswish},
                                                               {"hardsigmoid", algorithm::eltwise_hardsigmoid},
                                                               {"exp", algorithm::eltwise_exp},
                                                               {"abs", algorithm::eltwise_abs},
                                                               {"sqrt", algorithm::eltwise_sqrt},
                                                               {"square", algorithm::eltwise_square},
                                                               {"round", algorithm::eltwise_round},
                                                               {"elu", algorithm::eltwise_elu},
                                                               {"add", algorithm::binary_add},
                                                               {"multiply", algorithm::binary_mul},
                                                               {"subtract", algorithm::binary_sub},
                                                               {"divide", algorithm::binary_div},
                                                               {"maximum", algorithm::binary_max},
                                                               {"minimum", algorithm::binary_min}};
  const auto it = kAlgorithms.find(name);
  if (it == kAlgorithms.end()) DEUTERON_THROW(ModelError) << "oneDNN has no post-operation " << name;
  return it->second;
}

Dims DimsOf(const nlohmann::json& attrs, const char* key) { return attrs.at(key).get<Dims>(); }

memory::desc Any(const Dims& dims, memory::data_type type) { return {dims, type, memory::format_tag::any}; }

/// `value` seen as a tensor of other dimensions; plain if it has to be.
Value Reshape(PlanBuilder* plan, const Value& value, const Dims& dims) {
  if (value.desc.get_dims() == dims) return value;
  Value reshaped = value;
  reshaped.desc = value.desc.reshape(dims, true);
  if (reshaped.desc) return reshaped;
  reshaped = plan->AsLayout(value, PlainDesc(value.desc.get_dims(), value.desc.get_data_type()));
  reshaped.desc = reshaped.desc.reshape(dims);
  return reshaped;
}

/// `source` with dimensions of 1 before it, or those of the result that it is folded into.
Dims Aligned(const Dims& source, const Dims& result) {
  const auto count = [](const Dims& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  };
  if (count(source) == count(result)) return result;
  Dims dims(result.size(), 1);
  // The dimensions before the last are of 1, if there are more of them than the result has.
  for (size_t i = 0; i < std::min(source.size(), dims.size()); ++i)
    dims[dims.size() - 1 - i] = source[source.size() - 1 - i];
  return dims;
}

/// The post-operations, scales and zero points of a kernel whose results, as the primitive sees them, have dimensions
/// `dims`.
class Attributes {
 public:
  /// `sources`: the kernel's inputs from `next` on. `channel_mask`: the dimensions of the weights that scales by
  /// channel run along. `only_of_result`: no scales and zero points of the operands, which are taken for zeros.
  Attributes(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs, size_t next, const Dims& dims,
             int channel_mask, bool only_of_result = false)
      : plan_(plan) {
    ::dnnl::post_ops ops;
    for (const auto& post : node.attrs.value("posts", nlohmann::json::array())) {
      const algorithm kind = AlgorithmOf(post.at("alg"));
      if (post.at("kind") == "eltwise") {
        ops.append_eltwise(kind, post.value("alpha", 0.f), post.value("beta", 0.f));
        continue;
      }
      Value source = inputs.at(next++);
      source = Reshape(plan, source, Aligned(source.desc.get_dims(), dims));
      // One that is as large as the result lies as the result does.
      const bool full = source.desc.get_dims() == dims;
      ops.append_binary(kind, full ? Any(dims, source.desc.get_data_type()) : source.desc);
      sources_.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len() - 1) | DNNL_ARG_SRC_1, source);
    }
    attr_.set_post_ops(ops);
    const std::string precision = node.attrs.value("precision", "f32");
    if (precision == "bf16") attr_.set_fpmath_mode(::dnnl::fpmath_mode::bf16);
    if (precision == "f16") attr_.set_fpmath_mode(::dnnl::fpmath_mode::f16);
    attr_.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
    for (const auto& each : node.attrs.value("quantization", nlohmann::json::array())) {
      const Value& parameter = inputs.at(next++);
      if (!only_of_result || each.at("argument") == "dst") Quantization(each, parameter, channel_mask);
    }
  }

  const ::dnnl::primitive_attr& attr() const { return attr_; }
  /// Adds the arguments of the post-operations to those of a primitive.
  void AddTo(const ::dnnl::primitive_desc_base& primitive, std::vector<std::pair<int, Value>>* arguments) const {
    for (const auto& [id, source] : sources_) {
      const memory::desc wanted = primitive.query_md(::dnnl::query::exec_arg_md, id);
      arguments->emplace_back(id, plan_->AsLayout(source, wanted));
    }
    arguments->insert(arguments->end(), quantization_.begin(), quantization_.end());
  }

 private:
  /// A scale or zero point, as a vector of float32 or int32.
  void Quantization(const nlohmann::json& attrs, const Value& parameter, int channel_mask) {
    const std::string name = attrs.at("argument");
    const int argument = name == "src" ? DNNL_ARG_SRC : name == "weights" ? DNNL_ARG_WEIGHTS : DNNL_ARG_DST;
    const bool is_scale = attrs.at("kind") == "scale";
    const int mask = attrs.at("by_channel").get<bool>() ? channel_mask : 0;
    const Dims dims = parameter.desc.get_dims();
    const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    const auto type = is_scale ? memory::data_type::f32 : memory::data_type::s32;
    if (is_scale) {
      attr_.set_scales_mask(argument, mask);
    } else {
      attr_.set_zero_points_mask(argument, mask);
    }
    quantization_.emplace_back((is_scale ? DNNL_ARG_ATTR_SCALES : DNNL_ARG_ATTR_ZERO_POINTS) | argument,
                               plan_->AsLayout(Reshape(plan_, parameter, {count}), PlainDesc({count}, type)));
  }

  PlanBuilder* plan_;
  ::dnnl::primitive_attr attr_;
  std::vector<std::pair<int, Value>> sources_;
  std::vector<std::pair<int, Value>> quantization_;
};

/// The dtype of a kernel's result.
memory::data_type ResultType(const JsonNode& node) { return DataTypeOf(node.dtypes.at(0)); }

/// What a kernel gives whose result has no elements: no primitive computes it.
Value Empty(PlanBuilder* plan, const JsonNode& node, const Dims& dims) {
  return plan->Buffer(PlainDesc(dims, ResultType(node)));
}

/// A ModelError unless dimensions are equal that the operator's definition says are.
void CheckEqual(const JsonNode& node, const char* what, int64_t expected, int64_t given) {
  if (expected != given) {
    DEUTERON_THROW(ModelError) << node.name << ": expected " << expected << " " << what << ", got " << given;
  }
}

/// `value` with its last two axes exchanged: the same elements, seen otherwise.
Value OnItsSide(Value value) {
  std::vector<int> order(value.desc.get_ndims());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 2], order.back());
  value.desc = value.desc.permute_axes(order);
  return value;
}

void SwapLast(Dims* dims) { std::swap((*dims)[dims->size() - 2], dims->back()); }

Value AddMatmul(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs);

/// Whether a convolution is of images of one pixel by windows of one, of float32.
bool IsOfOnePixel(const JsonNode& node, const std::vector<Value>& inputs) {
  const Value &src = inputs.at(0), &weights = inputs.at(1);
  const auto is_one = [](const Dims& dims) {
    return std::all_of(dims.begin() + 2, dims.end(), [](int64_t dim) { return dim == 1; });
  };
  const Dims padding = DimsOf(node.attrs, "padding");
  return src.desc.get_data_type() == memory::data_type::f32 && weights.desc.get_data_type() == memory::data_type::f32 &&
         ResultType(node) == memory::data_type::f32 && node.attrs.at("groups") == 1 && is_one(src.desc.get_dims()) &&
         is_one(weights.desc.get_dims()) &&
         std::all_of(padding.begin(), padding.end(), [](int64_t n) { return n == 0; });
}

/// Such a convolution, as the product that it is. oneDNN has no kernel for it as a convolution but that of its general
/// products, all variants of which the first call of one generates, on one thread, for as long as twenty primitives.
Value AddPixels(PlanBuilder* plan, JsonNode node, std::vector<Value> inputs) {
  const size_t rank = inputs[0].desc.get_ndims() - 2;
  node.attrs["transposed"] = true;
  const size_t bias = node.attrs.at("bias") ? 2 : inputs.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i == bias) continue;
    Dims dims = inputs[i].desc.get_dims();
    dims.resize(dims.size() > rank ? dims.size() - rank : 1, 1);
    inputs[i] = Reshape(plan, inputs[i], dims);
  }
  Value dst = AddMatmul(plan, node, inputs);
  Dims out = dst.desc.get_dims();
  out.resize(out.size() + rank, 1);
  dst.desc = dst.desc.reshape(out);
  return dst;
}

Value AddConvolution(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  Value src = inputs.at(0), weights = inputs.at(1);
  Dims in = src.desc.get_dims();
  Dims kernel = weights.desc.get_dims();
  Dims strides = DimsOf(node.attrs, "strides"), dilation = DimsOf(node.attrs, "dilation");
  Dims padding = DimsOf(node.attrs, "padding");
  CheckEqual(node, "channels", kernel[1] * node.attrs.at("groups").get<int64_t>(), in[1]);
  const size_t rank = in.size() - 2;
  Dims out = {in[0], kernel[0]}, dilates, before, after;
  for (size_t i = 0; i < rank; ++i) {
    dilates.push_back(dilation[i] - 1);
    before.push_back(padding[i]);
    after.push_back(padding[rank + i]);
    out.push_back((in[2 + i] + padding[i] + padding[rank + i] - dilation[i] * (kernel[2 + i] - 1) - 1) / strides[i] +
                  1);
  }
  if (IsEmpty(out)) return Empty(plan, node, out);
  if (!IsEmpty(in) && IsOfOnePixel(node, inputs)) return AddPixels(plan, node, inputs);
  if (IsEmpty(in)) {
    // All of it is padding, which oneDNN takes from images of some size only.
    for (size_t i = 0; i < rank; ++i) in[2 + i] += padding[i] + padding[rank + i];
    src = plan->Filled(PlainDesc(in, src.desc.get_data_type()), 0);
    padding.assign(2 * rank, 0);
    before.assign(rank, 0);
    after = before;
  }
  if (const int64_t groups = node.attrs.at("groups"); groups > 1) {
    kernel[0] /= groups;
    kernel.insert(kernel.begin(), groups);
    weights = Reshape(plan, weights, kernel);
  }
  // Of a column of pixels the library computes one at a time, of a row several.
  const bool is_column = rank == 2 && in[3] == 1 && kernel.back() == 1 && out[3] == 1 && in[2] > 1;
  if (is_column) {
    src = OnItsSide(src);
    weights = OnItsSide(weights);
    for (Dims* dims : {&in, &kernel, &out, &strides, &dilates, &before, &after}) SwapLast(dims);
  }
  const bool has_bias = node.attrs.at("bias");
  // By output channel, which are those of all groups.
  const Attributes posts(plan, node, inputs, has_bias ? 3 : 2, out, kernel.size() > in.size() ? 3 : 1);
  const memory::desc bias = has_bias ? PlainDesc({out[1]}, memory::data_type::f32) : memory::desc();
  // Of one input channel or few, the plain layout is what first convolutions of networks read.
  const ::dnnl::convolution_forward::primitive_desc primitive(
      Engine(), kInference, algorithm::convolution_direct, Any(in, src.desc.get_data_type()),
      Any(kernel, weights.desc.get_data_type()), bias, Any(out, ResultType(node)), strides, dilates, before, after,
      posts.attr());
  std::vector<std::pair<int, Value>> arguments = {
      {DNNL_ARG_SRC, plan->AsLayout(src, primitive.src_desc())},
      {DNNL_ARG_WEIGHTS, plan->AsLayout(weights, primitive.weights_desc())}};
  if (has_bias) arguments.emplace_back(DNNL_ARG_BIAS, plan->AsLayout(Reshape(plan, inputs[2], {out[1]}), bias));
  posts.AddTo(primitive, &arguments);
  const Value dst = plan->Buffer(primitive.dst_desc());
  arguments.emplace_back(DNNL_ARG_DST, dst);
  plan->Add(primitive, std::move(arguments));
  return is_column ? OnItsSide(dst) : dst;
}

/// uint8 less 128, as int8: what right operands of products have to be.
Value SignedBytes(PlanBuilder* plan, const Value& value) {
  if (value.desc.get_data_type() != memory::data_type::u8) return value;
  static const int32_t kMiddle = 128;
  const Value bytes = plan->Buffer(PlainDesc(value.desc.get_dims(), memory::data_type::s8));
  ::dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
  attr.set_zero_points_mask(DNNL_ARG_FROM, 0);
  const ::dnnl::reorder::primitive_desc reorder(Engine(), value.desc, Engine(), bytes.desc, attr);
  plan->Add(reorder, {{DNNL_ARG_FROM, value},
                      {DNNL_ARG_TO, bytes},
                      {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_FROM,
                       plan->Constant(&kMiddle, PlainDesc({1}, memory::data_type::s32))}});
  return bytes;
}

/// The dimensions of a product whose batches are broadcast, with so many columns.
Dims ProductDims(const Dims& left, const Dims& right, int64_t columns) {
  const size_t rank = std::max(left.size(), right.size());
  Dims dims(rank, 1);
  for (size_t i = 3; i <= rank; ++i) {
    for (const Dims* operand : {&left, &right}) {
      if (i <= operand->size() && (*operand)[operand->size() - i] != 1)
        dims[rank - i] = (*operand)[operand->size() - i];
    }
  }
  dims[rank - 2] = left[left.size() - 2];
  dims[rank - 1] = columns;
  return dims;
}

Value AddMatmul(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  Value a = inputs.at(0), b = SignedBytes(plan, inputs.at(1));
  const auto type = a.desc.get_data_type(), right_type = b.desc.get_data_type();
  Dims left = a.desc.get_dims(), right = b.desc.get_dims();
  const bool transposed = node.attrs.value("transposed", false);
  const int64_t columns = right[right.size() - (transposed ? 2 : 1)];
  CheckEqual(node, transposed ? "columns of the right operand" : "rows of the right operand", left.back(),
             right[right.size() - (transposed ? 1 : 2)]);
  const Dims result = ProductDims(left, right, columns);
  if (IsEmpty(result)) return Empty(plan, node, result);
  const bool sums_nothing = left.back() == 0;
  if (sums_nothing) {
    // oneDNN leaves the result of a sum of no products as it is: it is the sum of one product of zeros.
    left.back() = right[right.size() - (transposed ? 1 : 2)] = 1;
    a = plan->Filled(PlainDesc(left, type), 0);
    b = plan->Filled(PlainDesc(right, right_type), 0);
  }
  Dims out = result;
  if (right.size() == 2 && left.size() > 2) {
    // One weight for all: the rows of all batches are rows of one product.
    const int64_t rows = std::accumulate(left.begin(), left.end() - 1, int64_t{1}, std::multiplies<>());
    left = {rows, left.back()};
    out = {rows, columns};
    a = Reshape(plan, a, left);
  } else {
    left.insert(left.begin(), result.size() - left.size(), 1);
    right.insert(right.begin(), result.size() - right.size(), 1);
    a = Reshape(plan, a, left);
    b = Reshape(plan, b, right);
  }
  a = plan->AsLayout(a, PlainDesc(left, type));
  if (transposed) {
    std::vector<int> swap(right.size());
    std::iota(swap.begin(), swap.end(), 0);
    std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
    b = plan->AsLayout(b, PlainDesc(right, right_type));
    b.desc = b.desc.permute_axes(swap);
    std::swap(right[right.size() - 1], right[right.size() - 2]);
  }
  const bool packs = b.place == Value::kConstant;
  if (!packs && !transposed) b = plan->AsLayout(b, PlainDesc(right, right_type));
  const bool has_bias = node.attrs.at("bias");
  const Attributes posts(plan, node, inputs, has_bias ? 3 : 2, out, 1 << (out.size() - 1), sums_nothing);
  Dims bias_dims(out.size(), 1);
  bias_dims.back() = columns;
  const memory::desc bias = has_bias ? PlainDesc(bias_dims, memory::data_type::f32) : memory::desc();
  const ::dnnl::matmul::primitive_desc primitive(Engine(), a.desc, packs ? Any(right, right_type) : b.desc, bias,
                                                 PlainDesc(out, ResultType(node)), posts.attr());
  std::vector<std::pair<int, Value>> arguments = {{DNNL_ARG_SRC, a},
                                                  {DNNL_ARG_WEIGHTS, plan->AsLayout(b, primitive.weights_desc())}};
  if (has_bias) arguments.emplace_back(DNNL_ARG_BIAS, plan->AsLayout(Reshape(plan, inputs[2], bias_dims), bias));
  posts.AddTo(primitive, &arguments);
  Value dst = plan->Buffer(primitive.dst_desc());
  arguments.emplace_back(DNNL_ARG_DST, dst);
  plan->Add(primitive, std::move(arguments));
  dst.desc = dst.desc.reshape(result);
  return dst;
}

/// Images with their channels innermost.
memory::desc ChannelsLast(const memory::desc& desc) {
  static constexpr memory::format_tag kTags[] = {memory::format_tag::nwc, memory::format_tag::nhwc,
                                                 memory::format_tag::ndhwc};
  return {desc.get_dims(), desc.get_data_type(), kTags[desc.get_ndims() - 3]};
}

/// Sources of one layout, or with channels last if they are of several: of those oneDNN copies element by element.
Value AddConcat(PlanBuilder* plan, const JsonNode& node, std::vector<Value> inputs) {
  Dims dims = inputs.at(0).desc.get_dims();
  for (size_t i = 1; i < inputs.size(); ++i) dims[1] += inputs[i].desc.get_dims()[1];
  if (IsEmpty(dims)) return Empty(plan, node, dims);
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [](const Value& v) { return IsEmpty(v.desc.get_dims()); }),
               inputs.end());
  ::dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
  const bool mixes = std::any_of(inputs.begin(), inputs.end(),
                                 [](const Value& input) { return input.desc == ChannelsLast(input.desc); });
  std::vector<memory::desc> sources;
  for (Value& input : inputs) {
    if (mixes) input = plan->AsLayout(input, ChannelsLast(input.desc));
    sources.push_back(input.desc);
  }
  const ::dnnl::concat::primitive_desc primitive(Engine(), /*concat_dimension=*/1, sources, attr);
  std::vector<std::pair<int, Value>> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), inputs[i]);
  const Value dst = plan->Buffer(primitive.dst_desc());
  arguments.emplace_back(DNNL_ARG_DST, dst);
  plan->Add(primitive, std::move(arguments));
  return dst;
}

Value AddBinary(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs);

/// A binary operator on images of one pixel each as one on a matrix of images by channels: the library's kernel takes
/// post-operations of one value a channel for others there (v3.2).
Value AddBinaryOfPixels(PlanBuilder* plan, const JsonNode& node, std::vector<Value> inputs, const Dims& dims) {
  for (Value& input : inputs) {
    const Dims aligned = Aligned(input.desc.get_dims(), dims);
    input = plan->AsLayout(input, PlainDesc(input.desc.get_dims(), input.desc.get_data_type()));
    input = Reshape(plan, input, {aligned[0], aligned[1]});
  }
  return Reshape(plan, AddBinary(plan, node, inputs), dims);
}

Value AddBinary(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  Value src = inputs.at(0);
  const Dims dims = src.desc.get_dims();
  if (IsEmpty(dims)) return Empty(plan, node, dims);
  const bool is_pixels = dims.size() > 2 && std::all_of(dims.begin() + 2, dims.end(), [](int64_t d) { return d == 1; });
  if (is_pixels) return AddBinaryOfPixels(plan, node, inputs, dims);
  Value other = Reshape(plan, inputs.at(1), Aligned(inputs[1].desc.get_dims(), dims));
  const bool full = other.desc.get_dims() == dims;
  if (!full) other = plan->AsLayout(other, PlainDesc(other.desc.get_dims(), other.desc.get_data_type()));
  const Attributes posts(plan, node, inputs, 2, dims, 0);
  const auto describe = [&] {
    return ::dnnl::binary::primitive_desc(Engine(), AlgorithmOf(node.attrs.at("alg")), src.desc,
                                          full ? src.desc : other.desc, src.desc, posts.attr());
  };
  auto primitive = describe();
  if (std::string_view(primitive.impl_info_str()).substr(0, 3) == "ref") {
    // One value a channel beside channels in blocks.
    src = plan->AsLayout(src, ChannelsLast(src.desc));
    primitive = describe();
  }
  if (full) other = plan->AsLayout(other, src.desc);
  std::vector<std::pair<int, Value>> arguments = {{DNNL_ARG_SRC_0, src}, {DNNL_ARG_SRC_1, other}};
  posts.AddTo(primitive, &arguments);
  const Value dst = plan->Buffer(primitive.dst_desc());
  arguments.emplace_back(DNNL_ARG_DST, dst);
  plan->AddInPlace(primitive, std::move(arguments));
  return dst;
}

Value AddPooling(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  const Value& src = inputs.at(0);
  const Dims in = src.desc.get_dims();
  const size_t rank = in.size() - 2;
  const std::string kind = node.attrs.at("kind");
  Dims window, strides, dilation, padding;
  if (node.attrs.contains("window")) {
    window = DimsOf(node.attrs, "window");
    strides = DimsOf(node.attrs, "strides");
    dilation = DimsOf(node.attrs, "dilation");
    padding = DimsOf(node.attrs, "padding");
  } else {
    window.assign(in.begin() + 2, in.end());
    strides.assign(rank, 1);
    dilation.assign(rank, 1);
    padding.assign(2 * rank, 0);
  }
  Dims out = {in[0], in[1]}, dilates, before, after;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = dilation[i] * (window[i] - 1) + 1;
    const int64_t room = in[2 + i] + padding[i] + padding[rank + i] - reach;
    int64_t count = room / strides[i] + 1;
    if (node.attrs.value("ceil_mode", false)) {
      count = (room + strides[i] - 1) / strides[i] + 1;
      // A window that begins in the padding at the end does not count.
      if ((count - 1) * strides[i] >= in[2 + i] + padding[i]) --count;
    }
    dilates.push_back(dilation[i] - 1);
    before.push_back(padding[i]);
    after.push_back((count - 1) * strides[i] + reach - in[2 + i] - padding[i]);
    out.push_back(count);
  }
  if (IsEmpty(out)) return Empty(plan, node, out);
  if (IsEmpty(in)) {
    // Windows of nothing but padding.
    const bool counts_padding = node.attrs.value("include_padding", false);
    using Limits = std::numeric_limits<float>;
    const float nothing = kind == "max" ? -Limits::infinity() : counts_padding ? 0 : Limits::quiet_NaN();
    return plan->Filled(PlainDesc(out, src.desc.get_data_type()), nothing);
  }
  const algorithm how = kind == "max"                                ? algorithm::pooling_max
                        : node.attrs.value("include_padding", false) ? algorithm::pooling_avg_include_padding
                                                                     : algorithm::pooling_avg_exclude_padding;
  ::dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
  const auto describe = [&](const memory::desc& data) {
    return ::dnnl::pooling_forward::primitive_desc(Engine(), kInference, how, data, Any(out, data.get_data_type()),
                                                   strides, window, dilates, before, after, attr);
  };
  // Plain images without code of their own (in 3.2) are pooled an element at a time: twenty times as long.
  Value data = src;
  auto primitive = describe(data.desc);
  const auto is_generated = [](const auto& pooling) {
    return std::string_view(pooling.impl_info_str()).find("jit") != std::string_view::npos;
  };
  if (!is_generated(primitive)) {
    const memory::desc last = ChannelsLast(src.desc);
    if (auto better = describe(last); is_generated(better)) {
      data = plan->AsLayout(src, last);
      primitive = std::move(better);
    }
  }
  const Value dst = plan->Buffer(primitive.dst_desc());
  plan->Add(primitive, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, dst}});
  return dst;
}

Value AddSoftmax(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  const Value& src = inputs.at(0);
  if (IsEmpty(src.desc.get_dims())) return Empty(plan, node, src.desc.get_dims());
  ::dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
  const ::dnnl::softmax_forward::primitive_desc primitive(Engine(), kInference, algorithm::softmax_accurate, src.desc,
                                                          src.desc, node.attrs.at("axis"), attr);
  const Value dst = plan->Buffer(primitive.dst_desc());
  plan->AddInPlace(primitive, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  return dst;
}

Value AddLayerNorm(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  const Dims dims = inputs.at(0).desc.get_dims();
  const auto type = inputs[0].desc.get_data_type();
  // All rows alike: a matrix.
  const int64_t columns = dims.back();
  for (size_t i = 1; i <= 2; ++i)
    CheckEqual(node, i == 1 ? "scales" : "shifts", columns, inputs.at(i).desc.get_dims().back());
  if (IsEmpty(dims)) return Empty(plan, node, dims);
  const int64_t rows = std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>());
  const Value src = plan->AsLayout(Reshape(plan, inputs[0], {rows, columns}), PlainDesc({rows, columns}, type));
  ::dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
  const auto flags = ::dnnl::normalization_flags::use_scale | ::dnnl::normalization_flags::use_shift;
  const ::dnnl::layer_normalization_forward::primitive_desc primitive(
      Engine(), kInference, src.desc, src.desc, node.attrs.at("epsilon").get<float>(), flags, attr);
  Value dst = plan->Buffer(primitive.dst_desc());
  const memory::desc row = PlainDesc({columns}, memory::data_type::f32);
  plan->AddInPlace(primitive, {{DNNL_ARG_SRC, src},
                               {DNNL_ARG_SCALE, plan->AsLayout(Reshape(plan, inputs.at(1), {columns}), row)},
                               {DNNL_ARG_SHIFT, plan->AsLayout(Reshape(plan, inputs.at(2), {columns}), row)},
                               {DNNL_ARG_DST, dst}});
  dst.desc = dst.desc.reshape(dims);
  return dst;
}

}  // namespace

Value AddKernel(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs) {
  const std::string op = node.attrs.at("op");
  if (op == "convolution") return AddConvolution(plan, node, inputs);
  if (op == "matmul") return AddMatmul(plan, node, inputs);
  if (op == "pooling") return AddPooling(plan, node, inputs);
  if (op == "concat") return AddConcat(plan, node, inputs);
  if (op == "binary") return AddBinary(plan, node, inputs);
  if (op == "softmax") return AddSoftmax(plan, node, inputs);
  if (op == "layer_norm") return AddLayerNorm(plan, node, inputs);
  DEUTERON_THROW(ModelError) << "the plugin dnnl has no kernel " << op;
}

}  // namespace deuteron::backend::dnnl
