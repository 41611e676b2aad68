#include "deuteron/backend/dnnl/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "deuteron/backend/dnnl/arenas.h"
#include "deuteron/backend/dnnl/gomp.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

using Clock = std::chrono::steady_clock;

/// As DeuteronHost::allocate has it.
constexpr size_t kAlignment = 64;
size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// What one call in flight needs: the primitives' arguments, in an arena.
struct Frame {
  ::dnnl::stream stream{Engine()};
  std::vector<std::vector<dnnl_exec_arg_t>> arguments;
  /// Keeps what `arguments` refers to.
  std::vector<memory> memories;
  /// Memory objects over the caller's tensors: which one, and where in it.
  struct OfCaller {
    uint32_t index;
    size_t offset;
    memory object;
  };
  std::vector<OfCaller> inputs, outputs;
  /// The same over the arena that they were last in: (where in it, object).
  std::vector<std::pair<size_t, memory>> buffers;
  const char* arena = nullptr;

  void MoveTo(char* data) {
    if (data == arena) return;
    for (auto& [offset, object] : buffers) object.set_data_handle(data + offset);
    arena = data;
  }
};

/// An arena during a call.
class ArenaOfCall {
 public:
  ArenaOfCall(Arenas* arenas, size_t bytes) : arenas_(arenas), arena_(arenas->Take(bytes)) {}
  ~ArenaOfCall() { arenas_->GiveBack(std::move(arena_)); }
  ArenaOfCall(const ArenaOfCall&) = delete;
  ArenaOfCall& operator=(const ArenaOfCall&) = delete;
  char* data() const { return arena_.data.get(); }

 private:
  Arenas* const arenas_;
  Arenas::Arena arena_;
};

class PreparedPlan : public JsonRuntime::Plan {
 public:
  PreparedPlan(std::vector<PlanBuilder::Step> steps, std::vector<PlanBuilder::BufferInfo> buffers, size_t arena_bytes,
               const DeuteronHost* host)
      : steps_(std::move(steps)),
        buffers_(std::move(buffers)),
        arena_bytes_(arena_bytes),
        host_(host),
        arenas_(&Arenas::Get(host)),
        user_(arenas_, arena_bytes) {}

  size_t workspace_bytes() const override { return arena_bytes_; }

  void Execute(std::span<const DLTensor* const> inputs, std::span<const DLTensor* const> outputs,
               std::span<char> workspace) const override {
    std::unique_ptr<Frame> frame = Acquire();
    std::optional<ArenaOfCall> arena;
    if (arena_bytes_ > 0) {
      const bool is_lent = workspace.size() >= arena_bytes_;
      frame->MoveTo(is_lent ? workspace.data() : arena.emplace(arenas_, arena_bytes_).data());
    }
    const auto data = [](const DLTensor* tensor) { return static_cast<char*>(tensor->data) + tensor->byte_offset; };
    for (auto& [index, offset, object] : frame->inputs) object.set_data_handle(data(inputs[index]) + offset);
    for (auto& [index, offset, object] : frame->outputs) object.set_data_handle(data(outputs[index]) + offset);
    const bool is_profiled = host_->is_profiled() != 0;
    Clock::time_point begin;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_profiled) begin = Clock::now();
      Execute(steps_[i], frame->stream, frame->arguments[i]);
      if (is_profiled) {
        const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
        host_->record_kernel(steps_[i].kernel, time.count());
      }
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(frame));
  }

 private:
  void Execute(const PlanBuilder::Step& step, const ::dnnl::stream& stream,
               const std::vector<dnnl_exec_arg_t>& arguments) const {
    if (step.transposition) {
      void *from = nullptr, *to = nullptr;
      dnnl_memory_get_data_handle(arguments[0].memory, &from);
      dnnl_memory_get_data_handle(arguments[1].memory, &to);
      return step.transposition->Run(static_cast<const float*>(from), static_cast<float*>(to), host_);
    }
    ::dnnl::error::wrap_c_api(dnnl_primitive_execute(step.primitive.get(), stream.get(),
                                                     static_cast<int>(arguments.size()), arguments.data()),
                              "a primitive cannot be executed");
  }

  std::unique_ptr<Frame> Acquire() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto frame = std::move(idle_.back());
        idle_.pop_back();
        return frame;
      }
    }
    auto frame = std::make_unique<Frame>();
    for (const PlanBuilder::Step& step : steps_) {
      auto& arguments = frame->arguments.emplace_back();
      for (const auto& [id, value] : step.arguments) arguments.push_back({id, Object(frame.get(), value)});
    }
    return frame;
  }

  dnnl_memory_t Object(Frame* frame, const Value& value) const {
    if (value.place == Value::kMemory) return value.packed.get();
    void* data = nullptr;
    if (value.place == Value::kConstant) data = const_cast<void*>(value.data);
    memory object(value.desc, Engine(), data);
    frame->memories.push_back(object);
    if (value.place == Value::kBuffer) frame->buffers.emplace_back(buffers_[value.index].offset + value.offset, object);
    if (value.place == Value::kInput) frame->inputs.push_back({value.index, value.offset, object});
    if (value.place == Value::kOutput) frame->outputs.push_back({value.index, value.offset, object});
    return object.get();
  }

  std::vector<PlanBuilder::Step> steps_;
  std::vector<PlanBuilder::BufferInfo> buffers_;
  size_t arena_bytes_;
  const DeuteronHost* host_;
  Arenas* const arenas_;
  const Arenas::User user_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace

