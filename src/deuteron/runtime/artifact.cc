#include "deuteron/runtime/artifact.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/shared_weights.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/error.h"
#include "deuteron/support/write_file.h"

namespace deuteron::runtime {

namespace fs = std::filesystem;

namespace {

void PadTo(OutputFile* file, uint64_t offset) {
  static constexpr char kZeros[kPageBytes] = {};
  while (file->bytes() < offset) {
    file->Write({kZeros, static_cast<size_t>(std::min<uint64_t>(offset - file->bytes(), sizeof(kZeros)))});
  }
}

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/// JSON has strings of UTF-8 alone, a path has any bytes: of one that is no such string, the numbers of these.
nlohmann::json PathToJson(const std::string& path) {
  try {
    static_cast<void>(nlohmann::json(path).dump());
    return path;
  } catch (const nlohmann::json::exception&) {
    return std::vector<uint8_t>(path.begin(), path.end());
  }
}

std::string PathFromJson(const nlohmann::json& json) {
  if (!json.is_array()) return json.get<std::string>();
  const auto bytes = json.get<std::vector<uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

/// What is read at every load, as JSON on one line; after it the notes as they are.
std::string ManifestToText(const Manifest& manifest) {
  const nlohmann::json json = {{"cpu_features", manifest.cpu_features},
                               {"target", manifest.target},
                               {"plugins", manifest.plugins},
                               {"weights_file", PathToJson(manifest.weights_file)},
                               {"weight_names", manifest.weight_names}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" + manifest.notes;
}

Manifest ManifestFromText(std::string_view text) {
  const size_t end = std::min(text.find('\n'), text.size());
  try {
    const nlohmann::json json = nlohmann::json::parse(text.substr(0, end));
    Manifest manifest;
    json.at("cpu_features").get_to(manifest.cpu_features);
    json.at("target").get_to(manifest.target);
    json.at("plugins").get_to(manifest.plugins);
    manifest.weights_file = PathFromJson(json.at("weights_file"));
    json.at("weight_names").get_to(manifest.weight_names);
    manifest.notes = text.substr(std::min(end + 1, text.size()));
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    DEUTERON_THROW(ModelError) << "damaged manifest: " << error.what();
  }
}

}  // namespace

void WriteArtifact(const std::string& path, std::string_view elf, Program program, Manifest manifest,
                   const std::function<const void*(size_t)>& weight, const std::string& weights_file) {
  for (size_t i = 0; i < program.constants.size(); ++i) {
    ConstantSpec& constant = program.constants[i];
    const auto size = static_cast<uint64_t>(TensorBytes(constant.shape, constant.dtype));
    constant.checksum = TensorChecksum(weight(i), size, UsableThreads());
  }
  const bool has_weights = weights_file.empty();
  if (!has_weights) {
    const fs::path folder = fs::absolute(path).parent_path();
    manifest.weight_names = AddSharedWeights(weights_file, program, weight);
    manifest.weights_file = fs::absolute(weights_file).lexically_relative(folder).string();
  }
  const std::string bytes = Serialize(program);
  const std::string text = ManifestToText(manifest);
  ArtifactTrailer trailer{};
  std::memcpy(trailer.magic, kArtifactMagic.data(), sizeof(trailer.magic));
  trailer.version = kArtifactVersion;
  trailer.program_version = kProgramVersion;
  trailer.elf_bytes = elf.size();
  trailer.program_offset = elf.size();
  trailer.program_bytes = bytes.size();
  trailer.manifest_offset = trailer.program_offset + bytes.size();
  trailer.manifest_bytes = text.size();
  trailer.weights_offset = RoundUp(trailer.manifest_offset + text.size(), kPageBytes);
  trailer.weights_bytes = has_weights ? program.weights_bytes : 0;

  OutputFile file(path);
  for (const std::string_view part : {elf, std::string_view(bytes), std::string_view(text)}) file.Write(part);
  PadTo(&file, trailer.weights_offset);
  const uint64_t begin = trailer.weights_offset;
  uint64_t written = 0;
  for (size_t i = 0; has_weights && i < program.constants.size(); ++i) {
    const ConstantSpec& constant = program.constants[i];
    DEUTERON_CHECK(constant.offset >= written) << "constants are not in order of their offsets";
    PadTo(&file, begin + constant.offset);
    const auto size = static_cast<uint64_t>(TensorBytes(constant.shape, constant.dtype));
    file.Write({static_cast<const char*>(weight(i)), size});
    written = constant.offset + size;
  }
  DEUTERON_CHECK(written == trailer.weights_bytes)
      << "weights of " << written << " bytes, the program says " << trailer.weights_bytes;
  Checksum all;
  all.Add(elf.data(), elf.size());
  all.Add(bytes.data(), bytes.size());
  all.Add(text.data(), text.size());
  all.Add(&trailer, offsetof(ArtifactTrailer, checksum));
  trailer.checksum = all.Value();
  file.Write({reinterpret_cast<const char*>(&trailer), sizeof(trailer)});
  file.Close();
}

namespace {

/// Reads the trailer of a file and compares what it says with the bytes.
class TrailerReader {
 public:
  TrailerReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  ArtifactTrailer Read() {
    if (bytes_.size() < sizeof(trailer_)) NotAnArtifact();
    std::memcpy(&trailer_, bytes_.data() + bytes_.size() - sizeof(trailer_), sizeof(trailer_));
    if (std::memcmp(trailer_.magic, kArtifactMagic.data(), sizeof(trailer_.magic)) != 0) NotAnArtifact();
    if (trailer_.version != kArtifactVersion || trailer_.program_version != kProgramVersion) {
      DEUTERON_THROW(ModelError) << path_ << " was compiled for version " << trailer_.version << "."
                                 << trailer_.program_version << " of the runtime, this is version " << kArtifactVersion
                                 << "." << kProgramVersion << ": compile the model again";
    }
    const uint64_t end = bytes_.size() - sizeof(trailer_);
    const auto within = [end](uint64_t offset, uint64_t bytes) { return offset <= end && bytes <= end - offset; };
    if (!within(0, trailer_.elf_bytes) || trailer_.program_offset != trailer_.elf_bytes ||
        !within(trailer_.program_offset, trailer_.program_bytes) ||
        trailer_.manifest_offset != trailer_.program_offset + trailer_.program_bytes ||
        !within(trailer_.manifest_offset, trailer_.manifest_bytes) ||
        trailer_.weights_offset < trailer_.manifest_offset + trailer_.manifest_bytes ||
        trailer_.weights_offset % kPageBytes != 0 || !within(trailer_.weights_offset, trailer_.weights_bytes) ||
        trailer_.weights_offset + trailer_.weights_bytes != end) {
      Damaged("its parts do not fit");
    }
    Checksum all;
    all.Add(bytes_.data(), trailer_.manifest_offset + trailer_.manifest_bytes);
    all.Add(&trailer_, offsetof(ArtifactTrailer, checksum));
    if (all.Value() != trailer_.checksum) Damaged("the checksum differs");
    return trailer_;
  }

  [[noreturn]] void Damaged(const std::string& why) const {
    DEUTERON_THROW(ModelError) << path_ << " is damaged or truncated: " << why;
  }

 private:
  [[noreturn]] void NotAnArtifact() const {
    const bool elf = bytes_.substr(0, 4) ==
                     "\x7f"
                     "ELF";
    DEUTERON_THROW(ModelError) << path_ << " is no compiled model"
                               << (elf ? ": it is a shared object, but truncated, stripped or of another program" : "");
  }

  std::string_view bytes_;
  const std::string& path_;
  ArtifactTrailer trailer_{};
};

}  // namespace

ArtifactParts ReadArtifact(std::string_view bytes, const std::string& path) {
  TrailerReader reader(bytes, path);
  const ArtifactTrailer trailer = reader.Read();
  ArtifactParts parts;
  parts.elf = bytes.substr(0, trailer.elf_bytes);
  parts.manifest = ManifestFromText(bytes.substr(trailer.manifest_offset, trailer.manifest_bytes));
  parts.program = Deserialize(std::string(bytes.substr(trailer.program_offset, trailer.program_bytes)));
  // Before pointers are made of its offsets.
  Verify(parts.program);
  parts.weights = bytes.substr(trailer.weights_offset, trailer.weights_bytes);
  const uint64_t expected = parts.manifest.weights_file.empty() ? parts.program.weights_bytes : 0;
  if (trailer.weights_bytes != expected) reader.Damaged("the program is of other weights");
  return parts;
}

}  // namespace deuteron::runtime
