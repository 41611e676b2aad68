/// LSTM, DynamicQuantizeLSTM, GRU and RNN. The products of all inputs with the weights are one matrix product; each
/// step slices its rows from it. Short sequences of static length are unrolled; others are loops of the IR.
#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "deuteron/frontend/onnx/activation.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Steps of one direction that become code of their own: their kernels are the same, so that what is won is the call of
/// a loop's body, and what it costs is time to compile.
constexpr int64_t kMostUnrolledSteps = 16;

/// An activation with its parameters.
using Activation = std::function<Expr(const Expr&)>;

/// What the three have in common: sizes, weights and states by direction.
class Recurrence {
 public:
  Recurrence(const NodeContext& node, int64_t gates, std::vector<std::string> default_activations)
      : node_(node), gates_(gates), defaults_(std::move(default_activations)) {
    batch_first_ = node.Flag("layout", false);
    x_ = node.X(0);
    if (node.Rank(x_) != 3) node.Fail("its input must have three axes");
    if (batch_first_) x_ = node.Emit(relax::PermuteDims(x_, {1, 0, 2}));
    dtype_ = node.DType(x_);
    const Array<PrimExpr> shape = node.Shape(x_);
    steps_ = shape[0];
    batch_ = shape[1];
    input_ = shape[2];
    is_quantized_ = node.node().op_type == "DynamicQuantizeLSTM";
    const int64_t axis = is_quantized_ ? 1 : 2;
    if (node.Rank(2) != 3) node.Fail("its weights must have three axes");
    const auto own = AsConstInt(node.Shape(2)[axis]);
    const bool is_stated = node.HasAttr("hidden_size");
    hidden_ = is_stated ? node.RequiredInt("hidden_size") : node.StaticDim(node.X(2), axis, "the hidden size");
    if (hidden_ < 1 || hidden_ != own.value_or(hidden_)) {
      node.Fail("hidden_size is " + std::to_string(hidden_) + ", and its weights are of " +
                relax::Describe(node.Shape(2)[axis]));
    }
    const std::string direction = node.Str("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      node.Fail("direction '" + direction + "' is unknown");
    }
    reversed_ =
        direction == "bidirectional" ? std::vector<bool>{false, true} : std::vector<bool>{direction == "reverse"};
    FindLengths();
    // What steps of a loop use of the node is an expression outside of it.
    for (size_t i = 0; i < node.NumInputs(); ++i) {
      if (node.Has(i)) node.X(i);
    }
  }

  const NodeContext& node() const { return node_; }
  DataType dtype() const { return dtype_; }
  int64_t directions() const { return static_cast<int64_t>(reversed_.size()); }
  int64_t hidden() const { return hidden_; }

  /// An input with the sizes that directions, gates and the hidden size give it.
  Expr Sized(size_t input) const {
    const int64_t rows = gates_ * hidden_;
    const std::string what = "input " + std::to_string(input);
    const auto with = [&](const Expr& x, int64_t axis, const std::vector<int64_t>& sizes) {
      return node_.WithSizes(x, axis, sizes, what.c_str());
    };
    const bool is_state = input == 5 || input == 6;
    const Expr x = with(node_.X(input), is_state && batch_first_ ? 1 : 0, {directions()});
    if (is_state) return with(x, 2, {hidden_});
    if (input == 1) return with(x, is_quantized_ ? 2 : 1, {rows});
    if (input == 2) return is_quantized_ ? with(x, 1, {hidden_, rows}) : with(x, 1, {rows, hidden_});
    if (input == 3) return with(x, 1, {2 * rows});
    return input == 7 ? with(x, 1, {3 * hidden_}) : x;
  }

  /// Row `direction` of an input, without that axis.
  Expr OfDirection(size_t input, int64_t direction) const {
    const Expr x = Sized(input);
    if (directions() == 1 && !(batch_first_ && input >= 5 && input <= 6)) {
      const Array<PrimExpr> shape = node_.Shape(x);
      return node_.Reshaped(x, Array<PrimExpr>(shape.begin() + 1, shape.end()));
    }
    const int64_t axis = batch_first_ && (input == 5 || input == 6) ? 1 : 0;
    return Part(x, axis, direction, direction + 1, /*drop=*/true);
  }

  /// A state (batch, hidden): input `input`, or zeros.
  Expr InitialState(size_t input, int64_t direction) const {
    if (node_.Has(input)) return node_.WithShape(OfDirection(input, direction), {batch_, I64(hidden_)});
    return node_.Emit(relax::Zeros({batch_, I64(hidden_)}, dtype_));
  }

