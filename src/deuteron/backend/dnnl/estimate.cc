/// \file
/// Both sides are computed from the same model of the machine: arithmetic at what a tile of registers allows, beside
/// what is moved. The figures of oneDNN are shares of the machine's peak that its kernels reach in networks (oneDNN
/// 3.2, ONEDNN_VERBOSE, AVX2 and AVX-512), and what it does that generated code does not: its convolutions pass over
/// the taps that fall into the padding, and hold channels in blocks, so that results need no transposition.
#include "deuteron/backend/dnnl/estimate.h"

#include <algorithm>
#include <utility>

#include "deuteron/backend/dnnl/attention_parts.h"
#include "deuteron/backend/dnnl/making.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/support/number_text.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/conv_cost.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::backend::dnnl {
namespace {

/// Of the peak of arithmetic, what oneDNN's kernels reach: convolutions with a window, those of one pixel, products.
constexpr double kWindowPart = 0.92;
constexpr double kPointPart = 0.85;
constexpr double kUnfoldedPart = 0.24;
constexpr double kProductPart = 0.82;
/// Of the same, what depthwise convolutions reach: sums of a few products.
constexpr double kDepthwisePart = 0.4;
/// Of the peak of a matrix unit (AMX), what the library reaches. Its convolutions change layouts besides.
constexpr double kUnitProductPart = 0.3, kUnitConvolutionPart = 0.15;
/// Cycles where the library has no kernel of vectors, as measured: of a multiply-add, and of a result with what follows
/// it, in convolutions with several results of each channel; of a number in a softmax along another than the last axis.
constexpr double kScalarCycles = 40, kScalarCyclesOfResult = 900, kScalarCyclesOfSoftmax = 460;
/// Of what a core gets from memory in a second, what a change of layout moves, counting the kernel that follows: most
/// of what a thread reads other cores have written, and their lines come one by one.
constexpr double kReorderPart = 0.25;
/// The same of what a convolution of generated code reads of other cores' results, where it shares out channels, all of
/// which the next one reads.
constexpr double kExchangedPart = 0.5;
/// Cycles to round two vectors of float32 to one of pairs of bfloat16, and to store it.
constexpr double kCyclesOfRounding = 10;
/// Cycles in which the library makes a byte of a run's right operand signed, as measured.
constexpr double kCyclesOfUnsignedByte = 1;
/// Cycles to make a vector of fours of bytes of four rows of a matrix that the run gives, to store it, and to sum it up
/// for a zero point.
constexpr double kCyclesOfBytes = 8;
/// What the library must be faster by in any number of runs: estimates err by as much. Of one run it need not: what
/// opens less is taken of choices that are about as fast (kEqualPart). Not where both multiply bytes:
/// generated code falls short of its estimate as much (it reads images of bytes with channels first).
constexpr double kLeastGain = 1.1;
/// What the system gives a process of memory that it has not had yet: faults, and zeros, of pages of 4 KiB or 2 MiB
/// (measured, 0.5 to 10 GB/s).
constexpr double kFreshBytesPerSecond = 4e9;
/// Cycles to enter one of its primitives: arguments by name, its own dispatch.
constexpr double kCyclesOfCall = 5000;

/// The first of so many results of a window, which lie `stride` apart, that is not before a position.
int64_t FirstFrom(int64_t position, int64_t stride, int64_t results) {
  return std::clamp<int64_t>((position + stride - 1) / stride, 0, results);
}

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Cycles of one core.
struct Cycles {
  double library = 0;
  double generated = 0;
  /// Numbers that generated code makes of one of the data, for other cores to read.
  double exchanged = 0;
  /// Whether generated code multiplies bytes, not the floats that they stand for.
  bool keeps_bytes = false;
  /// Whether generated code multiplies transformed tiles, by transformed weights.
  bool transforms = false;
  /// Whether the library has its general product only.
  bool is_general = false;
};

class Estimator {
 public:
  Estimator(const JsonKernel& kernel, const Type& result, int64_t expected_runs)
      : kernel_(kernel),
        expected_runs_(expected_runs),
        result_(DimsOf(result)),
        costs_(Target::Current().machine),
        lanes_(costs_.machine().Lanes(32)) {}

