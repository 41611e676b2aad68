#include <cstring>
#include <iterator>
#include <memory>

#include "deuteron/interpreter/tir_program.h"

namespace deuteron::interpreter {
namespace {

struct BufferState {
  const BufferCode* code = nullptr;
  void* data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t size = 0;
  /// Memory and, an element each, 1 where it was written; empty for parameters.
  std::unique_ptr<char[]> memory;
  std::vector<uint8_t> written;
  /// Of a view; else null.
  const ViewCode* view = nullptr;
  /// Where a view begins in the data of its owner, in bytes.
  int64_t begin = 0;

  int64_t ElementBytes() const { return static_cast<int64_t>(code->dtype.lanes()) * code->dtype.element().bytes(); }
};

class Executor {
 public:
  Executor(const TirProgram& program, const Options& options)
      : program_(program),
        vars_(program.num_vars + program.sums.size()),
        vectors_(program.num_vars),
        buffers_(program.num_buffers),
        steps_left_(options.max_steps) {
    for (const ViewCode& view : program.views) buffers_[view.buffer.slot].view = &view;
    for (size_t i = 0; i < program.sums.size(); ++i) vars_[program.num_vars + i].i = program.sums[i];
  }

  void Run(const std::vector<Tensor>& tensors, const std::vector<int64_t>& scalars) {
    if (tensors.size() != program_.param_buffers.size() || scalars.size() != program_.scalar_params.size()) {
      DEUTERON_THROW(UsageError) << program_.name << " takes " << program_.param_buffers.size() << " tensors and "
                                 << program_.scalar_params.size() << " scalars; given " << tensors.size() << " and "
                                 << scalars.size();
    }
    BindDimensions(tensors);
    for (size_t i = 0; i < scalars.size(); ++i) SetInteger(program_.scalar_params[i], scalars[i]);
    for (size_t i = 0; i < tensors.size(); ++i) BindParameter(program_.param_buffers[i], tensors[i]);
    Exec(program_.body);
  }

 private:
  /// a + b · c, wrapped around.
  static uint64_t Plus(int64_t a, int64_t b, int64_t c) {
    return static_cast<uint64_t>(a) + static_cast<uint64_t>(b) * static_cast<uint64_t>(c);
  }
  /// Of a variable that is an integer; sums follow it.
  void SetInteger(int slot, int64_t value) {
    const auto change = static_cast<int64_t>(Plus(value, vars_[slot].i, -1));
    if (change == 0) return;
    vars_[slot].i = value;
    for (const Follower& follower : program_.followers[slot]) {
      int64_t& sum = vars_[follower.slot].i;
      sum = static_cast<int64_t>(Plus(sum, follower.factor, change));
    }
  }

  /// Dimensions that are plain variables define them: the first occurrence counts, BindParameter checks.
  void BindDimensions(const std::vector<Tensor>& tensors) {
    std::vector<bool> bound(vars_.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto& slots = program_.shape_slots[i];
      if (slots.size() != static_cast<size_t>(tensors[i].ndim())) {
        DEUTERON_THROW(UsageError) << "parameter " << program_.param_buffers[i].name << " of " << program_.name
                                   << " has rank " << slots.size() << "; given a tensor of rank " << tensors[i].ndim();
      }
      for (size_t axis = 0; axis < slots.size(); ++axis) {
        if (slots[axis] < 0 || bound[slots[axis]]) continue;
        bound[slots[axis]] = true;
        SetInteger(slots[axis], tensors[i].shape()[axis]);
      }
    }
  }

  void BindParameter(const BufferCode& code, const Tensor& tensor) {
    BufferState& state = buffers_[code.slot];
    Shape(code, &state);
    state.data = static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset();
    if (!(DataType(tensor.dtype()) == code.dtype)) {
      DEUTERON_THROW(UsageError) << "parameter " << code.name << " of " << program_.name << " has dtype " << code.dtype
                                 << "; given a tensor of " << DataType(tensor.dtype());
    }
    for (size_t axis = 0; axis < state.shape.size(); ++axis) {
      if (state.shape[axis] != tensor.shape()[axis]) {
        DEUTERON_THROW(UsageError) << "dimension " << axis << " of parameter " << code.name << " of " << program_.name
                                   << " is " << state.shape[axis] << "; given a tensor where it is "
                                   << tensor.shape()[axis];
      }
    }
  }