  Expr Part(const Expr& x, int64_t axis, int64_t begin, int64_t end, bool drop = false) const {
    const Expr slice = node_.Emit(relax::StridedSlice(x, {axis}, {I64(begin)}, {I64(end)}));
    return drop ? Expr(node_.Emit(relax::Squeeze(slice, {axis}))) : slice;
  }

  /// Gate number `gate` of a row of all gates.
  Expr Gate(const Expr& gates, int64_t gate) const { return Part(gates, 1, gate * hidden_, (gate + 1) * hidden_); }

  Expr Transposed(const Expr& x) const { return node_.Emit(relax::PermuteDims(x, {1, 0})); }

  /// Biases of the inputs and of the states, each (gates * hidden,); null if there are none.
  std::pair<Expr, Expr> Biases(int64_t direction) const {
    if (!node_.Has(3)) return {};
    const Expr both = OfDirection(3, direction);
    const int64_t size = gates_ * hidden_;
    return {Part(both, 0, 0, size), Part(both, 0, size, 2 * size)};
  }

  /// x·Wᵀ + bias for all steps: (steps, batch, gates * hidden).
  Expr InputProducts(int64_t direction, const Expr& bias) const {
    const PrimExpr rows = node_.Simplify(steps_ * batch_);
    const Expr flat = node_.Reshaped(x_, {rows, input_});
    Expr product = is_quantized_ ? DynamicProduct(flat, 1, direction)
                                 : Expr(node_.Emit(relax::Matmul(flat, Transposed(OfDirection(1, direction)))));
    if (bias.defined()) product = node_.Emit(relax::Add(product, bias));
    return node_.Reshaped(product, {steps_, batch_, I64(gates_ * hidden_)});
  }

  /// A state times the weights that Recurrent has made ready.
  Expr StateProduct(const Expr& state, const Expr& recurrent, int64_t direction) const {
    return is_quantized_ ? DynamicProduct(state, 2, direction) : Expr(node_.Emit(relax::Matmul(state, recurrent)));
  }
  /// The weights of states, (hidden, gates * hidden); null where they are integers.
  Expr Recurrent(int64_t direction) const { return is_quantized_ ? Expr() : Transposed(OfDirection(2, direction)); }

  Activation Act(int64_t direction, size_t index) const {
    const auto names = node_.Strs("activations");
    const auto name_of = [&](size_t at) { return at < names.size() ? names[at] : defaults_[at % defaults_.size()]; };
    const size_t at = static_cast<size_t>(direction) * defaults_.size() + index;
    // Values stand in the order of the activations that have parameters.
    size_t alphas = 0, betas = 0;
    for (size_t before = 0; before < at; ++before) {
      const int64_t count = NumParameters(name_of(before));
      alphas += count > 0 ? 1 : 0;
      betas += count > 1 ? 1 : 0;
    }
    const auto parameter = [&](const char* attribute, size_t place) {
      const std::vector<double> values = node_.Floats(attribute);
      return place < values.size() ? std::optional<double>(values[place]) : std::nullopt;
    };
    return [this, name = name_of(at), first = parameter("activation_alpha", alphas),
            second = parameter("activation_beta", betas)](const Expr& x) {
      return Activated(node_, x.as<relax::VarNode>() != nullptr ? x : Expr(node_.Emit(x)), name, first, second);
    };
  }

  /// The attribute clip bounds what goes into activations.
  Expr Clipped(const Expr& x) const {
    if (!node_.HasAttr("clip")) return x;
    const double bound = node_.Float("clip", 0);
    return relax::Minimum(relax::Maximum(x, node_.Scalar(dtype_, -bound)), node_.Scalar(dtype_, bound));
  }

  using States = std::vector<Expr>;
  /// What a layer is made of, by direction. `prepare` makes what all steps use of weights; the states start with the
  /// hidden state.
  struct Cell {
    std::function<Expr(int64_t direction)> inputs;
    std::function<void(int64_t direction)> prepare;
    std::function<States(int64_t direction)> initial;
    std::function<States(int64_t direction, const Expr& x, const States& states)> step;
  };