  Cycles OfConvolution() const {
    const std::vector<int64_t> weight = DimsOf(kernel_.inputs[1]->ty);
    const auto groups = kernel_.attrs.at("groups").get<int64_t>();
    const double pixels = Product(result_, 2, result_.size()) * static_cast<double>(result_[0]);
    const double taps = Product(weight, 2, weight.size());
    const tir::ConvWork work = Work(weight);
    if (work.IsDepthwise()) return OfDepthwise(work, pixels, taps);
    const double sum_length = taps * static_cast<double>(weight[1]);
    const int64_t channels = weight[0] / groups;
    Cycles cycles{.exchanged = SharesPixels() ? 0.0 : 1.0, .is_general = IsGeneralProduct(weight, groups)};
    const double sums = pixels * sum_length * static_cast<double>(groups * RoundUp(channels, lanes_));
    const bool is_unfolded = groups == 1 && UnfoldsImage(weight);
    cycles.is_general |= is_unfolded;
    const double part = HasTiles()    ? kUnitConvolutionPart
                        : is_unfolded ? kUnfoldedPart
                        : taps > 1    ? kWindowPart
                                      : kPointPart;
    cycles.library = 2 * sums * TapsInside(weight) / OpsPerCycle() / part;
    if (const auto unit = GroupsForUnit({weight[1], weight[0], static_cast<int64_t>(taps), groups})) {
      if (groups > 1 && HasTiles()) cycles.library *= TimesOfGroups(weight[1]);
      // Groups are as many whole tiles as they need.
      const double multiplied = groups > 1 ? pixels * sum_length * static_cast<double>(weight[0]) : sums;
      cycles.generated = 2 * multiplied / UnitOpsPerCycle() / unit->part + CyclesToPack();
      cycles.keeps_bytes = MultipliesBytes();
      return cycles;
    }
    if (const auto in_parts = CyclesInParts({pixels, static_cast<double>(channels), sum_length, taps});
        in_parts && groups == 1) {
      cycles.generated = sums * *in_parts;
      return cycles;
    }
    const tir::ImageLayout layout = LayoutOfGenerated(work);
    cycles.generated = CyclesOfConvolution(costs_, work, layout) + CyclesToPack();
    cycles.keeps_bytes = MultipliesBytesInVectors();
    cycles.transforms = TransformedTiles(costs_, work, layout).has_value();
    return cycles;
  }

  Cycles OfProduct() const {
    const std::vector<int64_t> left = DimsOf(kernel_.inputs[0]->ty);
    const size_t rank = result_.size();
    // By one matrix all rows are those of one product.
    double batch = Product(result_, 0, rank - 2);
    int64_t rows = result_[rank - 2];
    if (DimsOf(kernel_.inputs[1]->ty).size() == 2) rows *= static_cast<int64_t>(std::exchange(batch, 1));
    const auto depth = static_cast<double>(left.back());
    const double sums = batch * static_cast<double>(rows * RoundUp(result_[rank - 1], lanes_)) * depth;
    const double library =
        2 * sums / OpsPerCycle() / (HasTiles() ? kUnitProductPart : kProductPart) + CyclesOfUnsigned();
    if (GroupsForUnit({.channels = left.back(), .results = result_.back()})) {
      return {.library = library,
              .generated = 2 * sums / UnitOpsPerCycle() + CyclesToPack(),
              .keeps_bytes = MultipliesBytes()};
    }
    const tir::ProductSize size = {batch * static_cast<double>(rows), static_cast<double>(result_[rank - 1]), depth};
    if (const auto in_parts = CyclesInParts(size)) return {.library = library, .generated = sums * *in_parts};
    return {
        .library = library,
        .generated = batch * costs_.CyclesOfProduct(rows, depth / ProductsAtOnce(), result_[rank - 1]) + CyclesToPack(),
        .keeps_bytes = MultipliesBytesInVectors(),
        // All that the library (3.2) has for narrower vectors, but for a matrix by a vector.
        .is_general = Precision() == DataType::Float(32) && !HasWideVectors() && rows > 1 && result_[rank - 1] > 1};
  }

