#include "deuteron/relax/rewrite/constant_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"

namespace deuteron::relax {
namespace {

/// A tensor of which every byte differs from its neighbours.
Tensor Counting(const std::vector<int64_t>& shape, DataType dtype) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  auto* bytes = static_cast<uint8_t*>(tensor.data_ptr());
  const int64_t count = tensor.numel() * ElementBytes(dtype);
  for (int64_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return tensor;
}

/// `data` with its axis axes[i] as the i-th, an element at a time.
std::vector<char> Permuted(const Tensor& data, const std::vector<size_t>& axes) {
  const auto shape = data.shape();
  const auto bytes = static_cast<size_t>(ElementBytes(data.dtype()));
  std::vector<int64_t> strides(axes.size(), 1);
  for (size_t i = axes.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  std::vector<char> out;
  std::vector<int64_t> at(axes.size(), 0);
  for (int64_t n = 0; n < data.numel(); ++n) {
    int64_t offset = 0;
    for (size_t i = 0; i < axes.size(); ++i) offset += at[i] * strides[axes[i]];
    const char* element = static_cast<const char*>(data.data_ptr()) + static_cast<size_t>(offset) * bytes;
    out.insert(out.end(), element, element + bytes);
    for (size_t i = axes.size(); i-- > 0;) {
      if (++at[i] < shape[axes[i]]) break;
      at[i] = 0;
    }
  }
  return out;
}

TEST(TransposedData, MovesEveryElementOrNone) {
  const std::vector<std::vector<int64_t>> shapes = {{5, 67},         {33, 40},      {1, 9},     {2, 5, 7},
                                                    {3, 1, 5, 2},    {4, 37, 2, 3}, {600, 700}, {2, 3, 1, 35},
                                                    {1, 1, 1, 2, 1}, {3, 0, 2, 2},  {130, 48},  {17, 19, 3}};
  for (const auto& shape : shapes) {
    for (const DataType dtype : {DataType::Float(32), DataType::Int(8), DataType::Float(16), DataType::Int(64)}) {
      const Tensor data = Counting(shape, dtype);
      std::vector<size_t> axes(shape.size());
      std::iota(axes.begin(), axes.end(), size_t{0});
      int64_t moved = 0;
      do {
        const Tensor result = TransposedData(Constant(data), axes);
        if (!result.defined()) continue;
        ++moved;
        for (size_t i = 0; i < axes.size(); ++i) EXPECT_EQ(result.shape()[static_cast<int64_t>(i)], shape[axes[i]]);
        const std::vector<char> expected = Permuted(data, axes);
        EXPECT_EQ(std::memcmp(result.data_ptr(), expected.data(), expected.size()), 0);
      } while (std::next_permutation(axes.begin(), axes.end()));
      EXPECT_EQ(moved > 0, data.numel() > 0);
    }
  }
}

TEST(TransposedData, IsThatOfMatrices) {
  const Constant data(Counting({2, 3, 4, 5}, DataType::Float(32)));
  EXPECT_TRUE(TransposedData(data, {2, 3, 0, 1}).defined());
  EXPECT_TRUE(TransposedData(data, {0, 3, 1, 2}).defined());
  EXPECT_FALSE(TransposedData(data, {0, 2, 1, 3}).defined());
  EXPECT_FALSE(TransposedData(data, {3, 2, 1, 0}).defined());
}

/// Slices `indices` of `data` along `axis`, an element at a time.
std::vector<char> Taken(const Tensor& data, const std::vector<int64_t>& indices, size_t axis) {
  const auto shape = data.shape();
  const auto bytes = static_cast<size_t>(ElementBytes(data.dtype()));
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  std::vector<char> out;
  for (int64_t i = 0; i < outer; ++i) {
    for (const int64_t index : indices) {
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t at = (i * shape[axis] + index) * inner + j;
        const char* element = static_cast<const char*>(data.data_ptr()) + static_cast<size_t>(at) * bytes;
        out.insert(out.end(), element, element + bytes);
      }
    }
  }
  return out;
}

TEST(TakenData, CopiesTheSlicesThatAreNamed) {
  const std::vector<int64_t> named = {2, 0, 0, 1, 2, 1};
  for (const auto& shape : std::vector<std::vector<int64_t>>{{3}, {3, 5}, {4, 3, 2}, {3, 0}, {2, 0, 3}, {3, 1, 7}}) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] < 3) continue;
      for (const DataType dtype : {DataType::Float(32), DataType::Int(8), DataType::Float(16), DataType::Int(64)}) {
        const Constant data(Counting(shape, dtype));
        Tensor wide = runtime::AllocTensor({2, 3}, DataType::Int(64)),
               narrow = runtime::AllocTensor({6}, DataType::Int(32));
        std::copy(named.begin(), named.end(), static_cast<int64_t*>(wide.data_ptr()));
        std::copy(named.begin(), named.end(), static_cast<int32_t*>(narrow.data_ptr()));
        const std::vector<char> expected = Taken(data->data, named, axis);
        for (const Tensor& indices : {wide, narrow}) {
          const Tensor result = TakenData(data, Constant(indices), axis);
          ASSERT_TRUE(result.defined());
          EXPECT_EQ(result.ndim(), data->data.ndim() + indices.ndim() - 1);
          ASSERT_EQ(result.numel() * ElementBytes(dtype), static_cast<int64_t>(expected.size()));
          EXPECT_TRUE(std::equal(expected.begin(), expected.end(), static_cast<const char*>(result.data_ptr())));
        }
      }
    }
  }
}

