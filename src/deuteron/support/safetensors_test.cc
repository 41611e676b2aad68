#include "deuteron/support/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

using tvm::ffi::Tensor;

std::string File(const std::string& header, const std::string& data, int64_t length = -1) {
  const auto size = static_cast<uint64_t>(length < 0 ? static_cast<int64_t>(header.size()) : length);
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(size >> (8 * i) & 0xff));
  return bytes + header + data;
}

/// "kind: message" of reading `bytes`; empty if they are read.
std::string ErrorOf(const std::string& bytes) {
  try {
    const auto owner = std::make_shared<std::string>(bytes);
    ParseSafeTensors(*owner, "w", owner);
    return "";
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.kind()) + ": " + std::string(error.message());
  }
}

TEST(SafeTensors, RoundTripsEveryDtype) {
  NamedTensors tensors;
  for (const auto& [code, bits] : std::vector<std::pair<int, int>>{{kDLBool, 8},
                                                                   {kDLInt, 8},
                                                                   {kDLInt, 16},
                                                                   {kDLInt, 32},
                                                                   {kDLInt, 64},
                                                                   {kDLUInt, 8},
                                                                   {kDLUInt, 16},
                                                                   {kDLUInt, 32},
                                                                   {kDLUInt, 64},
                                                                   {kDLFloat, 16},
                                                                   {kDLFloat, 32},
                                                                   {kDLFloat, 64},
                                                                   {kDLBfloat, 16},
                                                                   {kDLFloat8_e4m3fn, 8},
                                                                   {kDLFloat8_e5m2, 8},
                                                                   {kDLFloat8_e8m0fnu, 8}}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{3, 5}, std::vector<int64_t>{}, std::vector<int64_t>{2, 0}}) {
      const DLDataType dtype{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
      Tensor tensor = EmptyHostTensor(shape, dtype);
      const int64_t bytes = CheckedByteSize(shape, dtype);
      for (int64_t i = 0; i < bytes; ++i)
        static_cast<char*>(tensor.data_ptr())[i] = static_cast<char>(17 * i + code + bits);
      tensors.emplace_back("layer \"" + std::to_string(tensors.size()) + "\" é", tensor);
    }
  }
  const TemporaryFolder folder;
  const std::string path = folder / "written.safetensors";
  WriteSafeTensors(path, tensors);
  NamedTensors read = ReadSafeTensors(path);
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const auto it =
        std::find_if(read.begin(), read.end(), [&, &wanted = name](const auto& item) { return item.first == wanted; });
    ASSERT_NE(it, read.end()) << name;
    const Tensor& other = it->second;
    EXPECT_EQ(other.dtype(), tensor.dtype()) << name;
    const std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    EXPECT_EQ(std::vector<int64_t>(other.shape().begin(), other.shape().end()), shape) << name;
    EXPECT_EQ(
        std::memcmp(other.data_ptr(), tensor.data_ptr(), static_cast<size_t>(CheckedByteSize(shape, tensor.dtype()))),
        0);
  }
}

TEST(SafeTensors, AreWrittenByThreadsAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder / "written.safetensors";
  const NamedTensors tensors = {{"x", EmptyHostTensor({100, 100}, {kDLFloat, 32, 1})}};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_NO_THROW(WriteSafeTensors(path, tensors));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadSafeTensors(path).size(), 1U);
}

TEST(SafeTensors, ReadsWhatIsNotAligned) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"I32","shape":[1],"data_offsets":[1,5]},"__metadata__":{"format":"pt"}})";
  const auto owner = std::make_shared<std::string>(File(header, std::string("\7\1\0\0\0", 5)));
  const NamedTensors read = ParseSafeTensors(*owner, "w", owner);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(*static_cast<const uint8_t*>(read[0].second.data_ptr()), 7);
  EXPECT_EQ(*static_cast<const int32_t*>(read[1].second.data_ptr()), 1);
  EXPECT_EQ(ErrorOf(File("{}", "")), "");
}

TEST(SafeTensors, RefusesWhatIsMalformed) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string data(8, '\0');
  EXPECT_EQ(ErrorOf(File(good, data)), "");
  const auto refuses = [](const std::string& bytes, const std::string& why) {
    EXPECT_EQ(ErrorOf(bytes), "ModelError: 'w' is no safetensors file: " + why);
  };
  const auto entry = [](const std::string& fields) { return R"({"a":{)" + fields + "}}"; };
  refuses("1234567", "it is shorter than the length of its header");
  refuses(File(good, data, int64_t{1} << 62), "its header is said to be 4611686018427387904 bytes long");
  refuses(File(good, "", 1000), "its header is cut off");
  refuses(File("", ""), "its header is no JSON object");
  refuses(File("[]", ""), "its header is no JSON object");
  refuses(File("{\"a\":", ""), "its header is malformed");
  refuses(File(R"({"a":{"dtype":"F32","shape":[[[[1]]]]}})", ""), "its header is malformed");
  refuses(File(good.substr(0, good.size() - 1) + "," + good.substr(1), data), "two tensors have the same name");
  refuses(File(good, data + "x"), "it holds 9 bytes of data, its tensors 8");
  refuses(File(good, data.substr(1)), "tensor \"a\": its data lies outside of the file");
  refuses(File(R"({"a":3})", ""), "tensor \"a\": there is no dtype");
  refuses(File(entry(R"("dtype":3)"), ""), "tensor \"a\": its dtype is no string");
  refuses(File(entry(R"("dtype":"F32","shape":2)"), ""), "tensor \"a\": its shape is no list");
  refuses(File(entry(R"("dtype":"F32","shape":[-2])"), ""), "tensor \"a\": an extent of its shape is no size");
  refuses(File(entry(R"("dtype":"F32","shape":[1.5])"), ""), "tensor \"a\": an extent of its shape is no size");
  refuses(File(entry(R"("dtype":"F32","shape":[18446744073709551615])"), ""),
          "tensor \"a\": an extent of its shape is no size");
  refuses(File(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), data),
          "tensor \"a\": data_offsets are no two positions");
  refuses(File(entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), data),
          "tensor \"a\": its data lies outside of the file");
  refuses(File(entry(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])"), ""),
          "tensor \"a\": the product of its dimensions overflows");
  refuses(File(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), data),
          "tensor \"a\": its shape takes 12 bytes, its data is 8");
  refuses(File(R"({"__metadata__":{"a":1}})", ""), "__metadata__ is no dictionary of strings");
  const std::string b = R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":)";
  refuses(File(good.substr(0, good.size() - 1) + b + "[4,8]}}", data), "tensor \"b\" overlaps the one before it");
  refuses(File(good.substr(0, good.size() - 1) + b + "[12,16]}}", data + data), "no tensor has the data before \"b\"");
  EXPECT_EQ(ErrorOf(File(entry(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])"), "x")),
            "UnsupportedError: 'w': tensor \"a\" is of dtype F4, which tensors cannot hold");
}

TEST(SafeTensors, RefusesFilesThatAreNotThere) {
  const TemporaryFolder folder;
  EXPECT_THROW(ReadSafeTensors(folder / "missing.safetensors"), tvm::ffi::Error);
  EXPECT_THROW(WriteSafeTensors(folder / "no/such/folder", {}), tvm::ffi::Error);
}

}  // namespace
}  // namespace deuteron