 private:
  tir::ConvWork Work(const std::vector<int64_t>& weight) const {
    const relax::Expr& kernel = kernel_.inputs[1];
    const bool is_constant = kernel->kind == RelaxKind::kConstant;
    return {
        .images = result_[0],
        .result = {result_.begin() + 2, result_.end()},
        .weights = weight,
        .strides = kernel_.attrs.at("strides"),
        .dilation = kernel_.attrs.at("dilation"),
        .groups = kernel_.attrs.at("groups"),
        .products_at_once = ProductsAtOnce(),
        .are_integers = MultipliesBytes(),
        .may_transform = is_constant && tir::MayTransform(kernel.ty().as<TensorTypeNode>()->dtype, Target::Current()),
        .expected_runs = expected_runs_};
  }

  /// The better layout: all of a network are assumed to have one.
  tir::ImageLayout LayoutOfGenerated(const tir::ConvWork& work) const {
    const auto cycles = [&](tir::ImageLayout layout) { return CyclesOfConvolution(costs_, work, layout); };
    const bool is_last = cycles(tir::ImageLayout::kChannelsLast) < cycles(tir::ImageLayout::kChannelsFirst);
    return is_last ? tir::ImageLayout::kChannelsLast : tir::ImageLayout::kChannelsFirst;
  }

  /// A load and a multiply-add for each tap.
  Cycles OfDepthwise(const tir::ConvWork& work, double pixels, double taps) const {
    const auto pipes = static_cast<double>(std::min(costs_.machine().vector_pipes, costs_.machine().load_pipes));
    const int64_t in_pixel = RoundUp(result_[1], lanes_) / lanes_;
    const double vectors = pixels * static_cast<double>(in_pixel);
    const double inside = taps * TapsInside(work.weights);
    const bool has_several_results = work.groups != result_[1];
    const double scalars = pixels * static_cast<double>(result_[1]) * (inside * kScalarCycles + kScalarCyclesOfResult);
    return {.library = has_several_results ? scalars : vectors * inside / pipes / kDepthwisePart,
            .generated = CyclesOfConvolution(costs_, work, LayoutOfGenerated(work))};
  }

  /// Whether threads of generated code share out pixels, as the library's do, rather than channels.
  bool SharesPixels() const {
    return tir::ThreadsShareRows(relax::AssumedBytes(kernel_.inputs[0]->ty) / static_cast<double>(result_[0]),
                                 relax::AssumedBytes(kernel_.inputs[1]->ty));
  }

  /// The part of a window's taps that fall into the image.
  double TapsInside(const std::vector<int64_t>& weight) const {
    const std::vector<int64_t> data = DimsOf(kernel_.inputs[0]->ty);
    double part = 1;
    for (size_t axis = 0; axis + 2 < result_.size(); ++axis) {
      const auto at = [&](const char* name) { return kernel_.attrs.at(name).at(axis).get<int64_t>(); };
      int64_t inside = 0;
      for (int64_t tap = 0; tap < weight[axis + 2]; ++tap) {
        const int64_t shift = at("padding") - tap * at("dilation");
        // Outputs i for which 0 <= i * stride - shift < extent.
        const auto first_from = [&](int64_t position) {
          return FirstFrom(std::max<int64_t>(position, 0), at("strides"), result_[axis + 2]);
        };
        inside += first_from(data[axis + 2] + shift) - first_from(shift);
      }
      part *= static_cast<double>(inside) / static_cast<double>(result_[axis + 2] * weight[axis + 2]);
    }
    return part;
  }

