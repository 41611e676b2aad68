#include "deuteron/support/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron {
namespace {

std::string TempPath(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("deuteron_" + name)).string();
}

void WriteFile(const std::string& path, const std::string& header, const std::string& data) {
  std::ofstream out(path, std::ios::binary);
  const char head[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(header.size()), 0};
  out.write(head, sizeof(head));
  out << header << data;
}

TEST(Npy, RoundTripsEveryRank) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{}, std::vector<int64_t>{5}, std::vector<int64_t>{2, 3}, std::vector<int64_t>{2, 0, 3}}) {
    auto tensor = EmptyHostTensor(shape, DLDataType{kDLFloat, 32, 1});
    const int64_t count = CheckedByteSize(shape, tensor.dtype()) / 4;
    for (int64_t i = 0; i < count; ++i) static_cast<float*>(tensor.data_ptr())[i] = static_cast<float>(i) + 0.5f;
    const std::string path = TempPath("round_trip.npy");
    WriteNpy(path, tensor);
    const auto read = ReadNpy(path);
    ASSERT_EQ(read.ndim(), static_cast<int>(shape.size()));
    for (size_t axis = 0; axis < shape.size(); ++axis) EXPECT_EQ(read.size(axis), shape[axis]);
    EXPECT_EQ(std::memcmp(read.data_ptr(), tensor.data_ptr(), count * 4), 0);
  }
}

TEST(Npy, TransposesColumnMajorFiles) {
  const std::string path = TempPath("fortran.npy");
  WriteFile(path, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\1\4\2\5\3\6", 6));
  const auto read = ReadNpy(path);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<int8_t*>(read.data_ptr())[i], i + 1);
}

TEST(Npy, RefusesWhatIsNoArray) {
  const std::string path = TempPath("bad.npy");
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
  EXPECT_THROW(ReadNpy(TempPath("missing.npy")), tvm::ffi::Error);
}

}  // namespace
}  // namespace deuteron
