#include "deuteron/runtime/loop.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "deuteron/runtime/closure.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {

using tvm::ffi::Any;
using tvm::ffi::Array;

namespace {

/// Rows of equal shape, one after another, in memory that grows where their number is not known.
class StackedRows {
 public:
  void Add(const Tensor& row, int64_t expected) {
    if (!rows_.defined()) {
      shape_.assign(row.shape().begin(), row.shape().end());
      Resize(std::max<int64_t>(expected, 1), row.dtype());
    } else if (!std::equal(shape_.begin(), shape_.end(), row.shape().begin(), row.shape().end())) {
      DEUTERON_THROW(ModelError)
          << "a loop gives " << DescribeTensor(*row.GetDLTensorPtr()) << " in step " << count_ << " and "
          << DescribeTensor(*Row(0).GetDLTensorPtr())
          << " in its first; what the steps of a loop give is stacked, so it must be of one shape";
    }
    if (count_ == rows_.size(0)) Resize(2 * count_, row.dtype());
    CopyInto(*row.GetDLTensorPtr(), *Row(count_++).GetDLTensorPtr());
  }

  /// All rows; `otherwise` says of what there are none.
  Tensor Take(const LoopSpec::Row& otherwise) {
    if (!rows_.defined()) {
      std::vector<int64_t> none = {0};
      none.insert(none.end(), otherwise.shape.begin(), otherwise.shape.end());
      return AllocTensor(none, otherwise.dtype);
    }
    if (rows_.size(0) == count_) return rows_;
    return ViewTensor(rows_.data_ptr(), Shape(count_), rows_.dtype(), std::make_shared<Tensor>(rows_));
  }

 private:
  std::vector<int64_t> Shape(int64_t rows) const {
    std::vector<int64_t> shape = {rows};
    shape.insert(shape.end(), shape_.begin(), shape_.end());
    return shape;
  }

  void Resize(int64_t rows, DLDataType dtype) {
    const Tensor larger = AllocTensor(Shape(rows), dtype);
    if (count_ > 0) std::memcpy(larger.data_ptr(), rows_.data_ptr(), TensorBytes(Shape(count_), dtype));
    rows_ = larger;
  }

  Tensor Row(int64_t index) const {
    char* data = static_cast<char*>(rows_.data_ptr()) + index * TensorBytes(shape_, rows_.dtype());
    return ViewTensor(data, shape_, rows_.dtype());
  }

  std::vector<int64_t> shape_;
  Tensor rows_;
  int64_t count_ = 0;
};

/// Those of `values` that nobody else refers to; null for the others. `values` is empty afterwards.
void TakeUnused(std::vector<Any>* values, std::vector<Tensor>* unused) {
  unused->assign(values->size(), Tensor());
  for (size_t i = 0; i < values->size(); ++i) {
    auto tensor = std::move((*values)[i]).as<Tensor>();
    (*values)[i] = nullptr;
    if (tensor.has_value() && tensor->defined() && tensor->use_count() == 1) (*unused)[i] = *std::move(tensor);
  }
}

}  // namespace

Array<Any> RunLoop(const LoopSpec& loop, std::vector<Any> initial, const LoopStep& step) {
  const size_t first_state = loop.is_conditional ? 1 : 0;
  const size_t num_results = first_state + loop.num_states + loop.outputs.size();
  if (initial.size() != first_state + loop.num_states) {
    DEUTERON_THROW(ModelError) << "a loop of " << loop.num_states << " states begins with " << initial.size()
                               << " values";
  }
  bool proceeds = !loop.is_conditional || IsTrue(initial[0]);
  std::vector<Any> arguments(initial.begin() + static_cast<std::ptrdiff_t>(first_state), initial.end());
  arguments.insert(arguments.begin(), nullptr);
  initial.clear();
  std::vector<StackedRows> outputs(loop.outputs.size());
  // What the step before this one gave; what the one before that gave.
  std::vector<Any> last;
  std::vector<Tensor> spare;
  int64_t count = 0;
  for (; proceeds && count < loop.trips; ++count) {
    arguments[0] = tvm::ffi::Shape({count});
    std::vector<Any> results;
    {
      const auto fields = step(arguments, spare).as<Array<Any>>();
      if (!fields.has_value() || fields->size() != num_results) {
        DEUTERON_THROW(ModelError) << "a step of a loop does not give " << num_results << " values";
      }
      results.assign(fields->begin(), fields->end());
    }
    if (loop.is_conditional) proceeds = IsTrue(results[0]);
    for (size_t i = 0; i < loop.num_states; ++i) arguments[1 + i] = results[first_state + i];
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto row = results[first_state + loop.num_states + i].as<Tensor>();
      if (!row.has_value()) DEUTERON_THROW(ModelError) << "an output of a loop is no tensor";
      outputs[i].Add(*row, loop.is_conditional ? 0 : loop.trips);
    }
    // A tensor that is two results has one place among those that are given again.
    for (size_t i = first_state + loop.num_states; i < results.size(); ++i) {
      const auto same = [&](const Any& other) { return other.same_as(results[i]); };
      if (std::any_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(i), same)) results[i] = nullptr;
    }
    TakeUnused(&last, &spare);
    last = std::move(results);
  }
  Array<Any> final;
  for (size_t i = 0; i < loop.num_states; ++i) {
    final.push_back(count == 0 ? DeepCopy(arguments[1 + i]) : arguments[1 + i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) final.push_back(outputs[i].Take(loop.outputs[i]));
  return final;
}

bool IsTrue(const Any& value) {
  if (const auto number = value.as<int64_t>()) return *number != 0;
  const DLTensor* data = AsScalar(value);
  if (data == nullptr) DEUTERON_THROW(ModelError) << "a condition is no scalar: " << value.GetTypeKey();
  const char* element = static_cast<const char*>(data->data) + data->byte_offset;
  return IsFloat(data->dtype) ? LoadFloat(element, data->dtype) != 0 : LoadInteger(element, data->dtype) != 0;
}

const DLTensor* AsScalar(const Any& value) {
  const auto tensor = value.as<Tensor>();
  if (!tensor.has_value() || !tensor->defined() || tensor->numel() != 1) return nullptr;
  const DLTensor* data = tensor->GetDLTensorPtr();
  const bool is_number = data->dtype.lanes == 1 && data->dtype.bits > 0 && data->dtype.bits <= 64;
  return is_number && data->device.device_type == kDLCPU ? data : nullptr;
}

Any DeepCopy(const Any& value) {
  if (const auto tensor = value.as<Tensor>(); tensor.has_value() && tensor->defined()) {
    return CopyCompact(*tensor->GetDLTensorPtr());
  }
  if (const auto fields = value.as<tvm::ffi::Array<Any>>()) {
    tvm::ffi::Array<Any> copy;
    for (const Any& field : *fields) copy.push_back(DeepCopy(field));
    return copy;
  }
  if (const auto closure = value.as<Closure>()) {
    const Any captured = DeepCopy((*closure)->captured);
    return Closure((*closure)->executable, (*closure)->function, captured.cast<tvm::ffi::Array<Any>>());
  }
  return value;
}

}  // namespace deuteron::runtime