  /// What the operands are rounded to, where that is allowed.
  DataType Precision() const {
    return kernel_.attrs.contains("precision") ? transform::ParsePrecision(kernel_.attrs.at("precision"))
                                               : kernel_.inputs[0]->ty.as<TensorTypeNode>()->dtype;
  }

  bool MultipliesBytes() const { return Precision().is_integer() && Precision().bits() == 8; }

  /// Whether the library multiplies by tiles what is rounded, or of 16 or 8 bits.
  bool HasTiles() const {
    if (MultipliesBytes()) return Target::Current().HasFeature("amx-int8");
    if (Precision().bits() != 16) return false;
    return Target::Current().HasFeature(Precision().is_bfloat16() ? "amx-bf16" : "amx-fp16");
  }

  /// Of the library, in the type that it multiplies: it rounds what is float32 for tiles (AMX) only.
  double OpsPerCycle() const {
    const bool is_rounded = kernel_.attrs.contains("precision");
    return costs_.machine().OpsPerCycle(is_rounded && !HasTiles() ? DataType::Float(32) : Precision());
  }

  /// The groups that generated code has a matrix unit multiply (PackWeights).
  std::optional<tir::UnitGroups> GroupsForUnit(const tir::ConvGroups& conv) const {
    if (!(MultipliesBytes() ? IsByConstant() : ProductsAtOnce() == 2)) return std::nullopt;
    const Op dot = Op::Get(MultipliesBytes() ? "tir.dot_u8i8x4" : "tir.dot_bf16x2");
    return tir::GroupsForUnit(Target::Current(), dot, conv);
  }
  /// Cycles for a multiply-add where generated code has the unit multiply parts of float16 (PackWeights).
  std::optional<double> CyclesInParts(const tir::ProductSize& size) const {
    if (Precision() != DataType::Float(16) || !IsByConstant()) return std::nullopt;
    return tir::CyclesInParts(Target::Current(), size);
  }
  double UnitOpsPerCycle() const { return tir::UnitOpsPerCycle(costs_.machine(), Precision()); }

