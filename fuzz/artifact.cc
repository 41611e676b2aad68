/// Any bytes are loaded as an artefact, as a set of them, as a program (the part behind the checksum that bytes alone
/// do not get past), or refused by a user's error. A program that is verified is the same when it is written and read
/// again, and can be looked at from all sides.
#include "deuteron/runtime/artifact.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"
#include "deuteron/runtime/artifact_set.h"
#include "deuteron/runtime/checksum.h"

namespace {

using namespace deuteron;           // NOLINT(google-build-using-namespace)
using namespace deuteron::runtime;  // NOLINT(google-build-using-namespace)

void ReadProgram(const std::string& bytes) {
  Program program = Deserialize(bytes);
  Verify(program);
  Disassemble(program);
  if (Serialize(Deserialize(Serialize(program))) != Serialize(program)) std::abort();
  if (program.weights_bytes > (1 << 20) || !program.kernels.empty() || !program.externals.empty()) return;
  const auto memory = std::make_shared<std::vector<char>>(program.weights_bytes + 64);
  Executable::Parts parts;
  for (const ConstantSpec& constant : program.constants) parts.weights.push_back(memory->data() + constant.offset);
  parts.program = std::move(program);
  parts.keep_alive.push_back(memory);
  const Executable executable(std::move(parts));
  for (const std::string& name : executable.FunctionNames()) {
    executable.Inputs(name);
    executable.Outputs(name);
  }
}

/// Checksum and versions made right, so that what lies behind them is reached.
std::string WithChecksum(std::string bytes) {
  ArtifactTrailer trailer;
  if (bytes.size() < sizeof(trailer)) return bytes;
  char* end = bytes.data() + bytes.size() - sizeof(trailer);
  std::memcpy(&trailer, end, sizeof(trailer));
  const uint64_t checked = trailer.manifest_offset + trailer.manifest_bytes;
  if (checked < trailer.manifest_offset || checked > bytes.size()) return bytes;
  trailer.version = kArtifactVersion;
  trailer.program_version = kProgramVersion;
  Checksum all;
  all.Add(bytes.data(), checked);
  all.Add(&trailer, offsetof(ArtifactTrailer, checksum));
  trailer.checksum = all.Value();
  std::memcpy(end, &trailer, sizeof(trailer));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  AcceptsOrRefuses([&] {
    switch (data[0] % 3) {
      case 0:
        return ReadProgram(bytes);
      case 1: {
        const std::string whole = WithChecksum(bytes);
        const ArtifactParts parts = ReadArtifact(whole, "fuzz");
        if (parts.elf.size() + parts.weights.size() > whole.size()) std::abort();
        return;
      }
      default:
        if (const auto members = ReadArtifactSet(bytes, "fuzz")) ChooseArtifact(*members, "fuzz");
    }
  });
  return 0;
}
