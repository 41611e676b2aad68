#include "deuteron/backend/dnnl/held_layout.h"

#include <dnnl_debug.h>

#include <array>
#include <vector>

#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

/// A format of these dimensions; null if it is for others.
memory::desc DescOf(const memory::dims& dims, memory::data_type type, int tag) {
  return {dims, type, static_cast<memory::format_tag>(tag), /*allow_empty=*/true};
}

const char* NameOfType(int type) { return dnnl_dt2str(static_cast<dnnl_data_type_t>(type)); }
const char* NameOfFormat(int tag) { return dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag)); }

/// The one of that name among oneDNN's types, or its formats, from the first to before the last: `guess`, if it is
/// that.
int Find(int first, int last, const std::string& name, const char* (*name_of)(int), int guess) {
  if (guess >= first && guess < last && name_of(guess) == name) return guess;
  for (int i = first; i < last; ++i) {
    if (name_of(i) == name) return i;
  }
  DEUTERON_THROW(ModelError) << "the model holds constants as \"" << name
                             << "\", which this oneDNN does not know; compile it with this version of Deuteron";
}

/// By number of dimensions, the formats that are for so many, in order.
const std::vector<int>& FormatsOf(int dimensions) {
  static const auto* const formats = [] {
    auto* found = new std::array<std::vector<int>, DNNL_MAX_NDIMS + 1>();
    for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
      for (int count = 1; count <= DNNL_MAX_NDIMS; ++count) {
        if (!DescOf(memory::dims(static_cast<size_t>(count), 1), memory::data_type::f32, tag)) continue;
        (*found)[static_cast<size_t>(count)].push_back(tag);
        break;
      }
    }
    return found;
  }();
  return formats->at(static_cast<size_t>(dimensions));
}

memory::data_type TypeOf(const std::string& name) {
  return static_cast<memory::data_type>(Find(dnnl_f16, dnnl_data_type_max, name, &NameOfType, dnnl_f32));
}

}  // namespace

nlohmann::json HeldLayoutToJson(const PackedConstants::Layouts& layouts) {
  const memory::desc &from = layouts.from, &to = layouts.to;
  const bool is_strided = from.get_format_kind() == memory::format_kind::blocked && from.get_inner_nblks() == 0;
  if (!is_strided || to.get_format_kind() != memory::format_kind::blocked) return nullptr;
  for (const int tag : FormatsOf(to.get_ndims())) {
    const memory::desc named = DescOf(to.get_dims(), to.get_data_type(), tag);
    if (!named || named != to) continue;
    return {{"dims", from.get_dims()},
            {"strides", from.get_strides()},
            {"dtype", NameOfType(memory::convert_to_c(from.get_data_type()))},
            {"held_dtype", NameOfType(memory::convert_to_c(to.get_data_type()))},
            {"layout", NameOfFormat(tag)},
            {"layout_number", tag}};
  }
  return nullptr;
}

PackedConstants::Layouts HeldLayoutFromJson(const nlohmann::json& json, size_t bytes) {
  const auto dims = json.at("dims").get<memory::dims>(), strides = json.at("strides").get<memory::dims>();
  const std::string layout = json.at("layout");
  if (dims.size() != strides.size() || dims.size() > DNNL_MAX_NDIMS) {
    DEUTERON_THROW(ModelError) << "a constant of " << dims.size() << " dimensions and " << strides.size() << " strides";
  }
  const int tag =
      Find(dnnl_format_tag_any + 1, dnnl_format_tag_last, layout, &NameOfFormat, json.value("layout_number", 0));
  const memory::desc from(dims, TypeOf(json.at("dtype")), strides);
  const memory::desc to = DescOf(dims, TypeOf(json.at("held_dtype")), tag);
  if (!to || to.get_size() > bytes) {
    DEUTERON_THROW(ModelError) << "a constant of " << bytes << " bytes is no tensor in the layout " << layout;
  }
  return {from, to};
}

}  // namespace deuteron::backend::dnnl