  /// Products that an instruction of generated code does in a lane (PackWeights).
  double ProductsAtOnce() const {
    if (MultipliesBytes()) return MultipliesBytesInVectors() ? 4 : 1;
    return IsByConstant() && Precision().is_bfloat16() && tir::MultipliesBfloat16(Target::Current()) ? 2 : 1;
  }
  bool MultipliesBytesInVectors() const {
    const bool is_packed = IsByConstant() || kernel_.attrs.at("op") == "matmul";
    return MultipliesBytes() && is_packed && !IsGrouped() && tir::MultipliesBytes(Target::Current()) && !NeedsUnit();
  }
  /// How many times as long tiles of the library take, of which groups of so many channels fill a part (measured).
  static double TimesOfGroups(int64_t channels) {
    return channels >= 128 ? 1 : channels >= 64 ? 1.3 : channels >= 24 ? 2 : 2.5;
  }
  /// The library's right operands are signed.
  double CyclesOfUnsigned() const {
    const Type& right = kernel_.inputs[1]->ty;
    const bool is_made_signed = right.as<TensorTypeNode>()->dtype == DataType::UInt(8) && !IsByConstant();
    return is_made_signed ? relax::AssumedBytes(right) * kCyclesOfUnsignedByte : 0;
  }
  /// Of groups of so few channels the library (3.2) multiplies vectors of one size only.
  bool IsGeneralProduct(const std::vector<int64_t>& weight, int64_t groups) const {
    constexpr int64_t kFewChannels = 8;
    const int64_t step = HasWideVectors() ? kFewChannels / 2 : kFewChannels;
    const bool fits = weight[1] % step == 0 && weight[0] / groups % step == 0;
    return groups > 1 && weight[1] <= kFewChannels && !fits && Precision() == DataType::Float(32);
  }
  /// Images of so few channels the library (3.2) lays out anew, for its general product, where windows are so wide,
  /// reach into padding, and vectors have 256 bits (measured).
  bool UnfoldsImage(const std::vector<int64_t>& weight) const {
    constexpr int64_t kFewChannels = 4, kWidest = 7;
    const auto& padding = kernel_.attrs.at("padding");
    const bool is_padded = std::any_of(padding.begin(), padding.end(), [](const auto& at) { return at != 0; });
    return weight.size() > 3 && weight[1] <= kFewChannels && weight.back() > kWidest && is_padded &&
           Precision() == DataType::Float(32) && !HasWideVectors();
  }
  bool IsByConstant() const { return kernel_.inputs[1]->kind == RelaxKind::kConstant; }
  bool IsGrouped() const { return kernel_.attrs.value("groups", 1) != 1; }
  /// Where there is a unit for bytes, vectors compute images with fewer channels than they have lanes only
  /// (ChannelsLast).
  bool NeedsUnit() const {
    const bool is_narrow = result_.size() > 2 && DimsOf(kernel_.inputs[1]->ty)[1] < lanes_;
    return tir::FindMatrixUnit(Target::Current(), Op::Get("tir.dot_u8i8x4")).has_value() && !is_narrow;
  }
  double CyclesToPack() const {
    const auto vectors = [&](size_t input) {
      const std::vector<int64_t> dims = DimsOf(kernel_.inputs[input]->ty);
      return Product(dims, 0, dims.size()) / static_cast<double>(ProductsAtOnce() * lanes_);
    };
    if (ProductsAtOnce() == 2) return vectors(0) * kCyclesOfRounding;
    return ProductsAtOnce() == 4 && !IsByConstant() ? (vectors(0) + vectors(1)) * kCyclesOfBytes : 0;
  }

  const JsonKernel& kernel_;
  const int64_t expected_runs_;
  const std::vector<int64_t> result_;
  const tir::CostModel costs_;
  const int64_t lanes_;
};

/// The library has vectors of numbers that lie beside each other in memory.
double CyclesOfSoftmax(const JsonKernel& kernel, const Type& result) {
  const std::vector<int64_t> dims = DimsOf(result);
  const auto behind = kernel.attrs.at("axis").get<size_t>() + 1;
  return Product(dims, behind, dims.size()) == 1 ? 0 : Product(dims, 0, dims.size()) * kScalarCyclesOfSoftmax;
}

double SecondsFromMemory(double bytes) {
  const Machine& machine = Target::Current().machine;
  return bytes / (std::min(machine.core_gbps * CoresAtWork(machine), machine.memory_gbps) * 1e9);
}

/// To get what other cores have in their caches of so many bytes.
double SecondsToExchange(double bytes) {
  return SecondsFromMemory((1 - 1 / CoresAtWork(Target::Current().machine)) * bytes) / kExchangedPart;
}

/// What sort of kernel it is to make, but for transformed tiles.
Making MakingOf(const JsonKernel& kernel, const Type& result, bool is_convolution, bool is_product) {
  if (is_product && IsOpen(kernel, result) && kernel.inputs[1]->kind != RelaxKind::kConstant) {
    return {kSecondsOfOpenPair, kSecondsOfOpenPair};
  }
  if (is_product) {
    const Making making = MakingOfProduct(DimsOf(result));
    if (kernel.inputs[0].ty().as<TensorTypeNode>()->dtype.bits() != 8) return making;
    return making.light == kOfRows.light ? kOfRowsOfBytes : kOfBytes;
  }
  if (!is_convolution) return kernel.attrs.at("op") == "layer_norm" ? kOfNorm : kOfOther;
  return MakingOfConvolution(DimsOf(kernel.inputs[1]->ty), kernel.attrs.at("groups"));
}

/// Windows along the last axis that reach over an edge: convolutions have code for each.
int64_t EdgesOf(const JsonKernel& kernel, const Type& result) {
  const size_t axis = DimsOf(result).size() - 3;
  const auto at = [&](const char* name) { return kernel.attrs.at(name).at(axis).get<int64_t>(); };
  const int64_t length = DimsOf(kernel.inputs[0]->ty).back(), results = DimsOf(result).back();
  const int64_t reach = (DimsOf(kernel.inputs[1]->ty).back() - 1) * at("dilation");
  // Results i for which i * strides - padding is less than 0, and than length - reach.
  const auto first_from = [&](int64_t position) { return FirstFrom(position, at("strides"), results); };
  return std::min(first_from(at("padding")) + results - first_from(length - reach + at("padding")), results);
}

double SecondsOfPrimitive(const JsonKernel& kernel, const Type& result, bool is_convolution) {
  if (!is_convolution || kernel.attrs.at("groups") == DimsOf(result)[1]) return kSecondsOfPrimitive;
  return kSecondsOfPrimitive + kSecondsOfEdge * static_cast<double>(std::max<int64_t>(EdgesOf(kernel, result) - 2, 0));
}

double SecondsToPack(double bytes, bool transforms) {
  if (!transforms) return bytes / kPackedBytesPerSecond;
  return kTransformedWeights * bytes * (1 / kPackedBytesPerSecond + 1 / kTransformedBytesPerSecond);
}

}  // namespace