  /// Runs a cell over the sequence in each direction.
  Results Run(const Cell& cell) const {
    Array<Expr> sequences;
    std::vector<Array<Expr>> finals;
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const Expr products = cell.inputs(direction);
      auto [sequence, states] = IsShort() ? Unrolled(cell, direction, products) : Looped(cell, direction, products);
      sequences.push_back(sequence);
      finals.resize(states.size());
      for (size_t i = 0; i < states.size(); ++i) finals[i].push_back(states[i]);
    }
    // (steps, directions, batch, hidden); (directions, batch, hidden). layout=1 puts the batch first.
    Results results{Stacked(sequences, 1)};
    if (batch_first_) results[0] = Value(node_.Emit(relax::PermuteDims(results[0]->expr, {2, 0, 1, 3})));
    for (const Array<Expr>& state : finals) results.emplace_back(Stacked(state, batch_first_ ? 1 : 0));
    return results;
  }

 private:
  using Result = std::pair<Expr, States>;

  /// `x`, quantised by its own range, times the integers of input `weights`, in floats.
  Expr DynamicProduct(const Expr& x, size_t weights, int64_t direction) const {
    const size_t parameters = weights == 1 ? 8 : 10;
    const DynamicallyQuantized numbers = QuantizeDynamically(node_, x);
    const Expr scale = node_.Emit(relax::Multiply(numbers.scale, OfDirection(parameters, direction)));
    const Expr zero = node_.Has(parameters + 1) ? OfDirection(parameters + 1, direction) : Expr();
    return IntegerProduct(node_, numbers.numbers, OfDirection(weights, direction), numbers.zero_point, zero, scale);
  }

  /// Looks at sequence_lens: whether, and where, steps lie behind the end of a sequence.
  void FindLengths() {
    if (!node_.Has(4)) return;
    const auto known = node_.ConstInts(4);
    const auto steps = AsConstInt(steps_);
    const auto whole = [&](int64_t length) { return steps && length == *steps; };
    if (known && std::all_of(known->begin(), known->end(), whole)) return;
    const auto fits = [&](int64_t length) { return length >= 0 && steps && length <= *steps; };
    Expr lengths = node_.CastTo(node_.X(4), DataType::Int(64));
    if (!known || !std::all_of(known->begin(), known->end(), fits)) {
      if (known && steps) node_.Fail("a sequence is shorter than none, or longer than " + std::to_string(*steps));
      lengths = node_.CheckedPositions(lengths, {node_.Simplify(steps_ + 1)});
    }
    lengths_ = node_.Reshaped(lengths, {batch_, I64(1)});
  }

  bool IsShort() const {
    const auto steps = AsConstInt(steps_);
    return steps && *steps >= 1 && *steps <= kMostUnrolledSteps;
  }

  /// One step, at number `at` of the sequence: the states after it, and what it adds to the sequence of results. Behind
  /// the end of a sequence states stay as they are, and results are 0.
  std::pair<States, Expr> Step(const Cell& cell, int64_t direction, const Expr& products, const PrimExpr& at,
                               const States& before) const {
    const PrimExpr end = at + I64(1);
    const Expr slice = node_.Emit(relax::StridedSlice(products, {0}, {at}, {end}, {I64(1)}, /*assume_inbound=*/true));
    States after = cell.step(direction, node_.Emit(relax::Squeeze(slice, {0})), before);
    if (!lengths_.defined()) return {after, after[0]};
    const Expr number = node_.Emit(relax::Arange(at, end, I64(1), DataType::Int(64)));
    const Expr inside = node_.Emit(relax::Less(number, lengths_));
    const Expr result = node_.Emit(relax::Where(inside, after[0], node_.Scalar(dtype_, 0)));
    for (size_t i = 0; i < after.size(); ++i) after[i] = node_.Emit(relax::Where(inside, after[i], before[i]));
    return {after, result};
  }

  /// The states before the first step; those of sequences that have none are 0, as ONNX Runtime has it.
  States Initial(const Cell& cell, int64_t direction) const {
    States states = cell.initial(direction);
    if (!lengths_.defined()) return states;
    const Expr has_steps = node_.Emit(relax::Greater(lengths_, node_.Scalar(DataType::Int(64), 0)));
    for (Expr& state : states) state = node_.Emit(relax::Where(has_steps, state, node_.Scalar(dtype_, 0)));
    return states;
  }

  Result Unrolled(const Cell& cell, int64_t direction, const Expr& products) const {
    const int64_t steps = *AsConstInt(steps_);
    cell.prepare(direction);
    States states = Initial(cell, direction);
    std::vector<Expr> outputs(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t at = reversed_[direction] ? steps - 1 - i : i;
      std::tie(states, outputs[at]) = Step(cell, direction, products, I64(at), states);
    }
    return {Stacked(Array<Expr>(outputs.begin(), outputs.end()), 0), states};
  }

  Result Looped(const Cell& cell, int64_t direction, const Expr& products) const {
    // Constants belong to the body, where kernels are made for them; what a run computes of weights it computes once.
    const bool is_constant = node_.X(2).as<relax::ConstantNode>() != nullptr;
    if (!is_constant) cell.prepare(direction);
    Results initial;
    for (const Expr& state : Initial(cell, direction)) initial.emplace_back(state);
    const auto run = [&](const PrimExpr& number, const Results& before) {
      if (is_constant) cell.prepare(direction);
      // Bounds that hold show that it is inside.
      const PrimExpr at =
          node_.Simplify(reversed_[direction] ? Max(steps_ - I64(1) - number, I64(0)) : Min(number, steps_ - I64(1)));
      States states;
      for (const Value& state : before) states.push_back(state->expr);
      const auto [after, output] = Step(cell, direction, products, at, states);
      LoopStep step;
      for (const Expr& state : after) step.states.emplace_back(state);
      step.outputs.emplace_back(output);
      return step;
    };
    const Results results = EmitLoop(node_, steps_, Value(), initial, run);
    Expr sequence = results.back()->expr;
    if (reversed_[direction]) sequence = node_.Emit(relax::Flip(sequence, 0));
    States states;
    for (size_t i = 0; i < initial.size(); ++i) states.push_back(results[i]->expr);
    return {sequence, states};
  }

  Expr Stacked(const Array<Expr>& parts, int64_t axis) const {
    if (parts.size() == 1) return node_.Emit(relax::ExpandDims(parts[0], {axis}));
    return node_.Emit(relax::Stack(parts, axis));
  }

  const NodeContext& node_;
  int64_t gates_;
  std::vector<std::string> defaults_;
  bool batch_first_ = false;
  bool is_quantized_ = false;
  Expr x_;
  DataType dtype_;
  PrimExpr steps_;
  PrimExpr batch_;
  PrimExpr input_;
  int64_t hidden_ = 0;
  std::vector<bool> reversed_;
  /// Of each sequence its length, (batch, 1); null where all are as long as the input.
  Expr lengths_;
};

}  // namespace