  void Shape(const BufferCode& code, BufferState* state) {
    state->code = &code;
    state->shape.clear();
    for (const ExprCode& extent : code.shape) state->shape.push_back(Eval(extent, 0).i);
    state->strides.assign(state->shape.size(), 1);
    state->size = 1;
    if (code.strides.empty()) {
      for (size_t axis = state->shape.size(); axis-- > 0;) {
        state->strides[axis] = state->size;
        if (state->shape[axis] < 0 || __builtin_mul_overflow(state->size, state->shape[axis], &state->size)) {
          DEUTERON_THROW(ModelError) << "size of buffer " << code.name << " overflows";
        }
      }
      return;
    }
    for (size_t axis = 0; axis < state->shape.size(); ++axis) {
      state->strides[axis] = Eval(code.strides[axis], 0).i;
      state->size += (state->shape[axis] - 1) * state->strides[axis];
    }
  }

  void Allocate(const BufferCode& code) {
    BufferState& state = buffers_[code.slot];
    Shape(code, &state);
    const int64_t elements = state.size * code.dtype.lanes();
    state.memory = std::make_unique<char[]>(elements * code.dtype.element().bytes());
    state.data = state.memory.get();
    state.written.assign(elements, 0);
  }

  // What is thrown where every element passes. A stream for the message is half a kilobyte of a frame, which
  // AddressSanitizer marks at each call: tests with it took three times as long.
  [[noreturn, gnu::cold, gnu::noinline]] void ThrowUnallocated() const {
    DEUTERON_THROW(ModelError) << "a buffer is used before it is allocated";
  }
  [[noreturn, gnu::cold, gnu::noinline]] void ThrowOutside(const BufferState& state, size_t axis, int64_t index) const {
    DEUTERON_THROW(ModelError) << "index " << index << " of axis " << axis << " of buffer " << state.code->name
                               << " is outside of [0, " << state.shape[axis] << ") in " << program_.name;
  }
  [[noreturn, gnu::cold, gnu::noinline]] void ThrowUnwritten(const BufferState& state, int64_t offset) const {
    DEUTERON_THROW(ModelError) << "element " << offset << " of buffer " << state.code->name
                               << " is read before it is written in " << program_.name;
  }
  [[noreturn, gnu::cold, gnu::noinline]] void ThrowTooManySteps() const {
    DEUTERON_THROW(UnsupportedError) << program_.name << " runs for too many steps";
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void ThrowAsserted(const StmtCode& code) {
    DEUTERON_THROW(UsageError) << code.text;
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void ThrowTooManyIterators(const StmtCode& code) {
    DEUTERON_THROW(InternalError) << "block " << code.text << " has " << code.iters.size() << " iterators";
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void ThrowUnreachable() { DEUTERON_UNREACHABLE(); }

  /// The buffer in a slot; a view as it is now.
  BufferState& StateOf(int slot) {
    BufferState& state = buffers_[slot];
    if (state.view == nullptr) {
      if (state.code == nullptr) ThrowUnallocated();
      return state;
    }
    return ViewOf(&state);
  }
  [[gnu::noinline]] BufferState& ViewOf(BufferState* view) {
    BufferState& state = *view;
    const BufferState& owner = StateOf(state.view->owner);
    const BufferCode& code = state.view->buffer;
    Shape(code, &state);
    state.begin = code.offset.empty() ? 0 : Eval(code.offset[0], 0).i * state.ElementBytes();
    if (state.begin < 0 || state.begin + state.size * state.ElementBytes() > owner.size * owner.ElementBytes()) {
      DEUTERON_THROW(ModelError) << "buffer " << code.name << " reaches beyond the data of " << owner.code->name
                                 << " in " << program_.name;
    }
    state.data = static_cast<char*>(owner.data) + state.begin;
    return state;
  }

  /// Calls `visit` with what says of the bytes of an element whether they were written; of arguments nothing does.
  template <typename Visit>
  void VisitWritten(BufferState* state, int64_t offset, const Visit& visit) {
    if (state->view != nullptr) return VisitWrittenOfView(*state, offset, visit);
    if (!state->written.empty()) visit(&state->written[offset]);
  }
  template <typename Visit>
  [[gnu::noinline]] void VisitWrittenOfView(const BufferState& view, int64_t offset, const Visit& visit) {
    BufferState& owner = buffers_[view.view->owner];
    if (owner.written.empty()) return;
    const int64_t bytes = owner.code->dtype.element().bytes();
    const int64_t first = view.begin + offset * view.code->dtype.element().bytes();
    const int64_t last = first + view.code->dtype.element().bytes() - 1;
    for (int64_t i = first / bytes; i <= last / bytes; ++i) visit(&owner.written[i]);
  }

  /// Position of an element in its buffer, bounds checked.
  int64_t Offset(const BufferState& state, const std::vector<int>& slots, const ExprCode* indices, int lane) {
    if (slots.empty()) return OffsetOf(state, indices, lane);
    const int64_t* const shape = state.shape.data();
    const int64_t* const strides = state.strides.data();
    int64_t offset = 0;
    for (size_t axis = 0; axis < slots.size(); ++axis) {
      const int64_t index = vars_[slots[axis]].i;
      if (index < 0 || index >= shape[axis]) ThrowOutside(state, axis, index);
      offset += index * strides[axis];
    }
    return offset;
  }
  [[gnu::noinline]] int64_t OffsetOf(const BufferState& state, const ExprCode* indices, int lane) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < state.shape.size(); ++axis) {
      const int64_t index = EvalIndex(indices[axis], indices[axis].lanes > 1 ? lane : 0);
      if (index < 0 || index >= state.shape[axis]) ThrowOutside(state, axis, index);
      offset += index * state.strides[axis];
    }
    return offset;
  }

  [[gnu::noinline]] Scalar EvalLoad(const ExprCode& code, int lane) {
    BufferState& state = StateOf(code.slot);
    const int64_t offset = Offset(state, code.index_slots, code.children.data(), lane);
    VisitWritten(&state, offset, [&](const uint8_t* written) {
      if (*written == 0) ThrowUnwritten(state, offset);
    });
    if (code.form == ExprForm::kSingleLoad) {
      float value = 0;
      std::memcpy(&value, static_cast<const char*>(state.data) + offset * int64_t{sizeof(value)}, sizeof(value));
      return Scalar::Float(value);
    }
    return LoadScalar(state.data, code.dtype, offset);
  }

  [[gnu::noinline]] Scalar EvalCall(const ExprCode& code, int lane) {
    switch (code.special) {
      case ExprCode::Special::kIfThenElse:
        return Eval(code.children[Eval(code.children[0], lane).i != 0 ? 1 : 2], lane);
      case ExprCode::Special::kReinterpret: {
        const Scalar value = Eval(code.children[0], lane);
        char bits[8] = {};
        StoreScalar(bits, code.operand, 0, value);
        return LoadScalar(bits, code.dtype, 0);
      }
      case ExprCode::Special::kNone:
        break;
    }
    constexpr size_t kFew = 3;
    return code.children.size() <= kFew ? EvalFunction<kFew>(code, lane) : EvalFunction<kMostArguments>(code, lane);
  }
  template <size_t kMost>
  [[gnu::noinline]] Scalar EvalFunction(const ExprCode& code, int lane) {
    Scalar args[kMost];
    for (size_t i = 0; i < code.children.size(); ++i) args[i] = Eval(code.children[i], lane);
    return code.intrinsic(code.operand, args);
  }

  [[gnu::noinline]] Scalar EvalShuffle(const ExprCode& code, int lane) {
    const auto vectors = static_cast<size_t>(code.imm.i);
    int64_t index = Eval(code.children[vectors + lane], 0).i;
    for (size_t i = 0; i < vectors; ++i) {
      if (index < code.children[i].lanes) return Eval(code.children[i], static_cast<int>(index));
      index -= code.children[i].lanes;
    }
    DEUTERON_THROW(ModelError) << "shuffle index is out of range in " << program_.name;
  }

  int64_t EvalLinear(const ExprCode& code, int lane) const {
    const int unused = 64 - code.dtype.bits();
    const uint64_t sum = Plus(vars_[code.slot].i, code.per_lane, lane);
    return static_cast<int64_t>(sum << unused) >> unused;
  }

  /// What most expressions are is found here, without a call for most of their operands.
  [[gnu::always_inline]] Scalar Eval(const ExprCode& code, int lane) {
    if (code.form == ExprForm::kConstant) return code.imm;
    if (code.form == ExprForm::kVariable) return vars_[code.slot];
    return EvalForm(code, lane);
  }
  [[gnu::always_inline]] int64_t EvalIndex(const ExprCode& code, int lane) {
    return code.form == ExprForm::kLinear ? EvalLinear(code, lane) : Eval(code, lane).i;
  }

  [[gnu::noinline]] Scalar EvalForm(const ExprCode& code, int lane) {
    const auto singles = [&](auto apply) {
      const double a = Eval(code.children[0], lane).f;
      return Scalar::Float(static_cast<float>(apply(a, Eval(code.children[1], lane).f)));
    };
    switch (code.form) {
      case ExprForm::kLinear:
        return Scalar::Int(EvalLinear(code, lane));
      case ExprForm::kLoad:
      case ExprForm::kSingleLoad:
        return EvalLoad(code, lane);
      case ExprForm::kSingleAdd:
        return singles([](double a, double b) { return a + b; });
      case ExprForm::kSingleSub:
        return singles([](double a, double b) { return a - b; });
      case ExprForm::kSingleMul:
        return singles([](double a, double b) { return a * b; });
      case ExprForm::kBinary: {
        const Scalar a = Eval(code.children[0], lane);
        return code.binary(code.operand, a, Eval(code.children[1], lane));
      }
      case ExprForm::kByKind:
        return EvalByKind(code, lane);
      case ExprForm::kConstant:
      case ExprForm::kVariable:
        break;  // Eval's
    }
    ThrowUnreachable();
  }

  [[gnu::noinline]] Scalar EvalByKind(const ExprCode& code, int lane) {
    switch (code.kind) {
      case ExprKind::kVar:
        return vectors_[code.slot][lane];
      case ExprKind::kCast:
        return ApplyCast(code.operand, code.dtype, Eval(code.children[0], lane));
      case ExprKind::kAnd:
        return Scalar::Int(Eval(code.children[0], lane).i != 0 && Eval(code.children[1], lane).i != 0);
      case ExprKind::kOr:
        return Scalar::Int(Eval(code.children[0], lane).i != 0 || Eval(code.children[1], lane).i != 0);
      case ExprKind::kNot:
        return Scalar::Int(Eval(code.children[0], lane).i == 0);
      case ExprKind::kSelect: {
        const bool condition = Eval(code.children[0], lane).i != 0;
        const Scalar true_value = Eval(code.children[1], lane);
        const Scalar false_value = Eval(code.children[2], lane);
        return condition ? true_value : false_value;
      }
      case ExprKind::kLet:
        BindVar(code.slot, code.children[0]);
        return Eval(code.children[1], lane);
      case ExprKind::kRamp: {
        const int64_t base = Eval(code.children[0], 0).i;
        return Scalar::Int(base + lane * Eval(code.children[1], 0).i);
      }
      case ExprKind::kBroadcast:
        return Eval(code.children[0], 0);
      case ExprKind::kShuffle:
        return EvalShuffle(code, lane);
      case ExprKind::kCall:
        return EvalCall(code, lane);
      case ExprKind::kIntImm:
      case ExprKind::kFloatImm:
      case ExprKind::kStringImm:
      case ExprKind::kBufferLoad:
      case ExprKind::kProducerLoad:
      case ExprKind::kReduce:
        ThrowUnreachable();
      case ExprKind::kAdd:
      case ExprKind::kSub:
      case ExprKind::kMul:
      case ExprKind::kDiv:
      case ExprKind::kMod:
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod:
      case ExprKind::kMin:
      case ExprKind::kMax:
      case ExprKind::kEQ:
      case ExprKind::kNE:
      case ExprKind::kLT:
      case ExprKind::kLE:
      case ExprKind::kGT:
      case ExprKind::kGE:
        break;  // EvalForm's
    }
    ThrowUnreachable();
  }

  void BindVar(int slot, const ExprCode& value) {
    if (value.lanes == 1) {
      const Scalar scalar = Eval(value, 0);
      vars_[slot].f = scalar.f;
      SetInteger(slot, scalar.i);
    } else {
      BindVector(slot, value);
    }
  }
  [[gnu::noinline]] void BindVector(int slot, const ExprCode& value) {
    std::vector<Scalar> lanes(value.lanes);
    for (int lane = 0; lane < value.lanes; ++lane) lanes[lane] = Eval(value, lane);
    vectors_[slot] = std::move(lanes);
  }

  [[gnu::noinline]] void Store(const StmtCode& code) {
    BufferState& state = StateOf(code.slot);
    const ExprCode& value = code.exprs[0];
    if (value.lanes == 1) {
      const Scalar scalar = Eval(value, 0);
      Put(&state, value.dtype, Offset(state, code.index_slots, code.exprs.data() + 1, 0), scalar);
    } else {
      StoreVector(&state, code);
    }
  }
  void Put(BufferState* state, DataType dtype, int64_t offset, Scalar scalar) {
    StoreScalar(state->data, dtype, offset, scalar);
    VisitWritten(state, offset, [](uint8_t* written) { *written = 1; });
  }
  [[gnu::noinline]] void StoreVector(BufferState* state, const StmtCode& code) {
    const ExprCode& value = code.exprs[0];
    // All lanes are read before any is written.
    std::vector<std::pair<int64_t, Scalar>> lanes(value.lanes);
    for (int lane = 0; lane < value.lanes; ++lane) {
      lanes[lane] = {Offset(*state, code.index_slots, code.exprs.data() + 1, lane), Eval(value, lane)};
    }
    for (const auto& [offset, scalar] : lanes) Put(state, value.dtype, offset, scalar);
  }

  [[gnu::noinline]] void ExecBlock(const StmtCode& code) {
    // The values are expressions in the enclosing variables: all are read before any is bound.
    int64_t values[16];
    if (code.iters.size() > std::size(values)) ThrowTooManyIterators(code);
    if (Eval(code.exprs[0], 0).i == 0) return;
    bool first = true;
    for (size_t i = 0; i < code.iters.size(); ++i) values[i] = EvalIndex(code.iters[i].value, 0);
    for (size_t i = 0; i < code.iters.size(); ++i) {
      if (code.iters[i].slot >= 0) SetInteger(code.iters[i].slot, values[i]);
      if (code.iters[i].is_reduce && values[i] != Eval(code.iters[i].dom_min, 0).i) first = false;
    }
    for (const BufferCode& buffer : code.allocs) Allocate(buffer);
    if (code.init != nullptr && first) Exec(*code.init);
    Exec(code.body[0]);
  }

  void Exec(const StmtCode& code) {
    using tir::StmtKind;
    if (--steps_left_ < 0) ThrowTooManySteps();
    switch (code.kind) {
      case StmtKind::kBind:
        BindVar(code.slot, code.exprs[0]);
        return;
      case StmtKind::kAssert:
        if (Eval(code.exprs[0], 0).i == 0) ThrowAsserted(code);
        return;
      case StmtKind::kBufferStore:
        Store(code);
        return;
      case StmtKind::kAllocBuffer:
        Allocate(code.allocs[0]);
        return;
      case StmtKind::kSeq:
        for (const StmtCode& child : code.body) Exec(child);
        return;
      case StmtKind::kIfThenElse:
        if (Eval(code.exprs[0], 0).i != 0) {
          Exec(code.body[0]);
        } else if (code.body.size() > 1) {
          Exec(code.body[1]);
        }
        return;
      case StmtKind::kEvaluate:
        Eval(code.exprs[0], 0);
        return;
      case StmtKind::kFor: {
        const int64_t min = Eval(code.exprs[0], 0).i;
        const int64_t extent = Eval(code.exprs[1], 0).i;
        for (int64_t i = 0; i < extent; ++i) {
          SetInteger(code.slot, min + i);
          Exec(code.body[0]);
        }
        return;
      }
      case StmtKind::kWhile:
        while (Eval(code.exprs[0], 0).i != 0) Exec(code.body[0]);
        return;
      case StmtKind::kSBlockRealize:
        ExecBlock(code);
        return;
      case StmtKind::kAttr:
      case StmtKind::kSBlock:
        break;
    }
    ThrowUnreachable();
  }

  const TirProgram& program_;
  /// Values of the variables and of the sums of them.
  std::vector<Scalar> vars_;
  /// Values of the variables of vector type.
  std::vector<std::vector<Scalar>> vectors_;
  std::vector<BufferState> buffers_;
  int64_t steps_left_;
};

}  // namespace

void Execute(const TirProgram& program, const std::vector<Tensor>& tensors, const std::vector<int64_t>& scalars,
             const Options& options) {
  Executor(program, options).Run(tensors, scalars);
}

}  // namespace deuteron::interpreter