bool IsOpen(const JsonKernel& kernel, const Type& result) {
  return IsOpen(result) || std::any_of(kernel.inputs.begin(), kernel.inputs.end(),
                                       [](const relax::Expr& input) { return IsOpen(input->ty); });
}

std::string TextOfKernel(const JsonKernel& kernel, const Type& result) {
  std::string text = kernel.attrs.dump();
  const auto add = [&text](const Type& type) {
    text += " " + type.as<TensorTypeNode>()->dtype.ToString();
    for (const int64_t dim : DimsOf(type)) text += "," + std::to_string(dim);
  };
  add(result);
  for (const relax::Expr& input : kernel.inputs) add(input->ty);
  return text;
}

std::string TextOfNumber(double number) { return NumberText(number, " %.17g"); }

std::string TextOfGenerated(const JsonKernel& kernel, const Type& result) {
  std::string text = TextOfKernel(kernel, result);
  for (const relax::Expr& input : kernel.inputs) {
    const auto* constant = input.as<relax::ConstantNode>();
    if (constant == nullptr || constant->data.numel() != 1) continue;
    text += TextOfNumber(ScalarValue(input).value_or(0));
  }
  return text;
}

double EstimateOpening(int64_t starts) {
  return kSecondsToOpen * (1 / CoresAtWork(Target::Current().machine) + static_cast<double>(starts - 1));
}

double EstimateGeneralProduct() { return HasWideVectors() ? kSecondsOfWideGeneralProduct : kSecondsOfGeneralProduct; }

double EstimateScalars() { return kSecondsOfScalars / CoresAtWork(Target::Current().machine); }

double EstimatePlace() { return kSecondsOfPlace; }

double EstimateLoop() { return kSecondsOfLoop; }