Results ConvertLSTM(const NodeContext& node) {
  const Recurrence rnn(node, 4, {"Sigmoid", "Tanh", "Tanh"});
  const bool coupled = node.Flag("input_forget", false);
  Expr recurrent;
  Expr peepholes;
  const auto prepare = [&](int64_t direction) {
    recurrent = rnn.Recurrent(direction);
    if (node.Has(7)) peepholes = rnn.OfDirection(7, direction);
  };
  const auto inputs = [&](int64_t direction) {
    const auto [input_bias, state_bias] = rnn.Biases(direction);
    const Expr bias = input_bias.defined() ? Expr(node.Emit(relax::Add(input_bias, state_bias))) : Expr();
    return rnn.InputProducts(direction, bias);
  };
  const auto peephole = [&](int64_t index, const Expr& cell) {
    return relax::Multiply(rnn.Part(peepholes, 0, index * rnn.hidden(), (index + 1) * rnn.hidden()), cell);
  };
  const auto step = [&](int64_t direction, const Expr& x, const std::vector<Expr>& states) -> std::vector<Expr> {
    const Activation f = rnn.Act(direction, 0);
    const Activation g = rnn.Act(direction, 1);
    const Activation h = rnn.Act(direction, 2);
    const Expr& cell = states[1];
    // Gates: input, output, forget, cell.
    const Expr gates = node.Emit(relax::Add(x, rnn.StateProduct(states[0], recurrent, direction)));
    Expr in = rnn.Gate(gates, 0);
    Expr out = rnn.Gate(gates, 1);
    Expr forget = rnn.Gate(gates, 2);
    if (peepholes.defined()) {
      in = node.Emit(relax::Add(in, peephole(0, cell)));
      forget = node.Emit(relax::Add(forget, peephole(2, cell)));
    }
    in = f(rnn.Clipped(in));
    forget = coupled ? Expr(node.Emit(relax::Subtract(node.Scalar(rnn.dtype(), 1), in))) : Expr(f(rnn.Clipped(forget)));
    const Expr candidate = g(rnn.Clipped(rnn.Gate(gates, 3)));
    const Expr next = node.Emit(relax::Add(relax::Multiply(forget, cell), relax::Multiply(in, candidate)));
    if (peepholes.defined()) out = node.Emit(relax::Add(out, peephole(1, next)));
    out = f(rnn.Clipped(out));
    return {node.Emit(relax::Multiply(out, h(next))), next};
  };
  const auto initial = [&](int64_t direction) {
    return std::vector<Expr>{rnn.InitialState(5, direction), rnn.InitialState(6, direction)};
  };
  return rnn.Run({inputs, prepare, initial, step});
}