TEST(TakenData, LeavesWhatLiesOutsideToTheOperator) {
  const Constant data(Counting({3, 4}, DataType::Float(32)));
  for (const int64_t index : {-1, 3}) {
    Tensor indices = runtime::AllocTensor({1}, DataType::Int(64));
    *static_cast<int64_t*>(indices.data_ptr()) = index;
    EXPECT_FALSE(TakenData(data, Constant(indices), 0).defined());
  }
  EXPECT_FALSE(TakenData(data, Constant(Counting({1}, DataType::Float(32))), 0).defined());
}

TEST(ReshapedData, IsTheSameMemory) {
  const Constant data(Counting({4, 6}, DataType::Float(32)));
  const Tensor result = ReshapedData(data, {2, 1, 12});
  EXPECT_EQ(result.data_ptr(), data->data.data_ptr());
  EXPECT_EQ(std::vector<int64_t>(result.shape().begin(), result.shape().end()), (std::vector<int64_t>{2, 1, 12}));
}

TEST(SlicedData, CopiesTheBox) {
  struct Box {
    std::vector<int64_t> whole, begin, shape;
  };
  for (const auto& [whole, begin, shape] :
       {Box{{7}, {2}, {3}}, Box{{4, 5}, {0, 0}, {4, 5}}, Box{{4, 5}, {1, 0}, {2, 5}}, Box{{4, 5}, {1, 2}, {3, 2}},
        Box{{3, 4, 5}, {1, 1, 0}, {2, 2, 5}}, Box{{3, 4, 5}, {0, 2, 1}, {3, 1, 4}}, Box{{3, 4}, {1, 4}, {2, 0}},
        Box{{3, 1, 4}, {1, 0, 1}, {1, 1, 2}}, Box{{}, {}, {}}}) {
    for (const DataType dtype : {DataType::Float(32), DataType::Int(8), DataType::Float(16)}) {
      const Constant data(Counting(whole, dtype));
      const Tensor result = SlicedData(data, begin, shape);
      ASSERT_TRUE(result.defined());
      const auto bytes = static_cast<size_t>(ElementBytes(dtype));
      for (int64_t i = 0; i < result.numel(); ++i) {
        int64_t at = 0, rest = i, step = 1;
        for (size_t axis = shape.size(); axis-- > 0; step *= whole[axis]) {
          at += (begin[axis] + rest % shape[axis]) * step;
          rest /= shape[axis];
        }
        const char* expected = static_cast<const char*>(data->data.data_ptr()) + static_cast<size_t>(at) * bytes;
        const char* made = static_cast<const char*>(result.data_ptr()) + static_cast<size_t>(i) * bytes;
        ASSERT_TRUE(std::equal(made, made + bytes, expected)) << i;
      }
    }
  }
}

TEST(FilledData, HasTheElementEverywhere) {
  for (const DataType dtype : {DataType::Float(32), DataType::Int(8), DataType::Float(16), DataType::Int(64)}) {
    const Constant one(Counting({1, 1}, dtype));
    const auto bytes = static_cast<size_t>(ElementBytes(dtype));
    // None, one, some, more than are copied at once, and enough for several threads.
    for (const auto& shape : std::vector<std::vector<int64_t>>{{0, 3}, {}, {5, 3}, {7, 1237}, {3, 1, 123457}}) {
      const Tensor result = FilledData(one, shape);
      ASSERT_TRUE(result.defined());
      EXPECT_EQ(std::vector<int64_t>(result.shape().begin(), result.shape().end()), shape);
      const auto* element = static_cast<const char*>(one->data.data_ptr());
      for (int64_t i = 0; i < result.numel(); ++i) {
        const char* made = static_cast<const char*>(result.data_ptr()) + static_cast<size_t>(i) * bytes;
        ASSERT_TRUE(std::equal(element, element + bytes, made)) << dtype.ToString() << " " << i;
      }
    }
  }
  EXPECT_FALSE(FilledData(Constant(Counting({2}, DataType::Float(32))), {4}).defined());
}

TEST(WidenedData, KeepsEveryNumberOrRefuses) {
  for (const DataType from :
       {DataType::Int(8), DataType::UInt(8), DataType::Int(16), DataType::UInt(16), DataType::Int(32),
        DataType::Int(64), DataType::Float(16), DataType::BFloat16(), DataType::Float(32)}) {
    const Tensor data = Counting({3, 5, 101}, from);
    for (const DataType to : {DataType::Int(32), DataType::Float(32), DataType::Int(64)}) {
      const Tensor result = WidenedData(Constant(data), to);
      const bool is_narrow = from.bits() == 16 && !from.is_integer();
      const bool is_known =
          is_narrow ? to == DataType::Float(32) : from.is_integer() && from.bits() <= 32 && to.bits() == 32;
      ASSERT_EQ(result.defined(), is_known) << from.ToString() << " to " << to.ToString();
      if (!is_known) continue;
      EXPECT_EQ(DataType(result.dtype()), to);
      ASSERT_EQ(result.numel(), data.numel());
      for (int64_t i = 0; i < data.numel(); ++i) {
        const char* const element = static_cast<const char*>(data.data_ptr()) + i * ElementBytes(from);
        const auto* const out = static_cast<const char*>(result.data_ptr()) + i * 4;
        if (is_narrow) {
          const double value = LoadFloat(element, from), got = LoadFloat(out, to);
          EXPECT_TRUE(got == value || (std::isnan(got) && std::isnan(value))) << value << " and " << got;
          continue;
        }
        const int64_t value = LoadInteger(element, from);
        if (to.is_float()) {
          EXPECT_EQ(LoadFloat(out, to), static_cast<double>(static_cast<float>(value)));
        } else {
          EXPECT_EQ(LoadInteger(out, to), value);
        }
      }
    }
  }
}

}  // namespace
}  // namespace deuteron::relax