const ::dnnl::engine& Engine() {
  static const auto* engine = new ::dnnl::engine(::dnnl::engine::kind::cpu, 0);
  return *engine;
}

bool IsEmpty(const memory::dims& dims) { return std::find(dims.begin(), dims.end(), 0) != dims.end(); }

memory::desc PlainDesc(const std::vector<int64_t>& dims, memory::data_type type) {
  memory::dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return {dims, type, strides};
}

memory::data_type DataTypeOf(const std::string& dtype) {
  if (dtype == "float32") return memory::data_type::f32;
  if (dtype == "float16") return memory::data_type::f16;
  if (dtype == "bfloat16") return memory::data_type::bf16;
  if (dtype == "int32") return memory::data_type::s32;
  if (dtype == "int8") return memory::data_type::s8;
  if (dtype == "uint8") return memory::data_type::u8;
  DEUTERON_THROW(UnsupportedError) << "oneDNN has no dtype " << dtype;
}

Value PlanBuilder::Input(uint32_t index, const memory::desc& desc) {
  return {.place = Value::kInput, .index = index, .desc = desc};
}
Value PlanBuilder::Constant(const void* data, const memory::desc& desc) {
  return {.place = Value::kConstant, .data = data, .desc = desc};
}

Value PlanBuilder::Buffer(const memory::desc& desc) {
  buffers_.push_back({.bytes = RoundUp(desc.get_size())});
  return {.place = Value::kBuffer, .index = static_cast<uint32_t>(buffers_.size() - 1), .desc = desc};
}

Value PlanBuilder::Filled(const memory::desc& desc, float value) {
  const memory::desc plain = PlainDesc(desc.get_dims(), memory::data_type::f32);
  memory source(plain, Engine()), filled(desc, Engine());
  std::fill_n(static_cast<float*>(source.get_data_handle()), plain.get_size() / sizeof(float), value);
  constants_->CopyLater(source, filled);
  return {.place = Value::kMemory, .packed = filled, .desc = desc};
}

Value PlanBuilder::AsLayout(const Value& value, const memory::desc& desc) {
  if (value.desc == desc) return value;
  if (value.place == Value::kConstant) {
    memory packed = constants_->Get(value.data, value.desc, desc);
    return {.place = Value::kMemory, .packed = packed, .desc = desc};
  }
  // A packed constant is copied each time.
  auto& copies = copies_[{value.place, value.index}];
  for (const auto& [source, copy] : copies) {
    if (value.place != Value::kMemory && source == value.desc && copy.desc == desc) return copy;
  }
  const Value copy = Buffer(desc);
  Copy(value, copy);
  copies.emplace_back(value.desc, copy);
  return copy;
}

void PlanBuilder::Add(const ::dnnl::primitive_desc_base& description, std::vector<std::pair<int, Value>> arguments) {
  const memory::desc scratchpad = description.scratchpad_desc();
  if (scratchpad.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, Buffer(scratchpad));
  Append({.number = maker_.Add(description), .arguments = std::move(arguments), .kernel = kernel_});
}

void PlanBuilder::AddInPlace(const ::dnnl::primitive_desc_base& description,
                             std::vector<std::pair<int, Value>> arguments) {
  Add(description, std::move(arguments));
  steps_.back().may_be_in_place = true;
}

Value PlanBuilder::BeginParts(const Value& value, int64_t count) {
  first_of_parts_ = steps_.size();
  memory::dims dims = value.desc.get_dims();
  dims[0] = count;
  Value part = value;
  part.desc = PlainDesc(dims, value.desc.get_data_type());
  part_bytes_[{value.place, value.index}] = part.desc.get_size();
  return part;
}

Value PlanBuilder::EndParts(const Value& result, int64_t parts) {
  memory::dims dims = result.desc.get_dims();
  dims[0] *= parts;
  const Value whole = Buffer(PlainDesc(dims, result.desc.get_data_type()));
  part_bytes_[{whole.place, whole.index}] = result.desc.get_size();
  // The steps so far are those of the first part.
  std::vector<Step> of_part(std::make_move_iterator(steps_.begin() + static_cast<std::ptrdiff_t>(first_of_parts_)),
                            std::make_move_iterator(steps_.end()));
  steps_.resize(first_of_parts_);
  for (int64_t i = 0; i < parts; ++i) {
    for (Step step : of_part) {
      for (auto& [id, value] : step.arguments) {
        if (value.place == result.place && value.index == result.index) value.index = whole.index;
        const auto bytes = part_bytes_.find({value.place, value.index});
        if (bytes != part_bytes_.end()) value.offset += static_cast<size_t>(i) * bytes->second;
      }
      Append(std::move(step));
    }
  }
  buffers_[result.index].first = -1;
  part_bytes_.clear();
  return whole;
}

