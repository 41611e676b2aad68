#include "deuteron/target/target.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "deuteron/support/error.h"
#include "deuteron/target/cpu_table.h"
#include "deuteron/target/gpu_table.h"

namespace deuteron {
namespace {

std::string ErrorOf(const char* text) {
  try {
    Target::Parse(text);
  } catch (const tvm::ffi::Error& error) {
    EXPECT_EQ(error.kind(), "UsageError");
    return std::string(error.message());
  }
  return "";
}

TEST(Target, TextRoundTrips) {
  for (const char* text :
       {"native", "native -l2-bytes=1048576 -threads=3", "native -mattr=-fma", "llvm", "llvm -mcpu=x86-64-v4",
        "llvm -mcpu=znver4 -mattr=-avx512bf16,+tbm -vector-bits=256 -l3-bytes=0", "llvm -mtriple=aarch64-linux-gnu",
        "llvm -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -page-bytes=65536 -ghz=1.8",
        "llvm -mcpu=x86-64-v4 -threads=16 -cores=8 -memory-gbps=21.5", "llvm -mcpu=sapphirerapids -f32-ops=32.25"}) {
    const Target target = Target::Parse(text);
    EXPECT_EQ(Target::Parse(target.ToString()), target) << text << " became " << target.ToString();
  }
  EXPECT_EQ(Target::Parse("llvm -mcpu=x86-64-v4 -num-cores=2 -l2-bytes=2M -l2-ways=16").ToString(),
            "llvm -mcpu=x86-64-v4 -l2-bytes=2097152 -threads=2");
  EXPECT_EQ(Target::Host().ToString(), "native");
  EXPECT_EQ(Target().ToString(), "llvm");
}

TEST(Target, HasShortNames) {
  EXPECT_EQ(Target::Parse("x86-64-v3"), Target::Parse("llvm -mcpu=x86-64-v3"));
  EXPECT_EQ(Target::Parse("x86-64-v3 -l2-bytes=2M"), Target::Parse("llvm -mcpu=x86-64-v3 -l2-bytes=2M"));
  const Target raspberry = Target::Parse("cortex-a72");
  EXPECT_EQ(raspberry, Target::Parse("aarch64-linux-gnu -mcpu=cortex-a72"));
  EXPECT_EQ(raspberry.ToString(), "llvm -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu");
  EXPECT_EQ(Target::Parse("aarch64"), Target::Parse("llvm -mtriple=aarch64-linux-gnu"));
  EXPECT_EQ(Target::Parse("x86_64-linux-gnu"), Target::Parse("llvm -mtriple=x86_64-linux-gnu"));
  EXPECT_EQ(SplitTargets("x86-64-v3,llvm -mcpu=znver4 -mattr=-fma,+tbm,cortex-a72"),
            (std::vector<std::string>{"x86-64-v3", "llvm -mcpu=znver4 -mattr=-fma,+tbm", "cortex-a72"}));
}

TEST(Target, SaysWhyItDoesNotRunHere) {
  EXPECT_EQ(Target::Host().WhyNotHere(), "");
  EXPECT_EQ(Target().WhyNotHere(), "");
  EXPECT_EQ(Target::Parse("native -mattr=+no-such-feature").WhyNotHere(), "with no-such-feature, which this one lacks");
  EXPECT_EQ(Target::Parse("cortex-a72").WhyNotHere(), "of aarch64, and this one is of x86-64");
}

TEST(Target, IsNeverTheMachineUnlessAskedFor) {
  EXPECT_EQ(Target::Current(), Target::Parse("llvm"));
  const TargetScope scope(Target::Parse("native"));
  EXPECT_EQ(Target::Current(), Target::Host());
  EXPECT_EQ(Target::Parse("llvm -mcpu=x86-64-v3").machine.threads, Target().machine.threads);
}

TEST(Target, HasTheFeaturesOfItsCpu) {
  const Target target = Target::Parse("llvm -mcpu=znver4 -mattr=-avx512bf16");
  EXPECT_TRUE(target.HasFeature("avx512vnni"));
  EXPECT_TRUE(target.HasFeature("sse4.2"));
  EXPECT_FALSE(target.HasFeature("avx512bf16"));
  const auto absent = target.AbsentFeatures();
  EXPECT_NE(std::find(absent.begin(), absent.end(), "avx512bf16"), absent.end());
  EXPECT_EQ(Target::Parse("llvm -mcpu=x86-64-v4 -mattr=-avx512f").machine.vector_bits, 256);
  const auto requires_feature = [](bool uses_matrix_unit, const char* feature) {
    const auto required = Target::Parse("llvm -mcpu=sapphirerapids").RequiredFeatures(uses_matrix_unit);
    return std::find(required.begin(), required.end(), feature) != required.end();
  };
  EXPECT_FALSE(requires_feature(false, "amx-bf16"));
  EXPECT_TRUE(requires_feature(true, "amx-bf16"));
  EXPECT_TRUE(requires_feature(false, "avx512fp16"));
}

TEST(Target, SaysWhatIsWrong) {
  for (const std::string word : {"x86", "generic", "aarch64_be", ""}) {
    EXPECT_EQ(ErrorOf(word.c_str()), "target '" + word +
                                         "' is not known; say native, a CPU (x86-64-v3, cortex-a72), a triple "
                                         "(aarch64-linux-gnu), or llvm -mcpu=NAME ...");
  }
  EXPECT_EQ(ErrorOf("llvm -l2-bytes=1X"),
            "target: -l2-bytes takes a number of bytes from 1 (65536, 64K, 1M), got '1X'");
  EXPECT_EQ(ErrorOf("llvm -l3-bytes=-1"),
            "target: -l3-bytes takes a number of bytes (65536, 64K, 1M), or 0 for none, got '-1'");
  EXPECT_EQ(ErrorOf("llvm -page-bytes=4000"),
            "target: -page-bytes takes a power of two from 16 (64, 4K, 2M), got '4000'");
  EXPECT_EQ(ErrorOf("llvm -vector-bits=64"), "target: -vector-bits takes a power of two from 128, got '64'");
  EXPECT_EQ(ErrorOf("llvm -threads=0"), "target: -threads takes a whole number from 1, got '0'");
  EXPECT_EQ(ErrorOf("llvm -num-cores=2.5"), "target: -threads takes a whole number from 1, got '2.5'");
  EXPECT_EQ(ErrorOf("llvm -l2-bytes=9999999999999"),
            "target: -l2-bytes takes a number of bytes from 1 (65536, 64K, 1M), got '9999999999999'");
  EXPECT_EQ(ErrorOf("llvm -ghz=fast"), "target: -ghz takes a number above 0, got 'fast'");
  EXPECT_EQ(ErrorOf("llvm -mattr=fma"), "target: -mattr takes +feature or -feature, separated by commas; got 'fma'");
  EXPECT_EQ(ErrorOf("llvm -mtriple=riscv64-linux-gnu"),
            "target: -mtriple takes x86_64-linux-gnu or aarch64-linux-gnu, got 'riscv64-linux-gnu'");
  EXPECT_EQ(ErrorOf("aarch64-apple-darwin"),
            "target: -mtriple takes x86_64-linux-gnu or aarch64-linux-gnu, got 'aarch64-apple-darwin'");
  EXPECT_NE(ErrorOf("llvm -mcpu=neoverse-n1 -mtriple=x86_64-linux-gnu").find("-mcpu takes native or one of x86-64, "),
            std::string::npos);
  const std::string unknown = ErrorOf("llvm -l4-bytes=1");
  EXPECT_NE(unknown.find("unknown option '-l4-bytes'"), std::string::npos);
  EXPECT_NE(unknown.find("  -l3-bytes          a number of bytes (65536, 64K, 1M), or 0 for none\n"),
            std::string::npos);
}

TEST(Target, ThePageNamesEachOption) {
  std::ifstream file(DEUTERON_SOURCE_DIR "/docs/targets.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  std::istringstream options(MachineOptions());
  int count = 0;
  for (std::string line; std::getline(options, line); ++count) {
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
  }
  EXPECT_GT(count, 30);
}

TEST(Machine, CountsOperationsByType) {
  const Machine avx2 = Target::Parse("llvm -mcpu=x86-64-v3 -threads=2 -ghz=3").machine;
  EXPECT_EQ(avx2.OpsPerCycle(DataType::Float(32)), 32);
  EXPECT_EQ(avx2.OpsPerCycle(DataType::Float(64)), 16);
  EXPECT_EQ(avx2.OpsPerCycle(DataType::Int(8)), 32);
  EXPECT_EQ(avx2.OpsPerSecond(DataType::Float(32)), 2 * 32 * 3e9);
  const Machine amx = Target::Parse("llvm -mcpu=sapphirerapids").machine;
  EXPECT_EQ(amx.OpsPerCycle(DataType::Float(32)), 64);
  EXPECT_EQ(amx.OpsPerCycle(DataType::Float(16)), 128);
  EXPECT_EQ(amx.OpsPerCycle(DataType::BFloat16()), 1024);
  EXPECT_EQ(amx.OpsPerCycle(DataType::UInt(8)), 2048);
  const Machine neon = Target::Parse("llvm -mcpu=neoverse-n1 -mtriple=aarch64-linux-gnu").machine;
  EXPECT_EQ(neon.OpsPerCycle(DataType::Float(32)), 16);
  EXPECT_EQ(neon.OpsPerCycle(DataType::Float(16)), 32);
  EXPECT_EQ(neon.OpsPerCycle(DataType::Int(8)), 64);
  // Threads that share a core share its arithmetic.
  EXPECT_EQ(Target::Parse("llvm -mcpu=x86-64-v3 -threads=2 -cores=1 -ghz=3").machine.OpsPerSecond(DataType::Float(32)),
            32 * 3e9);
}

TEST(Machine, SharesWhatIsShared) {
  const Machine machine = Target::Parse("llvm -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -threads=4").machine;
  EXPECT_EQ(machine.l2.bytes, 1 << 20);
  EXPECT_EQ(machine.l2.Share(), 1 << 18);
  EXPECT_EQ(machine.l1.WayBytes(), 16 << 10);
  // One core reaches 3 GB/s; four get 4 GB/s between them.
  EXPECT_EQ(machine.CopiedBytesPerCycle(), 1 / 1.5);
  const Machine alone = Target::Parse("llvm -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -threads=1").machine;
  EXPECT_EQ(alone.CopiedBytesPerCycle(), 3 / 1.5);
}

TEST(CpuTable, EveryCpuHasAPlausibleModel) {
  for (const Architecture architecture : {Architecture::kX86, Architecture::kArm}) {
    for (const std::string_view cpu : CpusOf(architecture)) {
      SCOPED_TRACE(cpu);
      const std::string triple = architecture == Architecture::kX86 ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
      const Target target = Target::Parse("llvm -mcpu=" + std::string(cpu) + " -mtriple=" + triple);
      const Machine& machine = target.machine;
      for (const std::string& feature : target.features) {
        const auto known = KnownFeatures(architecture);
        EXPECT_NE(std::find(known.begin(), known.end(), feature), known.end()) << feature;
      }
      EXPECT_TRUE(std::is_sorted(target.features.begin(), target.features.end()));
      EXPECT_GT(machine.l2.Share(), machine.l1.Share());
      EXPECT_GE(machine.l1.load_bytes_per_cycle, machine.l2.load_bytes_per_cycle);
      EXPECT_GE(machine.l2.load_bytes_per_cycle, machine.l3.load_bytes_per_cycle);
      EXPECT_GE(machine.memory_gbps, machine.core_gbps);
      EXPECT_GE(machine.ops.f32, machine.ops.f64);
      EXPECT_EQ(machine.l1.WayBytes() % machine.line_bytes, 0);
    }
    EXPECT_TRUE(std::is_sorted(KnownFeatures(architecture).begin(), KnownFeatures(architecture).end()));
  }
}

TEST(GpuTable, UnknownGenerationsAreLikeTheOneBefore) {
  EXPECT_EQ(ProcessorsOfGpu("sm_80"), 108);
  EXPECT_EQ(ProcessorsOfGpu("sm_90a"), 132);
  EXPECT_EQ(ProcessorsOfGpu("compute_87"), ProcessorsOfGpu("sm_86"));
  EXPECT_EQ(ProcessorsOfGpu("sm_52"), ProcessorsOfGpu("sm_70"));
  EXPECT_EQ(ProcessorsOfGpu("sm_999"), ProcessorsOfGpu("sm_120"));
  EXPECT_EQ(ProcessorsOfGpu("native"), ProcessorsOfGpu("sm_70"));
}

TEST(Machine, TheHostIsDescribed) {
  const Machine machine = Target::Host().machine;
  EXPECT_GE(machine.threads, 1);
  EXPECT_GE(machine.threads, machine.cores);
  EXPECT_GE(machine.l2.bytes, machine.l1.bytes);
  EXPECT_GT(machine.ops.f32, 0);
}

/// What `native` is depends on the variable when it is asked for first: in a process of its own.
TEST(Machine, TheHostMayBeSimulated) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto is_simulated = [] {
    setenv("DEUTERON_HOST", "x86-64-v3 -l2-bytes=256K -threads=64", 1);
    const Target host = Target::Parse("native");
    const bool right = host == Target::Host() && host.features == FeaturesOfCpu("x86-64-v3", Architecture::kX86) &&
                       host.machine.vector_bits == 256 && host.machine.l2.bytes == 256 << 10 &&
                       host.machine.threads == 64 && host.ToString() == "native";
    std::exit(right ? 0 : 1);
  };
  EXPECT_EXIT(is_simulated(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace deuteron
