// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/empty.h>
#include <tdref/errors.h>
#include <tdref/memmap.h>
#include <tdref/pickle.h>

#include <filesystem>
#include <utility>

#include "codec/class_text.h"
#include "codec/dtype_names.h"
#include "codec/file.h"
#include "codec/json.h"
#include "codec/limits.h"
#include "codec/memmap_format.h"
#include "codec/untrusted.h"
#include "codec/value_fields.h"
#include "tree/non_tensor.h"
#include "tree/tensorclass.h"
#include "tree/walk.h"

namespace tdref {
namespace {

using std::filesystem::path;

bool is_of_tensordict(const PythonClass& cls) {
  return cls.module == "tensordict" || cls.module.starts_with("tensordict.");
}

PythonClass class_of(const Value& meta) {
  const auto* id = meta.find("_class");
  if (const auto* text = id == nullptr ? nullptr : id->get_if<std::string>()) {
    const auto colon = text->find(':');
    TORCH_CHECK_VALUE(colon != std::string::npos, "'", *text, "' does not name a class");
    return {text->substr(0, colon), text->substr(colon + 1)};
  }
  const auto& name = field<std::string>(meta, "_type");
  const auto cls = class_of_text(name);
  TORCH_CHECK_VALUE(cls.has_value(), "'", name, "' does not name a class");
  return *cls;
}

class Reader {
 public:
  explicit Reader(std::optional<std::string> mode) : mode_(std::move(mode)) {}

  AnyTensorDict read(const path& folder, int depth) {
    const auto meta = read_meta(folder);
    const auto cls = class_of(meta);
    TORCH_CHECK_VALUE(!is_data(cls), "the folder holds non-tensor data alone");
    return read_as(cls, meta, folder, depth);
  }

  /// Names the file that is being looked at.
  const path& at() const { return at_; }

 private:
  Value read_meta(const path& folder) {
    at_ = folder / memmap_format::kMeta;
    auto meta =
        from_json(OpenFile(at_, OpenFile::Access::kRead, Links::kRefuse).read(), JsonForm::kPython);
    TORCH_CHECK_VALUE(
        meta.is<Value::Dict>(), "it holds a ", meta.type_name(), "; allowed is a dict");
    const auto* version = meta.find("_format_version");
    const auto* number = version == nullptr ? nullptr : version->get_if<std::int64_t>();
    TORCH_CHECK_VALUE(number == nullptr || *number <= memmap_format::kVersion,
                      "it has the format version ",
                      number == nullptr ? 0 : *number,
                      "; allowed are versions up to ",
                      memmap_format::kVersion);
    return meta;
  }

  static bool is_data(const PythonClass& cls) {
    return is_of_tensordict(cls) && (cls.name == "NonTensorData" || cls.name == "NonTensorStack");
  }

  AnyTensorDict read_as(const PythonClass& cls, const Value& meta, const path& folder, int depth) {
    check_depth(depth);
    if (is_of_tensordict(cls)) {
      if (cls.name == "LazyStackedTensorDict") {
        return read_members(meta, folder, depth);
      }
      if (cls.name == "TensorDict" || cls.name == "PersistentTensorDict" ||
          cls.name == "TensorDictParams") {
        return read_items(meta, folder, depth);
      }
    }
    const auto contents = folder / memmap_format::kContents;
    TORCH_CHECK_VALUE(is_folder(contents),
                      "it names the class ",
                      cls.module,
                      '.',
                      cls.name,
                      "; allowed are TensorDict, LazyStackedTensorDict, NonTensorData, "
                      "NonTensorStack, and tensorclasses, which have a folder '",
                      memmap_format::kContents,
                      "'");
    check_has_no_fields(meta, folder);
    check_is_no_link(contents);
    return of_class(cls, read(contents, depth + 1));
  }

  // Fields of a tensorclass stand among its contents, but for those that tensordict cannot hold.
  static void check_has_no_fields(const Value& meta, const path& folder) {
    for (const auto& [key, value] : *meta.get_if<Value::Dict>()) {
      TORCH_CHECK_VALUE(key == Value("_type") || value.is_none(),
                        "it describes a tensorclass with the field '",
                        text(key, "a key"),
                        "' outside of its tensordict; allowed is null");
    }
    TORCH_CHECK_VALUE(!is_there(folder / memmap_format::kOtherPickle),
                      "a tensorclass has fields in ",
                      memmap_format::kOtherPickle,
                      ", which is not supported");
  }

  LazyStackedTensorDict read_members(const Value& meta, const path& folder, int depth) {
    const auto at_meta = at_;
    std::vector<AnyTensorDict> members;
    while (is_folder(folder / member_key(members.size()))) {
      const auto member = folder / member_key(members.size());
      check_is_no_link(member);
      members.push_back(read(member, depth + 1));
    }
    at_ = at_meta;
    const auto* name = meta.find("stack_dim_name");
    return LazyStackedTensorDict(
        std::move(members),
        field<std::int64_t>(meta, "stack_dim"),
        name == nullptr || name->is_none() ? std::nullopt : std::optional(text(*name, "a name")));
  }

