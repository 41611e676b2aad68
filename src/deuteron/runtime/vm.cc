/// \file
/// The loop over the byte code. Verified programs only: nothing is checked here that the verifier has seen.
#include "deuteron/runtime/vm.h"

#include <algorithm>
#include <cstring>

#include "deuteron/runtime/closure.h"
#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/kernel_errors.h"
#include "deuteron/runtime/loop.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"
#include "deuteron/support/limits.h"

namespace deuteron::runtime {
namespace {

constexpr int kMaxDepth = 200;
/// Shapes of most tensors fit; no allocation then.
using Dims = std::vector<int64_t>;

void ReadDims(const Frame& frame, const TypeSpec& type, Dims* dims) {
  dims->clear();
  for (const DimSpec& dim : type.dims) dims->push_back(frame.cells[dim.cell]);
}

int64_t ScalarBits(const Any& value) {
  if (const auto number = value.as<int64_t>()) return *number;
  int64_t bits = 0;
  if (const auto number = value.as<double>()) {
    std::memcpy(&bits, &*number, sizeof(bits));
    return bits;
  }
  const DLTensor* data = AsScalar(value);
  if (data == nullptr) DEUTERON_THROW(ModelError) << "expected a scalar, got " << value.GetTypeKey();
  const char* from = static_cast<const char*>(data->data) + data->byte_offset;
  if (!IsFloat(data->dtype)) return LoadInteger(from, data->dtype);
  std::memcpy(&bits, from, static_cast<size_t>(ElementBytes(data->dtype)));
  return bits;
}

/// Has the pages of new memory made that caches keep until it is used: the first run does not stop for each, and what
/// it calls may still be being opened. Of more, pages are made where they are written to.
void FaultInCached(void* memory, int64_t bytes, int threads) {
  constexpr int64_t kMost = int64_t{8} << 20, kPiece = int64_t{2} << 20;
  if (bytes > kMost) return;
  struct Block {
    char* memory;
    int64_t bytes;
  } block{static_cast<char*>(memory), bytes};
  const auto fault_in = [](void* closure, int64_t begin, int64_t end) {
    const auto& [memory, bytes] = *static_cast<const Block*>(closure);
    FaultIn(memory + begin * kPiece, std::min(end * kPiece, bytes) - begin * kPiece);
    return 0;
  };
  ParallelFor(threads, (bytes + kPiece - 1) / kPiece, 1, fault_in, &block);
}

}  // namespace

/// A frame from the pool; cleared and given back at the end, however that comes.
class Machine::FrameLease {
 public:
  FrameLease(Machine* machine, size_t function) : pool_(&machine->free_frames_[function]) {
    if (!pool_->empty()) {
      frame_ = std::move(pool_->back());
      pool_->pop_back();
      return;
    }
    const FunctionSpec& spec = machine->program_.functions[function];
    frame_ = std::make_unique<Frame>();
    frame_->function = &spec;
    frame_->cells.assign(spec.num_cells, 0);
    std::vector<bool> is_constant(spec.num_cells, false);
    for (const auto& constant : spec.cell_constants) {
      frame_->cells[constant.cell] = constant.value;
      is_constant[constant.cell] = true;
    }
    frame_->slots.assign(spec.num_slots, nullptr);
    frame_->objects.resize(spec.num_objects);
    for (const auto& [slot, constant] : spec.constant_slots) {
      frame_->slots[slot] = const_cast<void*>(machine->executable_->weights().Known(constant));
      if (frame_->slots[slot] != nullptr) continue;
      frame_->unchecked.resize(spec.num_slots);
      frame_->unchecked[slot] = constant + 1;
    }
    frame_->arena_is_static = is_constant[spec.arena_size];
    for (const auto& slot : spec.arena_slots) frame_->arena_is_static &= is_constant[slot.offset];
  }
  ~FrameLease() {
    for (Any& object : frame_->objects) object = nullptr;
    pool_->push_back(std::move(frame_));
  }
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;
  Frame* get() const { return frame_.get(); }