void PlanBuilder::Copy(const Value& from, const Value& to) {
  std::vector<std::pair<int, Value>> arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  if (const auto transposition = AsTransposition(from.desc, to.desc)) {
    return Append({.arguments = std::move(arguments), .transposition = transposition, .kernel = kernel_});
  }
  ::dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
  const ::dnnl::reorder::primitive_desc reorder(Engine(), from.desc, Engine(), to.desc, attr);
  Add(reorder, std::move(arguments));
}

void PlanBuilder::Append(Step step) {
  const int at = static_cast<int>(steps_.size());
  for (auto& [id, value] : step.arguments) {
    if (value.place == Value::kConstant) value.data = constants_->Plain(value.data, value.desc.get_size());
    if (value.place != Value::kBuffer) continue;
    BufferInfo& buffer = buffers_[value.index];
    if (buffer.first < 0) buffer.first = at;
    buffer.last = at;
  }
  steps_.push_back(std::move(step));
}

void PlanBuilder::Output(uint32_t index, const Value& value, const memory::desc& plain) {
  if (IsEmpty(plain.get_dims())) return;
  const Value output{.place = Value::kOutput, .index = index, .desc = plain};
  // A buffer that lies as the caller's tensor does is that tensor, unless it is a result twice.
  if (value.place == Value::kBuffer && value.desc.get_size() == plain.get_size()) {
    const memory::desc reshaped = value.desc == plain ? plain : value.desc.reshape(plain.get_dims(), true);
    if (reshaped && reshaped == plain) {
      for (Step& step : steps_) {
        for (auto& [id, argument] : step.arguments) {
          if (argument.place != Value::kBuffer || argument.index != value.index) continue;
          argument.place = Value::kOutput;
          argument.index = index;
        }
      }
      buffers_[value.index].first = -1;
      moved_.emplace(value.index, index);
      return;
    }
  }
  Value source = value;
  if (value.place == Value::kBuffer && moved_.count(value.index)) {
    source.place = Value::kOutput;
    source.index = moved_.at(value.index);
  }
  source.desc = value.desc.get_dims() == plain.get_dims() ? value.desc : value.desc.reshape(plain.get_dims());
  Copy(source, output);
}

void PlanBuilder::MergeInPlace() {
  std::vector<uint32_t> kept(buffers_.size());
  std::iota(kept.begin(), kept.end(), 0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    auto& arguments = steps_[i].arguments;
    for (auto& [id, value] : arguments) {
      if (value.place == Value::kBuffer) value.index = kept[value.index];
    }
    if (!steps_[i].may_be_in_place) continue;
    const Value& from = arguments.front().second;
    Value& to = std::find_if(arguments.begin(), arguments.end(), [](const auto& argument) {
                  return argument.first == DNNL_ARG_DST;
                })->second;
    if (from.place != Value::kBuffer || to.place != Value::kBuffer || from.desc != to.desc) continue;
    const auto reads = std::count_if(arguments.begin(), arguments.end(), [&from](const auto& argument) {
      return argument.second.place == Value::kBuffer && argument.second.index == from.index;
    });
    BufferInfo &operand = buffers_[from.index], &result = buffers_[to.index];
    const int at = static_cast<int>(i);
    if (reads > 1 || operand.last != at || result.first != at) continue;
    operand.last = result.last;
    operand.bytes = std::max(operand.bytes, result.bytes);
    result.first = -1;
    kept[to.index] = from.index;
    to.index = from.index;
  }
}

/// Offsets such that buffers whose lives overlap do not: the largest first, each at the lowest place that is free.
size_t PlanBuilder::PlaceBuffers() {
  MergeInPlace();
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].first >= 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [this](uint32_t a, uint32_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
  size_t total = 0;
  std::vector<const BufferInfo*> placed;
  for (const uint32_t index : order) {
    BufferInfo& buffer = buffers_[index];
    size_t offset = 0;
    // `placed` ascends by offset.
    for (const BufferInfo* other : placed) {
      if (other->last < buffer.first || other->first > buffer.last) continue;
      if (other->offset >= offset + buffer.bytes) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer.offset = offset;
    total = std::max(total, offset + buffer.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &buffer,
                                   [](const BufferInfo* a, const BufferInfo* b) { return a->offset < b->offset; }),
                  &buffer);
  }
  return total;
}

void PlanBuilder::TakePrimitives() {
  try {
    std::vector<::dnnl::primitive> primitives = maker_.Finish();
    for (Step& step : steps_) {
      if (!step.transposition) step.primitive = primitives[step.number];
    }
  } catch (const PrimitiveMaker::Refused& refused) {
    for (const Step& step : steps_) {
      if (!step.transposition && step.number == refused.number) throw Refused(refused, step.kernel);
    }
    throw;
  }
}

std::shared_ptr<const JsonRuntime::Plan> PlanBuilder::Finish() {
  TakePrimitives();
  constants_->MakeCopies();
  const size_t bytes = PlaceBuffers();
  return std::make_shared<PreparedPlan>(std::move(steps_), std::move(buffers_), bytes, host_);
}

}  // namespace deuteron::backend::dnnl
