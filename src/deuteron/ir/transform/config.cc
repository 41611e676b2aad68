/// \file
/// The configuration keys of all passes, in one table.
#include <charconv>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/support/suggest.h"

namespace deuteron::transform {
namespace {

const ConfigKey& FindKey(const std::string& key) {
  for (const ConfigKey& row : ConfigKeys()) {
    if (key == row.name) return row;
  }
  std::string known;
  for (const ConfigKey& row : ConfigKeys()) known += (known.empty() ? "" : ", ") + std::string(row.name);
  std::vector<std::string_view> names;
  for (const ConfigKey& row : ConfigKeys()) names.emplace_back(row.name);
  DEUTERON_THROW(UsageError) << "there is no configuration key \"" << key << "\"" << DidYouMean(key, names)
                             << "; the keys are: " << known;
}

const char* TypeName(ConfigKey::Type type) {
  switch (type) {
    case ConfigKey::kInt:
      return "an integer from 0";
    case ConfigKey::kBool:
      return "true or false";
    case ConfigKey::kString:
      return "a string";
  }
  DEUTERON_UNREACHABLE();
}

std::optional<int64_t> ParseInt(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `value` as the type of `row`; nothing if it is of another type.
std::optional<Any> Convert(const ConfigKey& row, const Any& value) {
  const auto text = value.as<String>();
  if (row.type == ConfigKey::kString) {
    if (text) return Any(*text);
    return std::nullopt;
  }
  if (row.type == ConfigKey::kBool) {
    if (text) {
      if (*text == "true" || *text == "True" || *text == "1") return Any(int64_t{1});
      if (*text == "false" || *text == "False" || *text == "0") return Any(int64_t{0});
      return std::nullopt;
    }
    const auto number = value.try_cast<int64_t>();
    if (number && (*number == 0 || *number == 1)) return Any(*number);
    return std::nullopt;
  }
  if (text) {
    const auto number = ParseInt(std::string(*text));
    return number && *number >= 0 ? std::optional<Any>(*number) : std::nullopt;
  }
  if (value.type_index() != ffi::TypeIndex::kTVMFFIInt || value.cast<int64_t>() < 0) return std::nullopt;
  return Any(value.cast<int64_t>());
}

}  // namespace

namespace {

std::vector<ConfigKey>& MutableConfigKeys() {
  static auto* keys = new std::vector<ConfigKey>{
      {"tvm_compat", ConfigKey::kBool, 0, "",
       "fuse, match patterns and merge exactly as TVM 0.27, also where Deuteron does better"},
      {"relax.FuseOps.fuse_opt_level", ConfigKey::kInt, -1, "",
       "the level of a FuseOps that names none; as a rule that of the context"},
      {"relax.FuseOps.max_depth", ConfigKey::kInt, 256, "", "most operators of one fused function"},
      {"relax.FuseOps.max_function_args", ConfigKey::kInt, 0, "",
       "most arguments of one fused function, results included; 0 = no limit"},
      {"relax.FoldConstant.max_creation_elements", ConfigKey::kInt, 1024, "",
       "operators without tensor inputs (full, arange, ...) of more elements are not folded"},
      {"precision", ConfigKey::kString, 0, "f32",
       "f32, bf16 or f16: what products and convolutions of float32 may round their operands to (--precision)"},
      {"expected_runs", ConfigKey::kInt, 0, "",
       "how often what is compiled will run: what it takes to make kernels counts beside that; 0: so often that it "
       "does not"},
      {"expected_starts", ConfigKey::kInt, 1, "",
       "in how many processes those runs will be: each opens libraries and makes their kernels anew (2 with a cache)"},
      {"tune_seconds", ConfigKey::kInt, 0, "",
       "seconds in which schedules of the kernels that take the most time are measured; 0: none are (--tune)"},
      {"tune_folder", ConfigKey::kString, 0, "", "where what was measured is kept; empty: it is not"},
      {"check_bounds", ConfigKey::kBool, 0, "",
       "every access of generated code is compared with its buffer: one that lies outside is an error of the run"},
      {"kernel_text", ConfigKey::kBool, 0, "",
       "what is compiled keeps the text of its kernels before fusion, after it and scheduled, for `explain`"},
      {"relax.PartitionFor.backend", ConfigKey::kString, 0, "none",
       "the library of a PartitionFor that names none (--backend)"},
  };
  return *keys;
}

}  // namespace

const std::vector<ConfigKey>& ConfigKeys() { return MutableConfigKeys(); }

void RegisterConfigKey(const ConfigKey& key) {
  for (const ConfigKey& row : ConfigKeys()) {
    if (std::string_view(key.name) == row.name)
      DEUTERON_THROW(UsageError) << "there is a configuration key \"" << key.name << "\" already";
  }
  MutableConfigKeys().push_back(key);
}

void PassContext::SetConfig(const std::string& key, Any value) {
  const ConfigKey& row = FindKey(key);
  auto converted = Convert(row, value);
  if (!converted) {
    std::string given = value.GetTypeKey();
    if (const auto text = value.as<String>()) given = "\"" + std::string(*text) + "\"";
    if (const auto number = value.as<int64_t>()) given = std::to_string(*number);
    DEUTERON_THROW(UsageError) << "configuration key " << key << " takes " << TypeName(row.type) << ", not " << given
                               << " (" << row.description << ")";
  }
  config_[key] = std::move(*converted);
}

int64_t PassContext::GetInt(const std::string& key) const {
  const ConfigKey& row = FindKey(key);
  DEUTERON_CHECK(row.type != ConfigKey::kString) << key << " is a string";
  auto it = config_.find(key);
  return it == config_.end() ? row.int_default : it->second.cast<int64_t>();
}

std::string PassContext::GetString(const std::string& key) const {
  const ConfigKey& row = FindKey(key);
  DEUTERON_CHECK(row.type == ConfigKey::kString) << key << " is not a string";
  auto it = config_.find(key);
  return it == config_.end() ? row.string_default : std::string(it->second.cast<String>());
}

}  // namespace deuteron::transform