Results ConvertGRU(const NodeContext& node) {
  const Recurrence rnn(node, 3, {"Sigmoid", "Tanh"});
  const bool before_reset = node.Flag("linear_before_reset", false);
  Expr recurrent;
  Expr state_bias;
  const int64_t hidden = rnn.hidden();
  const auto prepare = [&](int64_t direction) {
    recurrent = rnn.Transposed(rnn.OfDirection(2, direction));
    state_bias = rnn.Biases(direction).second;
  };
  const auto inputs = [&](int64_t direction) { return rnn.InputProducts(direction, rnn.Biases(direction).first); };
  const auto part = [&](const Expr& x, int64_t begin, int64_t end) {
    return rnn.Part(x, 1, begin * hidden, end * hidden);
  };
  const auto step = [&](int64_t direction, const Expr& x, const std::vector<Expr>& states) -> std::vector<Expr> {
    const Activation f = rnn.Act(direction, 0);
    const Activation g = rnn.Act(direction, 1);
    const Expr& h = states[0];
    const auto biased = [&](Expr value, int64_t begin, int64_t end) {
      if (state_bias.defined()) {
        value = node.Emit(relax::Add(value, rnn.Part(state_bias, 0, begin * hidden, end * hidden)));
      }
      return value;
    };
    // Gates: update, reset, hidden.
    const Expr two = biased(node.Emit(relax::Matmul(h, part(recurrent, 0, 2))), 0, 2);
    const Expr gates = f(rnn.Clipped(relax::Add(part(x, 0, 2), two)));
    const Expr update = rnn.Gate(gates, 0);
    const Expr reset = rnn.Gate(gates, 1);
    Expr from_state;
    if (before_reset) {
      const Expr product = biased(node.Emit(relax::Matmul(h, part(recurrent, 2, 3))), 2, 3);
      from_state = node.Emit(relax::Multiply(reset, product));
    } else {
      const Expr masked = node.Emit(relax::Multiply(reset, h));
      from_state = biased(node.Emit(relax::Matmul(masked, part(recurrent, 2, 3))), 2, 3);
    }
    const Expr candidate = g(rnn.Clipped(relax::Add(part(x, 2, 3), from_state)));
    const Expr keep = relax::Subtract(node.Scalar(rnn.dtype(), 1), update);
    return {node.Emit(relax::Add(relax::Multiply(keep, candidate), relax::Multiply(update, h)))};
  };
  const auto initial = [&](int64_t direction) { return std::vector<Expr>{rnn.InitialState(5, direction)}; };
  return rnn.Run({inputs, prepare, initial, step});
}

Results ConvertRNN(const NodeContext& node) {
  const Recurrence rnn(node, 1, {"Tanh"});
  Expr recurrent;
  const auto prepare = [&](int64_t direction) { recurrent = rnn.Transposed(rnn.OfDirection(2, direction)); };
  const auto inputs = [&](int64_t direction) {
    const auto [input_bias, state_bias] = rnn.Biases(direction);
    const Expr bias = input_bias.defined() ? Expr(node.Emit(relax::Add(input_bias, state_bias))) : Expr();
    return rnn.InputProducts(direction, bias);
  };
  const auto step = [&](int64_t direction, const Expr& x, const std::vector<Expr>& states) -> std::vector<Expr> {
    const Expr product = node.Emit(relax::Matmul(states[0], recurrent));
    return {rnn.Act(direction, 0)(rnn.Clipped(relax::Add(x, product)))};
  };
  const auto initial = [&](int64_t direction) { return std::vector<Expr>{rnn.InitialState(5, direction)}; };
  return rnn.Run({inputs, prepare, initial, step});
}

}  // namespace deuteron::onnx
