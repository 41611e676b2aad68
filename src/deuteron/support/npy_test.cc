#include "deuteron/support/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

void WriteFile(const std::string& path, const std::string& header, const std::string& data) {
  std::ofstream out(path, std::ios::binary);
  const char head[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(header.size()), 0};
  out.write(head, sizeof(head));
  out << header << data;
}

TEST(Npy, RoundTripsEveryRank) {
  const TemporaryFolder folder;
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{}, std::vector<int64_t>{5}, std::vector<int64_t>{2, 3}, std::vector<int64_t>{2, 0, 3}}) {
    auto tensor = EmptyHostTensor(shape, DLDataType{kDLFloat, 32, 1});
    const int64_t count = CheckedByteSize(shape, tensor.dtype()) / 4;
    for (int64_t i = 0; i < count; ++i) static_cast<float*>(tensor.data_ptr())[i] = static_cast<float>(i) + 0.5f;
    const std::string path = folder / "written.npy";
    WriteNpy(path, tensor);
    const auto read = ReadNpy(path);
    ASSERT_EQ(read.ndim(), static_cast<int>(shape.size()));
    for (size_t axis = 0; axis < shape.size(); ++axis) EXPECT_EQ(read.size(axis), shape[axis]);
    EXPECT_EQ(std::memcmp(read.data_ptr(), tensor.data_ptr(), count * 4), 0);
  }
}

TEST(Npy, TypesWithoutANameInNumpy) {
  const TemporaryFolder folder;
  const std::string path = folder / "untyped.npy";
  const auto type = [](int code, int bits) {
    return DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  };
  for (const DLDataType dtype :
       {type(kDLInt, 4), type(kDLUInt, 2), type(kDLFloat8_e4m3fn, 8), type(kDLFloat4_e2m1fn, 4)}) {
    auto tensor = EmptyHostTensor({3}, dtype);
    std::memcpy(tensor.data_ptr(), "\1\2\3", 3);
    WriteNpy(path, tensor);
    const auto read = ReadNpy(path, dtype);
    EXPECT_EQ(read.dtype().code, dtype.code);
    EXPECT_EQ(read.dtype().bits, dtype.bits);
    EXPECT_EQ(std::memcmp(read.data_ptr(), "\1\2\3", 3), 0);
    EXPECT_THROW(ReadNpy(path), tvm::ffi::Error);
    EXPECT_THROW(ReadNpy(path, type(kDLFloat, 32)), tvm::ffi::Error);
  }
  WriteFile(path, "{'descr': '<f1', 'fortran_order': True, 'shape': (1, 2), }\n", "ab");
  EXPECT_EQ(ReadNpy(path).dtype().code, kDLFloat8_e5m2);
  WriteFile(path, "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }\n", "ab");
  EXPECT_EQ(ReadNpy(path, type(kDLInt, 4)).dtype().code, kDLBfloat);
}

TEST(Npy, TransposesColumnMajorFiles) {
  const TemporaryFolder folder;
  const std::string path = folder / "fortran.npy";
  WriteFile(path, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\1\4\2\5\3\6", 6));
  const auto read = ReadNpy(path);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<int8_t*>(read.data_ptr())[i], i + 1);
}

TEST(Npy, RefusesWhatIsNoArray) {
  const TemporaryFolder folder;
  const std::string path = folder / "bad.npy";
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n";
  for (const auto& [header, data] : std::vector<std::pair<std::string, std::string>>{
           {good, "too short"},
           {"{'descr': '<f4', 'fortran_order': False}", ""},
           {"{'descr': '<U4', 'fortran_order': False, 'shape': (3,), }", "abcdefghijkl"},
           {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", ""}}) {
    WriteFile(path, header, data);
    try {
      ReadNpy(path);
      ADD_FAILURE() << header;
    } catch (const tvm::ffi::Error& error) {
      EXPECT_EQ(error.kind(), "UsageError") << header;
    }
  }
  EXPECT_THROW(ReadNpy(folder / "missing.npy"), tvm::ffi::Error);
}

}  // namespace
}  // namespace deuteron
