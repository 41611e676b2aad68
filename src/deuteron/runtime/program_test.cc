#include "deuteron/runtime/program.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/program_test_util.h"
#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/error.h"
#include "deuteron/support/write_file.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron::runtime {
namespace {

constexpr DLDataType kFloat32{kDLFloat, 32, 1};

/// y = x + w, of shape (n, 2), through a temporary in the arena; the second output is the shape's n doubled.
Program SampleProgram() {
  Program program;
  program.strings = {"input 'x'", "n", "2", "/add"};
  TypeSpec bind{.kind = TypeSpec::kTensor, .dtype = kFloat32, .has_dims = true, .ndim = 2};
  bind.dims = {{DimSpec::kBind, 1, 1}, {DimSpec::kCheck, 0, 2}};
  TypeSpec make = bind;
  make.dims[0].kind = DimSpec::kCheck;
  TypeSpec pair{.kind = TypeSpec::kTuple};
  pair.fields = {1, 1};
  program.types = {bind, make, pair};
  program.kernels = {{"copy", 2, 1}, {"add", 3, 1}};
  program.constants = {{kFloat32, {2}, 0}};
  program.weights_bytes = 8;
  FunctionSpec& f = program.functions.emplace_back();
  f.name = "main";
  f.input_names = {"x"};
  f.output_names = {"y", "z"};
  f.input_types = {0};
  f.output_type = 2;
  f.num_objects = 4;
  f.num_slots = 4;
  f.num_cells = 5;
  f.cell_constants = {{0, 2}, {2, 64}, {4, 0}};
  f.arena_size = 3;
  f.arena_slots = {{1, 4}};
  f.constant_slots = {{2, 0}};
  f.code = {
      Word(Opcode::kMatch, 4),
      0,
      0,
      0,
      1,
      Word(Opcode::kArith, 5),
      static_cast<uint32_t>(ArithOp::kMul),
      3,
      1,
      2,
      0,
      Word(Opcode::kEnter, 0),
      Word(Opcode::kLoad, 2),
      0,
      0,
      Word(Opcode::kKernel, 4),
      0,
      0,
      1,
      1,
      Word(Opcode::kAlloc, 4),
      3,
      1,
      1,
      1,
      Word(Opcode::kKernel, 5),
      1,
      1,
      2,
      3,
      1,
      Word(Opcode::kCopy, 2),
      2,
      0,
      Word(Opcode::kTuple, 3),
      3,
      1,
      2,
      Word(Opcode::kReturn, 1),
      3,
  };
  f.sources = {{20, 3}};
  return program;
}

int CopyKernel(const DeuteronContext*, void** data, const int64_t* scalars) {
  std::copy_n(static_cast<float*>(data[0]), scalars[0] * 2, static_cast<float*>(data[1]));
  return 0;
}

int AddKernel(const DeuteronContext* context, void** data, const int64_t* scalars) {
  if (scalars[0] == 13) {
    context->set_error(context, "unlucky");
    return 1;
  }
  struct Closure {
    const float *x, *w;
    float* y;
  } closure{static_cast<float*>(data[0]), static_cast<float*>(data[1]), static_cast<float*>(data[2])};
  return context->parallel_for(
      context, scalars[0], 1,
      [](void* raw, int64_t begin, int64_t end) {
        const auto* c = static_cast<Closure*>(raw);
        for (int64_t i = begin * 2; i < end * 2; ++i) c->y[i] = c->x[i] + c->w[i % 2];
        return 0;
      },
      &closure);
}

std::shared_ptr<const Executable> SampleExecutable(Program program = SampleProgram()) {
  alignas(64) static const float weights[] = {10, 20};
  Executable::Parts parts;
  parts.program = std::move(program);
  parts.kernels = {CopyKernel, AddKernel};
  parts.weights = {weights};
  return std::make_shared<const Executable>(std::move(parts));
}

Tensor Sequence(std::vector<int64_t> shape) {
  Tensor tensor = AllocTensor(shape, kFloat32);
  for (int64_t i = 0; i < tensor.numel(); ++i) static_cast<float*>(tensor.data_ptr())[i] = i;
  return tensor;
}

void ExpectSample(const std::vector<Tensor>& out, int64_t n) {
  ASSERT_EQ(out.size(), 2u);
  ASSERT_EQ(out[0].size(0), n);
  for (int64_t i = 0; i < 2 * n; ++i) {
    ASSERT_EQ(static_cast<float*>(out[0].data_ptr())[i], i + (i % 2 == 0 ? 10 : 20));
    ASSERT_EQ(static_cast<float*>(out[1].data_ptr())[i], i);
  }
}

template <typename Body>
std::string ErrorOf(Body body, const char* kind) {
  try {
    body();
  } catch (const tvm::ffi::Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.message();
    return std::string(error.message());
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Instance, RunsAtSeveralSizes) {
  Instance instance(SampleExecutable(), {.threads = 2});
  for (const int64_t n : {3, 1, 100, 0, 7}) ExpectSample(instance.Run("main", {Sequence({n, 2})}), n);
  EXPECT_GE(instance.memory().arena_bytes, 100 * 64);
  EXPECT_EQ(instance.memory().weights_bytes, 8);
}

TEST(Instance, WritesIntoTensorsOfTheCaller) {
  Instance instance(SampleExecutable());
  const std::vector<Tensor> out = {AllocTensor({5, 2}, kFloat32), AllocTensor({5, 2}, kFloat32)};
  const std::vector<Tensor> in = {Sequence({5, 2})};
  instance.RunInto("main", in, out);
  ExpectSample(out, 5);
  const std::vector<Tensor> wrong = {AllocTensor({5, 2}, kFloat32), AllocTensor({4, 2}, kFloat32)};
  const std::string message = ErrorOf([&] { instance.RunInto("main", in, wrong); }, "UsageError");
  EXPECT_NE(message.find("float32[4, 2]"), std::string::npos) << message;
}

TEST(Instance, WritesNoPlaceTwice) {
  Instance instance(SampleExecutable());
  const std::vector<Tensor> in = {Sequence({5, 2})};
  const Tensor whole = AllocTensor({5, 4}, kFloat32), apart = AllocTensor({5, 2}, kFloat32);
  const int64_t shape[] = {5, 2}, columns[] = {4, 1}, same_row[] = {0, 1}, steps[] = {1, 1};
  const auto view = [&](const int64_t(&strides)[2], int64_t offset = 0) {
    return whole.as_strided({shape, 2}, {strides, 2}, offset);
  };
  const std::vector<Tensor> beside = {view(columns), view(columns, 2)};
  instance.RunInto("main", in, beside);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(static_cast<float*>(whole.data_ptr())[i / 2 * 4 + 2 + i % 2], i);
  for (const Tensor& wrong : {view(same_row), view(steps)}) {
    const std::vector<Tensor> out = {apart, wrong};
    const std::string message = ErrorOf([&] { instance.RunInto("main", in, out); }, "UsageError");
    EXPECT_NE(message.find("output 1 of main, float32[5, 2], has several elements at one place"), std::string::npos)
        << message;
  }
  const std::vector<Tensor> twice = {apart, apart};
  const std::string message = ErrorOf([&] { instance.RunInto("main", in, twice); }, "UsageError");
  EXPECT_NE(message.find("outputs 0 and 1 of main overlap"), std::string::npos) << message;
}

TEST(Instance, WritesOverAnInput) {
  Instance instance(SampleExecutable());
  // The second result is the input.
  const std::vector<Tensor> in = {Sequence({5, 2})};
  const std::vector<Tensor> out = {in[0], AllocTensor({5, 2}, kFloat32)};
  instance.RunInto("main", in, out);
  ExpectSample(out, 5);
}

TEST(Instance, CopiesInputsThatAreStridedOrNotAligned) {
  Instance instance(SampleExecutable());
  Tensor wide = AllocTensor({3, 8}, kFloat32);
  for (int i = 0; i < 24; ++i) static_cast<float*>(wide.data_ptr())[i] = -1;
  for (int i = 0; i < 6; ++i) static_cast<float*>(wide.data_ptr())[i / 2 * 8 + 1 + i % 2] = i;
  const int64_t shape[] = {3, 2}, strides[] = {8, 1};
  const Tensor view = wide.as_strided({shape, 2}, {strides, 2}, 1);
  ExpectSample(instance.Run("main", {view}), 3);
}

TEST(Instance, SaysWhatIsWrongWithAnInput) {
  Instance instance(SampleExecutable());
  const std::string rank = ErrorOf([&] { instance.Run("main", {Sequence({3})}); }, "UsageError");
  EXPECT_NE(rank.find("input 'x': expected rank 2"), std::string::npos) << rank;
  const std::string dim = ErrorOf([&] { instance.Run("main", {Sequence({3, 4})}); }, "UsageError");
  EXPECT_NE(dim.find("input 'x', dimension 1: expected 2, got 4"), std::string::npos) << dim;
  const std::string dtype = ErrorOf(
      [&] {
        instance.Run("main", {AllocTensor({3, 2}, DLDataType{kDLInt, 32, 1})});
      },
      "UsageError");
  EXPECT_NE(dtype.find("int32"), std::string::npos) << dtype;
  const std::string count = ErrorOf([&] { instance.Run("main", std::vector<Tensor>()); }, "UsageError");
  EXPECT_NE(count.find("takes 1"), std::string::npos) << count;
  const std::string name = ErrorOf([&] { instance.Run(NamedTensors{{"y", Sequence({3, 2})}}); }, "UsageError");
  EXPECT_NE(name.find("the inputs are: x"), std::string::npos) << name;
  const std::string function = ErrorOf([&] { instance.Run("train", {Sequence({3, 2})}); }, "UsageError");
  EXPECT_NE(function.find("it has: main"), std::string::npos) << function;
}

TEST(Instance, ReportsTheKernelThatFailedAndRunsOn) {
  Instance instance(SampleExecutable(), {.threads = 2});
  const std::string message = ErrorOf([&] { instance.Run("main", {Sequence({13, 2})}); }, "UsageError");
  EXPECT_NE(message.find("add"), std::string::npos) << message;
  EXPECT_NE(message.find("unlucky"), std::string::npos) << message;
  ExpectSample(instance.Run("main", {Sequence({2, 2})}), 2);
}

TEST(Instance, ProfilesKernels) {
  Instance instance(SampleExecutable());
  std::vector<std::string> kernels;
  instance.SetProfiler([&](const KernelEvent& event) { kernels.emplace_back(event.kernel); });
  instance.Run("main", {Sequence({2, 2})});
  EXPECT_EQ(kernels, (std::vector<std::string>{"copy", "add"}));
  instance.SetProfiler(nullptr);
  instance.Run("main", {Sequence({2, 2})});
  EXPECT_EQ(kernels.size(), 2u);
}

TEST(AlignedMemory, RecyclesLargeBlocksOfAboutTheSize) {
  void* first = AllocAligned(5 << 20);
  FreeAligned(first);
  void* other = AllocAligned(40 << 20);
  void* again = AllocAligned((5 << 20) - 100);
  EXPECT_EQ(again, first);
  EXPECT_NE(other, first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(other) % kAlignment, 0u);
  FreeAligned(again);
  FreeAligned(other);
  FreeAligned(nullptr);
  EXPECT_EQ(AllocAligned(INT64_MAX), nullptr);
  EXPECT_EQ(AllocAligned(int64_t{1} << 52), nullptr);
}

TEST(Executable, TellsInputsAndOutputs) {
  const auto inputs = SampleExecutable()->Inputs("main");
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].shape, (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(inputs[0].dims, (std::vector<std::string>{"n", "2"}));
  EXPECT_EQ(SampleExecutable()->Outputs("main").size(), 2u);
}

/// A number of a tensor whose elements are wider than a cell, and a dimension that nothing is said of: nothing is read
/// or written beside them.
TEST(Executable, ReadsNothingBesideWhatAProgramSays) {
  Program program = SampleProgram();
  program.types.push_back(
      {.kind = TypeSpec::kTensor, .dtype = kFloat32, .has_dims = true, .ndim = 1, .dims = {DimSpec{.text = 99}}});
  FunctionSpec& f = program.functions[0];
  f.input_types = {3};
  f.output_type = 3;
  f.code = {Word(Opcode::kLoadScalar, 2), 1, 0, Word(Opcode::kIf, 2), 0, 0, Word(Opcode::kReturn, 1), 0};
  const auto executable = SampleExecutable(program);
  EXPECT_EQ(executable->Inputs("main")[0].dims, (std::vector<std::string>{"?"}));
  Instance instance(executable);
  for (const DLDataType dtype :
       {DLDataType{kDLFloat, 32, 4}, DLDataType{kDLComplex, 128, 1}, DLDataType{kDLInt, 64, 2}}) {
    EXPECT_THROW(instance.Run("main", {AllocTensor({1}, dtype)}), tvm::ffi::Error);
  }
  program.functions[0].code = {Word(Opcode::kIf, 2), 0, 0, Word(Opcode::kReturn, 1), 0};
  Instance branches(SampleExecutable(program));
  EXPECT_THROW(branches.Run("main", {AllocTensor({1}, DLDataType{kDLInt, 64, 2})}), tvm::ffi::Error);
  EXPECT_EQ(branches.Run("main", {AllocTensor({1}, kFloat32)}).size(), 1U);
}

TEST(Program, SurvivesSerialisation) {
  const Program program = SampleProgram();
  const std::string bytes = Serialize(program);
  const Program again = Deserialize(bytes);
  EXPECT_EQ(Serialize(again), bytes);
  EXPECT_EQ(Disassemble(again), Disassemble(program));
  Verify(again);
}

TEST(Program, TruncatedBytesAreRefused) {
  const std::string bytes = Serialize(SampleProgram());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(Deserialize(bytes.substr(0, length)), tvm::ffi::Error) << length;
  }
  EXPECT_THROW(Deserialize(bytes + "x"), tvm::ffi::Error);
}

TEST(Program, MutatedBytesNeverCrashTheReaderOrTheVerifier) {
  const std::string bytes = Serialize(SampleProgram());
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string mutated = bytes;
    for (int k = 1 + static_cast<int>(random() % 3); k > 0; --k) {
      mutated[random() % mutated.size()] = static_cast<char>(random());
    }
    try {
      const Program program = Deserialize(mutated);
      Verify(program);
      Disassemble(program);
    } catch (const tvm::ffi::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000);
}

TEST(Verifier, RefusesEachKindOfBadOperand) {
  const auto refuses = [](const std::function<void(Program*)>& damage) {
    Program program = SampleProgram();
    damage(&program);
    EXPECT_THROW(Verify(program), tvm::ffi::Error) << Disassemble(program);
  };
  const auto code = [](size_t word, uint32_t value) {
    return [word, value](Program* program) { program->functions[0].code[word] = value; };
  };
  refuses(code(1, 4));                               // object
  refuses(code(2, 9));                               // type
  refuses(code(3, 99));                              // string
  refuses(code(6, 77));                              // arithmetic operation
  refuses(code(7, 0));                               // writes a constant cell
  refuses(code(8, 5));                               // cell
  refuses(code(13, 4));                              // slot
  refuses(code(16, 2));                              // kernel
  refuses(code(15, Word(Opcode::kKernel, 3)));       // arguments
  refuses(code(24, 3));                              // output
  refuses(code(23, 2));                              // allocation by a tuple
  refuses(code(0, Word(Opcode::kMatch, 4) | 0xff));  // opcode
  refuses([](Program* p) { p->functions[0].code.resize(p->functions[0].code.size() - 2); });
  refuses([](Program* p) { p->functions[0].code.clear(); });
  refuses([](Program* p) { p->constants[0].offset = 64; });
  refuses([](Program* p) { p->constants[0].shape = {INT64_MAX, 8}; });
  refuses([](Program* p) { p->types[2].fields = {2}; });
  refuses([](Program* p) { p->functions[0].arena_slots[0].slot = 4; });
  refuses([](Program* p) {
    auto& code = p->functions[0].code;
    const std::vector<uint32_t> jump = {Word(Opcode::kJump, 1), 1};
    code.insert(code.begin(), jump.begin(), jump.end());  // into the middle of an instruction
  });
}

/// A model in a folder.
class ArtifactTest : public testing::Test {
 protected:
  void SetUp() override {
    // Only constants: no machine code, hence no shared object.
    Program program = SampleProgram();
    program.kernels.clear();
    FunctionSpec& f = program.functions[0];
    f.sources.clear();
    f.code = {Word(Opcode::kMatch, 4),  0, 0, 0, 1, Word(Opcode::kConst, 2), 1, 0, Word(Opcode::kCopy, 2), 2, 1,
              Word(Opcode::kReturn, 1), 2};
    static const float weights[] = {10, 20};
    path_ = (directory_ / "model.so").string();
    WriteArtifact(path_, "", program,
                  {.cpu_features = {}, .target = "t", .plugins = {}, .notes = "{\n\"a\": \"\\n\"}\n"},
                  [](size_t) -> const void* { return weights; });
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::string Write(const std::string& bytes) {
    const std::string path = (directory_ / "changed.so").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path directory_ = temporary_.path();
  std::string path_;
  std::string bytes_;
};

TEST_F(ArtifactTest, LoadsAndRuns) {
  const auto executable = Executable::Load(path_, {.verify_weights = true});
  EXPECT_EQ(executable->manifest().target, "t");
  EXPECT_EQ(executable->manifest().notes, "{\n\"a\": \"\\n\"}\n");
  const auto out = Instance(executable).Run("main", {Sequence({1, 2})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(static_cast<float*>(out[0].data_ptr())[1], 20);
}

TEST_F(ArtifactTest, RefusesEveryTruncationAndEveryFlippedByte) {
  for (size_t length = 0; length < bytes_.size(); length += 1 + bytes_.size() / 97) {
    ErrorOf([&] { Executable::Load(Write(bytes_.substr(0, length))); }, "ModelError");
  }
  // All but the padding before the weights, which nobody reads.
  const Program program = Executable::Load(path_)->program();
  for (size_t i = 0; i < bytes_.size(); i += 7) {
    std::string mutated = bytes_;
    mutated[i] ^= 0x40;
    try {
      Executable::Load(Write(mutated), {.verify_weights = true});
      EXPECT_EQ(bytes_[i], 0) << "byte " << i;
    } catch (const tvm::ffi::Error& error) {
      EXPECT_EQ(error.kind(), "ModelError");
    }
  }
}

TEST_F(ArtifactTest, ADamagedWeightIsAnErrorOfTheRunThatReadsIt) {
  std::string mutated = bytes_;
  mutated[ReadArtifact(bytes_, path_).weights.data() - bytes_.data()] ^= 1;
  const auto executable = Executable::Load(Write(mutated));
  const std::string message = ErrorOf([&] { Instance(executable).Run("main", {Sequence({1, 2})}); }, "ModelError");
  EXPECT_NE(message.find("changed.so is damaged: the checksum of constant 0 (float32 [2]) differs"), std::string::npos)
      << message;
}

TEST_F(ArtifactTest, SharesAFileOfWeights) {
  const auto in = [&](const char* name) { return (directory_ / name).string(); };
  const auto second = [&](const std::string& path, const LoadOptions& options = {.verify_weights = true}) {
    const auto out = Instance(Executable::Load(path, options)).Run("main", {Sequence({1, 2})});
    return static_cast<float*>(out.at(0).data_ptr())[1];
  };
  const auto write = [&](const std::string& path, const float* weights, const char* to = "all.safetensors") {
    const ArtifactParts parts = ReadArtifact(bytes_, path_);
    WriteArtifact(
        path, "", parts.program, parts.manifest, [=](size_t) { return weights; }, in(to));
  };
  const float ours[] = {10, 20}, others[] = {30, 40};
  write(in("a.so"), ours);
  const auto alone = std::filesystem::file_size(in("all.safetensors"));
  write(in("again.so"), ours);
  EXPECT_EQ(std::filesystem::file_size(in("all.safetensors")), alone);
  const auto still_mapped = Executable::Load(in("a.so"));
  write(in("b.so"), others);
  EXPECT_LT(std::filesystem::file_size(in("a.so")), bytes_.size());
  EXPECT_EQ(second(in("a.so")), 20);
  EXPECT_EQ(second(in("again.so")), 20);
  EXPECT_EQ(second(in("b.so")), 40);
  write(in("no_utf8.so"), ours, "\xff.safetensors");
  EXPECT_EQ(second(in("no_utf8.so")), 20);
  EXPECT_EQ(static_cast<float*>(Instance(still_mapped).Run("main", {Sequence({1, 2})}).at(0).data_ptr())[1], 20);

  // Elsewhere, missing, of another model, damaged.
  std::filesystem::rename(in("all.safetensors"), in("moved.safetensors"));
  std::string message = ErrorOf([&] { Executable::Load(in("a.so")); }, "ModelError");
  EXPECT_NE(message.find("a.so has its weights in " + in("all.safetensors") + ", which does not exist"),
            std::string::npos)
      << message;
  EXPECT_EQ(second(in("a.so"), {.weights_file = in("moved.safetensors")}), 20);
  const float neither[] = {1, 2};
  write(in("c.so"), neither);
  message = ErrorOf([&] { Executable::Load(in("a.so")); }, "ModelError");
  EXPECT_NE(message.find("has no tensor \"float32_2_"), std::string::npos) << message;
  std::ifstream file(in("moved.safetensors"), std::ios::binary);
  std::string damaged(std::istreambuf_iterator<char>(file), {});
  damaged[damaged.size() - 1] ^= 1;
  const LoadOptions verified{.verify_weights = true, .weights_file = Write(damaged)};
  for (const char* path : {"a.so", "b.so"}) {
    try {
      second(in(path), verified);
    } catch (const tvm::ffi::Error& error) {
      message = error.message();
    }
  }
  EXPECT_NE(message.find("is damaged: the checksum of tensor \"float32_2_"), std::string::npos) << message;
}

TEST_F(ArtifactTest, RefusesACpuThatLacksAFeature) {
  Program program;
  WriteArtifact(path_, "", program, {.cpu_features = {"warp-drive"}, .target = "", .plugins = {}, .notes = ""},
                [](size_t) -> const void* { return nullptr; });
  const std::string message = ErrorOf([&] { Executable::Load(path_); }, "UnsupportedError");
  EXPECT_NE(message.find("warp-drive"), std::string::npos) << message;
}

TEST_F(ArtifactTest, RefusesCodeOfAnotherUser) {
  const std::string path = Write(bytes_);
  if (chown(path.c_str(), 12345, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "only root gives files away";
  const std::string message = ErrorOf([&] { Executable::Load(path); }, "UnsupportedError");
  EXPECT_NE(message.find("belongs to user 12345"), std::string::npos) << message;
  EXPECT_NE(message.find("DEUTERON_TRUSTED_OWNERS=12345"), std::string::npos) << message;
  for (const char* others : {"", "1234", "123456", "1,2"}) {
    setenv("DEUTERON_TRUSTED_OWNERS", others, 1);
    ErrorOf([&] { Executable::Load(path); }, "UnsupportedError");
  }
  setenv("DEUTERON_TRUSTED_OWNERS", "1,12345", 1);
  EXPECT_NE(Executable::Load(path), nullptr);
  unsetenv("DEUTERON_TRUSTED_OWNERS");
}

TEST_F(ArtifactTest, NamesAMissingPlugin) {
  Program program;
  WriteArtifact(path_, "", program, {.cpu_features = {}, .target = "", .plugins = {"no_such"}, .notes = ""},
                [](size_t) -> const void* { return nullptr; });
  const std::string message = ErrorOf([&] { Executable::Load(path_); }, "UnsupportedError");
  EXPECT_NE(message.find("no_such"), std::string::npos) << message;
}

TEST_F(ArtifactTest, NamesWhatCannotBeWritten) {
  const auto error_of = [&](const std::string& path) {
    const auto write = [&] { WriteArtifact(path, "", Program(), {}, [](size_t) -> const void* { return nullptr; }); };
    return ErrorOf(write, "UsageError");
  };
  const std::string folder = directory_.string();
  EXPECT_EQ(error_of(folder + "/no/model.so"),
            "cannot write " + folder + "/no/model.so: the folder " + folder + "/no does not exist");
  std::filesystem::create_directory(folder + "/folder.so");
  EXPECT_EQ(error_of(folder + "/folder.so"), "cannot write " + folder + "/folder.so: Is a directory");
  // Nothing half written is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 2);
}

TEST_F(ArtifactTest, IsWrittenIntoAPipe) {
  const std::string pipe = (directory_ / "pipe.so").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  // Nobody waits for who would write it.
  ErrorOf([&] { Executable::Load(pipe); }, "ModelError");
  std::ostringstream read;
  std::thread reader([&] { read << std::ifstream(pipe, std::ios::binary).rdbuf(); });
  WriteArtifact(pipe, "", Program(), {}, [](size_t) -> const void* { return nullptr; });
  reader.join();
  EXPECT_NO_THROW(Executable::Load(Write(read.str())));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(ArtifactTest, IsWrittenByThreadsAtOnce) {
  const std::string path = (directory_ / "at_once.so").string();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&path] {
      const auto write = [&] { WriteArtifact(path, "", Program(), {}, [](size_t) -> const void* { return nullptr; }); };
      for (int turn = 0; turn < 50; ++turn) EXPECT_NO_THROW(write());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NO_THROW(Executable::Load(path));
}

/// By which name it is found and removed (docs/cache.md).
TEST_F(ArtifactTest, APartIsWhatAKilledWriterLeaves) {
  const auto write_more_than_may_be = [&] {
    const rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    WriteArtifact((directory_ / "new.so").string(), std::string(1 << 20, 'x'), Program(), {}, {});
  };
  EXPECT_EXIT(write_more_than_may_be(), testing::KilledBySignal(SIGXFSZ), "");
  int parts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    if (entry.path() == path_) continue;
    EXPECT_EQ(entry.path().extension(), kUnfinishedSuffix);
    ++parts;
  }
  EXPECT_EQ(parts, 1);
}

TEST(Load, SaysWhatIsNoModel) {
  EXPECT_NE(ErrorOf([] { Executable::Load("/nonexistent/model.so"); }, "ModelError").find("No such file"),
            std::string::npos);
  ErrorOf([] { Executable::Load("/"); }, "ModelError");
}

}  // namespace
}  // namespace deuteron::runtime