KernelEstimate EstimateKernel(const JsonKernel& kernel, const Type& result, int64_t expected_runs) {
  const tir::CostModel costs(Target::Current().machine);
  const auto op = kernel.attrs.at("op").get<std::string>();
  const bool is_product = op == "matmul", is_convolution = op == "convolution";
  Cycles cycles;
  if (is_convolution) cycles = Estimator(kernel, result, expected_runs).OfConvolution();
  if (is_product) cycles = Estimator(kernel, result, expected_runs).OfProduct();
  if (op == "softmax") cycles.library = CyclesOfSoftmax(kernel, result);
  double moving = costs.SecondsToMove(relax::AssumedBytes(result));
  double moving_floats = moving;
  // Constants that outgrow the second cache come from memory, each once a run. Generated code asks for them while it
  // computes (kPrefetchNext), the library waits.
  double waiting = 0;
  for (const relax::Expr& input : kernel.inputs) {
    const double seconds = costs.SecondsToMove(relax::AssumedBytes(input->ty));
    moving += seconds;
    // Constants are held as what is multiplied.
    const bool is_weight = input->kind == RelaxKind::kConstant && input.ty().as<TensorTypeNode>()->dtype.bits() == 8;
    const double bytes = relax::AssumedBytes(input->ty);
    const bool is_large = bytes > static_cast<double>(costs.machine().l2.Share());
    if (input->kind == RelaxKind::kConstant && is_large) waiting += SecondsFromMemory(bytes);
    moving_floats += is_weight && !cycles.keeps_bytes ? static_cast<double>(sizeof(float)) * seconds : seconds;
  }
  const bool has_weights = (is_product || is_convolution) && kernel.inputs[1]->kind == RelaxKind::kConstant;
  const double weights = has_weights ? relax::AssumedBytes(kernel.inputs[1]->ty) : 0;
  const double library = costs.Overlapped(costs.SecondsOfCycles(cycles.library), moving) + waiting +
                         kCyclesOfCall / (costs.machine().ghz * 1e9);
  const double generated = costs.Overlapped(costs.SecondsOfCycles(cycles.generated), moving_floats) +
                           SecondsToExchange(cycles.exchanged * relax::AssumedBytes(kernel.inputs[0]->ty));
  const double in_runs =
      generated * CoresAtWork(costs.machine()) * static_cast<double>(std::max<int64_t>(expected_runs, 1));
  const Making making = MakingOf(kernel, result, is_convolution, is_product);
  const bool is_of_weights = has_weights && IsOpen(kernel, result);
  const double alone = (is_of_weights ? kTimesOfOpen : 1) * SecondsToCompile(making, cycles.transforms, in_runs);
  const bool must_gain = expected_runs != 1 && (is_product || is_convolution) && !cycles.keeps_bytes;
  return {.library = (must_gain ? kLeastGain : 1) * library,
          .generated = generated,
          .library_once = SecondsOfPrimitive(kernel, result, is_convolution),
          .generated_once = alone / CoresAtWork(costs.machine()),
          .generated_alone = alone,
          .library_weights = SecondsOfLibraryWeights(weights, cycles.is_general),
          .generated_weights = SecondsToPack(weights, cycles.transforms),
          .keeps_layout = is_convolution || op == "concat" || op == "binary" || op.find("pool") != std::string::npos,
          .is_general = cycles.is_general,
          .is_product = is_product};
}

double EstimateReorder(const Type& type) {
  return SecondsFromMemory(2 * relax::AssumedBytes(type)) / kReorderPart +
         kCyclesOfCall / (Target::Current().machine.ghz * 1e9);
}

double EstimateRoundTrip(const Type& type) {
  return 2 * tir::CostModel(Target::Current().machine).SecondsToMove(relax::AssumedBytes(type));
}

AttentionEstimate EstimateAttention(const Type& scores) {
  const std::vector<int64_t> dims = DimsOf(scores);
  const double bytes = relax::AssumedBytes(scores);
  const int64_t batch = dims.size() < 3 ? 1 : std::max<int64_t>(Product(dims, 0, dims.size() - 2), 1);
  const int64_t part = AtOnce(batch, static_cast<int64_t>(bytes / static_cast<double>(batch)));
  const double parts = static_cast<double>(batch) / static_cast<double>(part);
  const tir::CostModel costs(Target::Current().machine);
  return {.library = 2 * 2 * parts * costs.SecondsToMove(bytes / parts),
          .library_once = 2 * bytes / parts / kFreshBytesPerSecond};
}

}  // namespace deuteron::backend::dnnl
