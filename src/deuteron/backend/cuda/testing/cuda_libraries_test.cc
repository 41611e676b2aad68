/// \file
/// The libraries on NVIDIA GPUs: sources compile where there is nvcc, models compile and say what is missing at run
/// time, and results agree with the interpreter's where there is a device.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/backend/source/compile_source.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/testing/library_cases.h"
#include "deuteron/testing/temporary_folder.h"
#include "deuteron/testing/whole.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

/// Why no device can be used; empty if one can.
std::string DeviceProblem() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return "there is no CUDA driver";
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0 || devices == 0)
    return "there is no CUDA device";
  return "";
}

/// CUTLASS's templates take nvcc 20 seconds each: these have more of what others have, and are for `./dev test
/// --whole`.
bool IsLeftOut(const std::string& name) {
  static const std::set<std::string> kMore = {"residual", "integers", "unpacked", "convolution"};
  return IsOnlyWhole(name, kMore);
}

/// Tests with a cache of their own.
class CudaLibraries : public testing::TestWithParam<size_t> {
 protected:
  CudaLibraries() { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  const TemporaryFolder folder_;
};

/// Why models cannot be compiled for a library.
std::string Missing(const std::string& library) {
  const auto& missing = backend::GetBackend(library).codegen.missing;
  return missing ? missing() : "";
}

TEST_P(CudaLibraries, CompileAndAgree) {
  const LibraryCase test = LibraryCases()[GetParam()];
  if (test.library == std::string("cutlass") && IsLeftOut(test.name)) GTEST_SKIP() << kOnlyWhole;
  if (const std::string missing = Missing(test.library); !missing.empty()) GTEST_SKIP() << missing;
  const Executable executable = Compile(test.module, {.threads = 1, .backend = test.library});
  EXPECT_FALSE(executable.runtime()->program().externals.empty());
  const std::string path = folder_ / "model.so";
  executable.Save(path);
  const Executable loaded = Executable::Load(path);
  const bool interpreted = std::string(test.name) != "dequantized" && std::string(test.name) != "scaled";
  if (!interpreted) GTEST_SKIP() << "8-bit floats: nothing to compare with";
  Arguments arguments = RandomArguments(test.module, 1, 3);
  std::vector<Tensor> inputs = TensorsOf(arguments);
  for (Tensor& input : inputs) {
    // Where sequences begin.
    if (input.numel() != 4 || !(DataType(input.dtype()) == DataType::Int(32))) continue;
    const int32_t starts[] = {0, 1, 1, 3};
    std::copy(std::begin(starts), std::end(starts), static_cast<int32_t*>(input.data_ptr()));
  }
  if (const std::string problem = DeviceProblem(); !problem.empty()) {
    const std::string error = ErrorOf([&] { loaded.Run(inputs); });
    EXPECT_EQ(error.rfind("UnsupportedError: ", 0), 0u) << error;
    EXPECT_NE(error.find("needs a CUDA device, and there is none"), std::string::npos) << error;
    GTEST_SKIP() << problem << ": compiled and loaded only";
  }
  EXPECT_EQ(CompareResults(Interpret(test.module, arguments), loaded.Run(inputs), 1e-4).problem, "");
}

INSTANTIATE_TEST_SUITE_P(All, CudaLibraries, testing::Range(size_t{0}, LibraryCases().size()), [](const auto& info) {
  const LibraryCase test = LibraryCases()[info.param];
  return std::string(test.library) + "_" + test.name;
});

TEST(CudaCompiler, IsNamedIfItIsMissing) {
  const IRModule module = MakeModule("x: " + Typed("8, 8") + ", w: " + Typed("8, 8"), {"gv = R.matmul(x, w)"});
  const char* before = std::getenv("NVCC");
  const std::string saved = before == nullptr ? "" : before;
  setenv("NVCC", "no-such-compiler", 1);
  const std::string error = ErrorOf([&] { Compile(module, {.backend = "cutlass"}); });
  before == nullptr ? unsetenv("NVCC") : setenv("NVCC", saved.c_str(), 1);
  EXPECT_EQ(error.rfind("UnsupportedError: ", 0), 0u) << error;
  EXPECT_NE(error.find("there is no CUDA compiler: install NVIDIA's CUDA toolkit"), std::string::npos) << error;
}

}  // namespace
}  // namespace deuteron