  TensorDict read_items(const Value& meta, const path& folder, int depth) {
    TensorDict td(shape_of(meta), device_of(meta));
    if (const auto* dim_names = meta.find("_names");
        dim_names != nullptr && dim_names->sequence()) {
      td.set_names(names(*dim_names));
    }
    for (const auto& [key, entry] : *meta.get_if<Value::Dict>()) {
      if (entry.is<Value::Dict>()) {
        const auto at_meta = at_;
        td.set(text(key, "a key"), read_entry(text(key, "a key"), entry, td, folder, depth));
        at_ = at_meta;
      }
    }
    return td;
  }

  static Shape shape_of(const Value& meta) {
    const auto* shape = meta.find("shape");
    return shape == nullptr ? Shape() : int_list(*shape, "shape");
  }

  static std::optional<at::Device> device_of(const Value& meta) {
    const auto* name = meta.find("device");
    return name == nullptr || *name == Value("None") ? std::nullopt : device(name);
  }

  Entry read_entry(const std::string& key,
                   const Value& entry,
                   const TensorDict& parent,
                   const path& folder,
                   int depth) {
    if (entry.find("type") == nullptr) {
      return read_leaf(key, entry, folder);
    }
    const auto place = place_of(key, "", folder);
    check_is_no_link(place);
    const auto meta = read_meta(place);
    const auto cls = class_of(meta);
    if (!is_data(cls)) {
      return read_as(cls, meta, place, depth + 1);
    }
    return cls.name == "NonTensorData"
               ? NonTensor{read_data(meta, place)}
               : stacked_lists(read_stacked_data(meta, place), parent.batch_size());
  }

  // Where the file or folder of an entry is: a name that only older versions gave comes second.
  static path place_of(const std::string& key, std::string_view suffix, const path& folder) {
    const auto place_named = [&](std::string name) { return folder / name.append(suffix); };
    auto place = place_named(memmap_format::name_of(key));
    if (!is_there(place) && memmap_format::may_be_a_name(key)) {
      return place_named(key);
    }
    return place;
  }

  Leaf read_leaf(const std::string& key, const Value& entry, const path& folder) {
    const auto& name = field<std::string>(entry, "dtype");
    const auto* dtype = find_dtype(name);
    TORCH_CHECK_VALUE(dtype != nullptr, "the leaf '", key, "' has the unknown dtype '", name, "'");
    const auto* is_nested = entry.find("is_nested");
    TORCH_CHECK_VALUE(is_nested == nullptr || *is_nested != Value(true),
                      "the leaf '",
                      key,
                      "' is a nested tensor, which is not supported");
    const auto shape = int_list(any_field(entry, "shape"), "shape");
    const auto bytes = bytes_of(shape, static_cast<std::int64_t>(c10::elementSize(dtype->dtype)));
    if (bytes == 0) {
      return {at::empty(shape, dtype->dtype), kMemoryMappedTensor};
    }
    const auto file = place_of(key, memmap_format::kLeafSuffix, folder);
    TORCH_CHECK_VALUE(is_there(file), "the leaf '", key, "' has no file '", file.string(), "'");
    at_ = file;
    const auto mapped = open(file).map(static_cast<std::size_t>(bytes));
    return {mapped.view(dtype->dtype).view(shape), kMemoryMappedTensor};
  }

  OpenFile open(const path& file) const {
    const bool is_shared = mode_.has_value() ? *mode_ == "r+" : is_writable(file);
    return {file, is_shared ? OpenFile::Access::kWrite : OpenFile::Access::kRead, Links::kRefuse};
  }

  Value read_data(const Value& meta, const path& folder) {
    if (const auto* data = meta.find("data")) {
      return *data;
    }
    return any_field(read_pickle(folder / memmap_format::kOtherPickle), "data");
  }

  Value read_stacked_data(const Value& meta, const path& folder) {
    const auto& data = any_field(meta, "data");
    return data == Value(memmap_format::kStackPickle)
               ? read_pickle(folder / memmap_format::kStackPickle)
               : data;
  }

  Value read_pickle(const path& file) {
    at_ = file;
    return unpickle_value(OpenFile(file, OpenFile::Access::kRead, Links::kRefuse).read());
  }

  void check_is_no_link(const path& place) {
    TORCH_CHECK_VALUE(!is_link(place),
                      "'",
                      place.string(),
                      "' is a symbolic link; allowed is a folder of its own");
  }

  std::optional<std::string> mode_;
  path at_;
};

}  // namespace

AnyTensorDict load_memmap(const std::string& prefix, const LoadMemmapOptions& options) {
  const auto& mode = options.mode;
  TORCH_CHECK_VALUE(!mode.has_value() || *mode == "r" || *mode == "r+",
                    "the mode is '",
                    mode.value_or(""),
                    "'; allowed are 'r' and 'r+'");
  Reader reader(mode);
  try {
    return read_untrusted("the folder", [&] { return reader.read(prefix, 0); });
  } catch (const OSError&) {
    throw;  // names the file itself
  } catch (c10::Error& error) {
    error.add_context("memory-mapped tensordict, file '" + reader.at().string() + "'");
    throw;
  }
}

}  // namespace tdref