 private:
  std::vector<std::unique_ptr<Frame>>* pool_;
  std::unique_ptr<Frame> frame_;
};

Machine::Machine(std::shared_ptr<const Executable> executable, int threads, int64_t run_bytes)
    : executable_(std::move(executable)),
      program_(executable_->program()),
      threads_(threads > 0 ? threads : UsableThreads()),
      run_bytes_(run_bytes),
      free_frames_(program_.functions.size()),
      packed_(program_.strings.size()) {
  context_.parallel_for = &ContextParallelFor;
  context_.set_error = &ContextSetError;
  context_.allocate = &AllocateScratch;
  context_.release = &ReleaseScratch;
  context_.runtime = this;
  size_t data = 0, scalars = 0;
  for (const KernelSpec& kernel : program_.kernels) {
    data = std::max<size_t>(data, kernel.num_data);
    scalars = std::max<size_t>(scalars, kernel.num_scalars);
  }
  data_.resize(data);
  scalars_.resize(scalars);
}

int Machine::ContextParallelFor(const DeuteronContext* context, int64_t extent, int64_t grain,
                                int (*body)(void*, int64_t, int64_t), void* closure) {
  std::string thrown;
  const int threads = static_cast<const Machine*>(context->runtime)->threads_;
  const int status = ParallelForOrStatus(threads, extent, grain, body, closure, &thrown);
  if (!thrown.empty()) ContextSetError(context, ("the threads of a loop threw: " + thrown).c_str());
  return status;
}

void Machine::ContextSetError(const DeuteronContext* context, const char* message) {
  auto* self = static_cast<Machine*>(context->runtime);
  std::lock_guard<std::mutex> lock(self->error_mutex_);
  if (self->error_.empty()) self->error_ = message;
}

Any Machine::Call(size_t function, std::span<const Any> arguments, std::span<const Tensor> outputs) {
  const FunctionSpec& spec = program_.functions[function];
  if (arguments.size() != spec.input_types.size()) {
    DEUTERON_THROW(UsageError) << spec.name << " takes " << spec.input_types.size() << " arguments, given "
                               << arguments.size();
  }
  if (depth_ >= kMaxDepth)
    DEUTERON_THROW(UnsupportedError) << "calls nest deeper than " << kMaxDepth << " in " << spec.name;
  struct Depth {
    int* depth;
    explicit Depth(int* depth) : depth(depth) { ++*depth; }
    ~Depth() { --*depth; }
  } depth(&depth_);
  FrameLease lease(this, function);
  Frame* frame = lease.get();
  std::copy(arguments.begin(), arguments.end(), frame->objects.begin());
  return profiler ? Execute<true>(frame, outputs) : Execute<false>(frame, outputs);
}

template <bool kProfile>
Any Machine::Execute(Frame* frame, std::span<const Tensor> outputs) {
  using Clock = std::chrono::steady_clock;
  const uint32_t* words = frame->function->code.data();
  std::vector<Any>& objects = frame->objects;
  Dims dims;
  [[maybe_unused]] Clock::time_point begin;
  while (true) {
    const uint32_t length = LengthOf(words[0]);
    switch (OpcodeOf(words[0])) {
      case Opcode::kKernel:
        if constexpr (kProfile) begin = Clock::now();
        RunKernel(frame, words);
        if constexpr (kProfile) Record(*frame, words, program_.kernels[words[1]].symbol, begin);
        break;
      case Opcode::kArith:
        if (const char* problem = Arith(words, frame)) RefuseShape(*frame, words, problem);
        break;
      case Opcode::kEnter:
        Enter(frame);
        break;
      case Opcode::kMatch:
        MatchValue(program_, program_.types[words[2]], objects[words[1]], frame, program_.strings[words[3]],
                   words[4] != 0);
        break;
      case Opcode::kLoad:
        Load(frame, words[1], words[2]);
        break;
      case Opcode::kLoadScalar:
        frame->cells[words[1]] = ScalarBits(objects[words[2]]);
        break;
      case Opcode::kView: {
        const TypeSpec& type = program_.types[words[3]];
        ReadDims(*frame, type, &dims);
        objects[words[1]] = ViewTensor(DataOf(frame, words[2], words), dims, type.dtype);
        break;
      }
      case Opcode::kAlloc: {
        Tensor tensor = Alloc(frame, program_.types[words[3]], words[4], outputs);
        frame->slots[words[1]] = tensor.data_ptr();
        objects[words[2]] = std::move(tensor);
        break;
      }
      case Opcode::kConst: {
        const ConstantSpec& constant = program_.constants[words[2]];
        objects[words[1]] =
            ViewTensor(ConstantOf(*frame, words[2], words), constant.shape, constant.dtype, executable_);
        break;
      }
      case Opcode::kLiteral:
        objects[words[1]] = MakeLiteral(program_.literals[words[2]]);
        break;
      case Opcode::kShape: {
        dims.clear();
        for (uint32_t i = 2; i < length; ++i) dims.push_back(frame->cells[words[i]]);
        objects[words[1]] = tvm::ffi::Shape(dims);
        break;
      }
      case Opcode::kScalar: {
        const int64_t bits = frame->cells[words[3]];
        switch (static_cast<ScalarKind>(words[2])) {
          case ScalarKind::kInt:
            objects[words[1]] = bits;
            break;
          case ScalarKind::kBool:
            objects[words[1]] = bits != 0;
            break;
          case ScalarKind::kFloat: {
            double number;
            std::memcpy(&number, &bits, sizeof(number));
            objects[words[1]] = number;
            break;
          }
        }
        break;
      }
      case Opcode::kTuple: {
        tvm::ffi::Array<Any> fields;
        fields.reserve(length - 2);
        for (uint32_t i = 2; i < length; ++i) fields.push_back(objects[words[i]]);
        objects[words[1]] = std::move(fields);
        break;
      }
      case Opcode::kGetItem: {
        const auto fields = objects[words[2]].as<tvm::ffi::Array<Any>>();
        if (!fields.has_value() || words[3] >= fields->size()) {
          DEUTERON_THROW(ModelError) << "item " << words[3] << " of " << objects[words[2]].GetTypeKey()
                                     << SourceOf(*frame->function, words);
        }
        objects[words[1]] = Any((*fields)[words[3]]);
        break;
      }
      case Opcode::kMove:
        objects[words[1]] = Any(objects[words[2]]);
        break;
      case Opcode::kCopy:
        objects[words[1]] = DeepCopy(objects[words[2]]);
        break;
      case Opcode::kRelease:
        objects[words[1]] = nullptr;
        break;
      case Opcode::kCall: {
        std::vector<Any> arguments;
        for (uint32_t i = 3; i < length; ++i) arguments.push_back(objects[words[i]]);
        objects[words[1]] = Call(words[2], arguments, {});
        break;
      }
      case Opcode::kCallPacked:
        if constexpr (kProfile) {
          std::vector<int64_t> parts;
          const CallProfile scope(&parts);
          begin = Clock::now();
          objects[words[1]] = CallPacked(frame, words);
          Record(*frame, words, program_.strings[words[2]], begin, parts);
        } else {
          objects[words[1]] = CallPacked(frame, words);
        }
        break;
      case Opcode::kClosure: {
        tvm::ffi::Array<Any> captured;
        for (uint32_t i = 3; i < length; ++i) captured.push_back(objects[words[i]]);
        objects[words[1]] = Closure(executable_, words[2], std::move(captured));
        break;
      }
      case Opcode::kInvoke: {
        std::vector<Any> arguments;
        for (uint32_t i = 3; i < length; ++i) arguments.push_back(objects[words[i]]);
        objects[words[1]] = Invoke(objects[words[2]], std::move(arguments), {});
        break;
      }
      case Opcode::kLoop:
        objects[words[1]] = Loop(frame, words);
        break;
      case Opcode::kIf:
        if (!IsTrue(objects[words[1]])) words += words[2];
        break;
      case Opcode::kJump:
        words += words[1];
        break;
      case Opcode::kReturn:
        return std::move(objects[words[1]]);
    }
    words += length;
  }
}

void Machine::RunKernel(Frame* frame, const uint32_t* words) {
  const KernelSpec& kernel = program_.kernels[words[1]];
  const uint32_t* operand = words + 2;
  bool missing = false;
  for (uint32_t i = 0; i < kernel.num_data; ++i) {
    data_[i] = DataOf(frame, *operand++, words);
    missing |= data_[i] == nullptr;
  }
  for (uint32_t i = 0; i < kernel.num_scalars; ++i) scalars_[i] = frame->cells[*operand++];
  DEUTERON_CHECK(!missing) << "kernel " << kernel.symbol << " reads a tensor that was never made";
  if (executable_->kernel(words[1])(&context_, data_.data(), scalars_.data()) == 0) return;
  std::string message;
  {
    std::lock_guard<std::mutex> lock(error_mutex_);
    message.swap(error_);
  }
  // What a kernel itself says is about the elements that it was given.
  if (message.starts_with(kOutOfBounds)) {
    DEUTERON_THROW(InternalError) << message << " in kernel " << kernel.symbol << SourceOf(*frame->function, words);
  }
  if (message.starts_with(kOutOfMemory)) DEUTERON_THROW(MemoryError) << message;
  if (!message.empty()) {
    const std::string place = PlaceOf(*frame->function, words);
    if (!place.empty()) DEUTERON_THROW(UsageError) << "at '" << place << "': " << message;
    DEUTERON_THROW(UsageError) << message << " in kernel " << kernel.symbol;
  }
  DEUTERON_THROW(ModelError) << "kernel " << kernel.symbol << SourceOf(*frame->function, words) << " failed";
}

void* Machine::DataOf(Frame* frame, uint32_t slot, const uint32_t* words) const {
  void*& data = frame->slots[slot];
  if (data == nullptr && !frame->unchecked.empty() && frame->unchecked[slot] != 0)
    data = ConstantOf(*frame, frame->unchecked[slot] - 1, words);
  return data;
}

void* Machine::ConstantOf(const Frame& frame, uint32_t constant, const uint32_t* words) const {
  const void* data = executable_->weights().Get(constant, threads_, [&] {
    const std::string place = PlaceOf(*frame.function, words);
    return place.empty() ? "" : "'" + place + "'";
  });
  return const_cast<void*>(data);
}

void Machine::Enter(Frame* frame) {
  const FunctionSpec& function = *frame->function;
  if (function.arena_slots.empty()) return;
  const int64_t bytes = frame->cells[function.arena_size];
  const bool fits = frame->arena != nullptr && bytes <= frame->arena_bytes;
  if (fits && frame->arena_is_static) return;
  if (!fits) {
    FreeAligned(frame->arena);
    arena_bytes_ -= frame->arena_bytes;
    frame->arena_bytes = 0;
    frame->arena = nullptr;
    const double all = static_cast<double>(arena_bytes_) + static_cast<double>(bytes);
    CheckLimit(&Limits::run_bytes, all, "the intermediates of " + function.name, run_bytes_);
    if (bytes >= 0) frame->arena = AllocAligned(bytes);
    if (frame->arena == nullptr) {
      DEUTERON_THROW(MemoryError) << "out of memory: " << function.name << " needs " << bytes
                                  << " bytes for intermediates";
    }
    frame->arena_bytes = bytes;
    arena_bytes_ += bytes;
    FaultInCached(frame->arena, bytes, threads_);
  }
  for (const auto& slot : function.arena_slots) {
    const int64_t offset = frame->cells[slot.offset];
    if (offset < 0 || offset > bytes) {
      DEUTERON_THROW(ModelError) << "a tensor of " << function.name << " lies outside of the arena";
    }
    frame->slots[slot.slot] = static_cast<char*>(frame->arena) + offset;
  }
}

void Machine::Load(Frame* frame, uint32_t slot, uint32_t object) const {
  Any& value = frame->objects[object];
  const auto tensor = value.as<Tensor>();
  if (!tensor.has_value() || !tensor->defined())
    DEUTERON_THROW(ModelError) << "expected a tensor, got " << value.GetTypeKey();
  const DLTensor& data = *tensor->GetDLTensorPtr();
  if (IsKernelReady(data)) {
    frame->slots[slot] = static_cast<char*>(data.data) + data.byte_offset;
    return;
  }
  Tensor copy = CopyCompact(data);
  frame->slots[slot] = copy.data_ptr();
  value = std::move(copy);
}

Tensor Machine::Alloc(Frame* frame, const TypeSpec& type, uint32_t output, std::span<const Tensor> outputs) const {
  Dims dims;
  ReadDims(*frame, type, &dims);
  if (output > 0 && output <= outputs.size() && outputs[output - 1].defined()) {
    const DLTensor& given = *outputs[output - 1].GetDLTensorPtr();
    const bool fits = std::equal(dims.begin(), dims.end(), given.shape, given.shape + given.ndim) &&
                      given.dtype.code == type.dtype.code && given.dtype.bits == type.dtype.bits &&
                      given.dtype.lanes == type.dtype.lanes && given.byte_offset == 0;
    // Others get a copy at the end, or the error that says what is wrong with them.
    if (fits && IsKernelReady(given)) return outputs[output - 1];
  }
  double bytes = ElementBytes(type.dtype);
  for (const int64_t dim : dims) bytes *= static_cast<double>(dim);
  if (bytes + static_cast<double>(arena_bytes_) > static_cast<double>(run_bytes_)) {
    CheckLimit(&Limits::run_bytes, bytes + static_cast<double>(arena_bytes_),
               "intermediates and a result of " + frame->function->name, run_bytes_);
  }
  return AllocTensor(dims, type.dtype);
}

Any Machine::CallPacked(Frame* frame, const uint32_t* words) {
  const CallThreads scope(threads_);
  tvm::ffi::Function& function = packed_[words[2]];
  if (function == nullptr) {
    const std::string& name = program_.strings[words[2]];
    executable_->externals().MakeCalledBy(frame->function - program_.functions.data(), threads_);
    const tvm::ffi::Function* external = executable_->externals().Find(name, threads_);
    const auto found = external != nullptr ? *external : tvm::ffi::Function::GetGlobal(name);
    if (!found.has_value()) {
      DEUTERON_THROW(UnsupportedError) << "the model calls the external function '" << name
                                       << "', which is not registered in this process";
    }
    function = *found;
  }
  std::vector<tvm::ffi::AnyView> arguments;
  for (uint32_t i = 3; i < LengthOf(words[0]); ++i) arguments.emplace_back(frame->objects[words[i]]);
  Any result;
  function.CallPacked(arguments.data(), static_cast<int32_t>(arguments.size()), &result);
  return result;
}

Any Machine::Invoke(const Any& callee, std::vector<Any> arguments, std::span<const Tensor> outputs) {
  const auto closure = callee.as<Closure>();
  if (!closure.has_value() || (*closure)->executable != executable_) {
    DEUTERON_THROW(ModelError) << "a call of " << callee.GetTypeKey() << ", which is no function of the module";
  }
  arguments.insert(arguments.end(), (*closure)->captured.begin(), (*closure)->captured.end());
  return Call((*closure)->function, arguments, outputs);
}

Any Machine::Loop(Frame* frame, const uint32_t* words) {
  const Any body = frame->objects[words[2]];
  LoopSpec loop;
  loop.trips = frame->cells[words[3]];
  loop.is_conditional = words[5] != 0;
  loop.num_states = words[6];
  const TypeSpec& type = program_.types[words[4]];
  for (size_t i = loop.num_states; i < type.fields.size(); ++i) {
    const TypeSpec& output = program_.types[type.fields[i]];
    std::vector<int64_t> row;
    for (int32_t axis = 1; axis < output.ndim; ++axis) {
      const bool known = output.has_dims && output.dims[axis].kind == DimSpec::kCheck;
      row.push_back(known ? frame->cells[output.dims[axis].cell] : 0);
    }
    loop.outputs.push_back({output.dtype, std::move(row)});
  }
  std::vector<Any> initial;
  for (uint32_t i = 7; i < LengthOf(words[0]); ++i) initial.push_back(frame->objects[words[i]]);
  return RunLoop(loop, std::move(initial), [&](const std::vector<Any>& arguments, std::span<const Tensor> spare) {
    return Invoke(body, arguments, spare);
  });
}

Any Machine::MakeLiteral(const Literal& literal) const {
  switch (literal.kind) {
    case Literal::kString:
      return tvm::ffi::String(program_.strings[literal.string]);
    case Literal::kDType:
      return literal.dtype;
    case Literal::kNone:
      return nullptr;
  }
  DEUTERON_UNREACHABLE();
}

std::string Machine::PlaceOf(const FunctionSpec& function, const uint32_t* words) const {
  const auto word = static_cast<uint32_t>(words - function.code.data());
  for (const auto& mark : function.sources) {
    if (mark.word == word) return program_.strings[mark.text];
  }
  return "";
}

void Machine::RefuseShape(const Frame& frame, const uint32_t* words, const char* problem) const {
  const std::string place = PlaceOf(*frame.function, words);
  if (!place.empty()) DEUTERON_THROW(ModelError) << "at '" << place << "': a shape " << problem;
  DEUTERON_THROW(ModelError) << "a shape of " << frame.function->name << " " << problem;
}

std::string Machine::SourceOf(const FunctionSpec& function, const uint32_t* words) const {
  const std::string place = PlaceOf(function, words);
  return place.empty() ? "" : " (at " + place + ")";
}

void Machine::Record(const Frame& frame, const uint32_t* words, std::string_view name,
                     std::chrono::steady_clock::time_point begin, std::span<const int64_t> parts) const {
  const auto end = std::chrono::steady_clock::now();
  const FunctionSpec& function = *frame.function;
  KernelEvent event;
  event.function = function.name;
  event.kernel = name;
  event.word = static_cast<uint32_t>(words - function.code.data());
  const auto mark = std::lower_bound(function.sources.begin(), function.sources.end(), event.word,
                                     [](const auto& mark, uint32_t word) { return mark.word < word; });
  if (mark != function.sources.end() && mark->word == event.word) event.source = program_.strings[mark->text];
  event.begin_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(begin.time_since_epoch()).count();
  event.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
  for (const int64_t part : parts) event.duration_ns -= part;
  profiler(event);
  for (size_t i = 0; i < parts.size(); ++i) {
    event.part = static_cast<int32_t>(i);
    event.duration_ns = parts[i];
    profiler(event);
  }
}

}  // namespace deuteron::runtime
