// The calls for the fields that filters compare: their values, filters over them, and counts of values.
#include <algorithm>
#include <memory>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "fields/filter_results.hpp"
#include "fields/shared_fields.hpp"
#include "fields/value_count.hpp"

namespace tessera {

namespace {

/// The native object behind a JavaScript value. The garbage collector frees it.
struct FieldHandle {
  FieldHandle() = default;
  FieldHandle(const FieldHandle&) = delete;
  FieldHandle& operator=(const FieldHandle&) = delete;
  virtual ~FieldHandle() = default;
};

template <typename Held>
struct HandleOf : FieldHandle {
  template <typename... Arguments>
  explicit HandleOf(Arguments&&... arguments) : held(std::forward<Arguments>(arguments)...) {}

  Held held;
};

using StoreHandle = HandleOf<std::shared_ptr<FieldStore>>;
using FilterHandle = HandleOf<FilterResults>;
using CountHandle = HandleOf<ValueCount>;

template <typename Handle, typename... Arguments>
Napi::Value newHandle(Napi::Env env, Arguments&&... arguments) {
  auto handle = std::make_unique<Handle>(std::forward<Arguments>(arguments)...);
  const auto free = [](Napi::Env, FieldHandle* freed) { delete freed; };
  auto external = Napi::External<FieldHandle>::New(env, handle.get(), free);
  static_cast<void>(handle.release());
  return external;
}

template <typename Handle>
auto& heldBy(const Napi::CallbackInfo& info, const char* name) {
  const Napi::Value value = info[0];
  if (!value.IsExternal()) throwTypeError(info.Env(), std::string("the first argument must be ") + name);
  auto* handle = dynamic_cast<Handle*>(value.As<Napi::External<FieldHandle>>().Data());
  if (handle == nullptr) throwTypeError(info.Env(), std::string("the first argument must be ") + name);
  return handle->held;
}

std::shared_ptr<FieldStore>& storeArgument(const Napi::CallbackInfo& info) {
  return heldBy<StoreHandle>(info, "fields");
}

std::u16string textArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return text16Of({info.Env(), info[position], name});
}

VersionKey versionArgument(const Napi::CallbackInfo& info) { return VersionKey::of(nameArgument(info, 1, "version")); }

NumberSet numbersArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return arrayOf<uint32_t>({info.Env(), info[position], name}, napi_uint32_array);
}

FieldRoot rootArgument(const Napi::CallbackInfo& info) {
  const auto last = static_cast<uint32_t>(FieldRoot::metadata);
  return static_cast<FieldRoot>(integerArgument(info, 1, "root", 0, last));
}

/// The path of a field; nothing for the values beyond the bounds of columns.
std::optional<std::u16string> pathArgument(const Napi::CallbackInfo& info) {
  if (info[2].IsNull()) return std::nullopt;
  return textArgument(info, 2, "path");
}

Napi::Uint32Array numbersOf(Napi::Env env, std::span<const uint32_t> numbers) {
  auto array = Napi::Uint32Array::New(env, numbers.size());
  std::ranges::copy(numbers, array.Data());
  return array;
}

Napi::Object columnOf(Napi::Env env, FieldRoot root, const std::u16string* path, const FieldColumn& column) {
  auto object = Napi::Object::New(env);
  object.Set("root", Napi::Number::New(env, static_cast<double>(root)));
  object.Set("path", path == nullptr ? env.Null() : Napi::Value(Napi::String::New(env, *path)));
  object.Set("entries", Napi::Number::New(env, static_cast<double>(column.rows().size())));
  return object;
}

}  // namespace

Napi::Value openFields(const Napi::CallbackInfo& info) {
  return newHandle<StoreHandle>(info.Env(), std::make_shared<FieldStore>());
}

Napi::Value addFields(const Napi::CallbackInfo& info) {
  FieldStore& store = *storeArgument(info);
  const VersionKey version = versionArgument(info);
  const std::u16string path = textArgument(info, 2, "path");
  const std::u16string frontmatter = textArgument(info, 3, "frontmatter");
  const std::u16string metadata = textArgument(info, 4, "metadata");
  store.add(version, path, frontmatter, metadata, integerArgument(info, 5, "chunks", 1, UINT32_MAX));
  const size_t units = path.size() + frontmatter.size() + metadata.size();
  // The garbage collector does not see this memory.
  Napi::MemoryManagement::AdjustExternalMemory(info.Env(), static_cast<int64_t>(units));
  return info.Env().Undefined();
}

Napi::Value appendVersion(const Napi::CallbackInfo& info) {
  storeArgument(info)->append(versionArgument(info), integerArgument(info, 2, "chunks", 1, UINT32_MAX));
  return info.Env().Undefined();
}

Napi::Value keepVersions(const Napi::CallbackInfo& info) {
  return newHandle<StoreHandle>(info.Env(), storeArgument(info)->kept(numbersArgument(info, 1, "held")));
}

Napi::Value moveVersions(const Napi::CallbackInfo& info) {
  storeArgument(info)->move(numbersArgument(info, 1, "numbers"));
  return info.Env().Undefined();
}

Napi::Value shareFields(const Napi::CallbackInfo& info) {
  SharedFields::instance().share(nameArgument(info, 1, "project"), storeArgument(info));
  return info.Env().Undefined();
}

Napi::Value unshareFields(const Napi::CallbackInfo& info) {
  SharedFields::instance().drop(nameArgument(info, 0, "project"));
  return info.Env().Undefined();
}

Napi::Value shareFilteredScope(const Napi::CallbackInfo& info) {
  CountedScope counted{storeArgument(info), nullptr};
  if (!info[3].IsNull()) {
    const NumberSet chunks = numbersArgument(info, 3, "chunks");
    counted.chunks = std::make_shared<std::vector<uint32_t>>(chunks.begin(), chunks.end());
  }
  const std::string project = nameArgument(info, 1, "project");
  SharedFields::instance().setScope(project, nameArgument(info, 2, "scope"), std::move(counted));
  return info.Env().Undefined();
}

Napi::Value unshareFilteredScope(const Napi::CallbackInfo& info) {
  SharedFields::instance().dropScope(nameArgument(info, 0, "project"), nameArgument(info, 1, "scope"));
  return info.Env().Undefined();
}

Napi::Value sharedScopeBytes(const Napi::CallbackInfo& info) {
  const size_t bytes = SharedFields::instance().bytes(nameArgument(info, 0, "project"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

Napi::Value fieldBytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(storeArgument(info)->bytes()));
}

Napi::Value fieldColumns(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const FieldStore& store = *storeArgument(info);
  auto list = Napi::Array::New(env);
  const std::u16string noPath;
  list.Set(list.Length(), columnOf(env, FieldRoot::path, &noPath, *store.find(FieldRoot::path, noPath)));
  for (const FieldRoot root : {FieldRoot::frontmatter, FieldRoot::metadata}) {
    const FieldColumns& columns = *store.columns(root);
    for (const auto& each : columns.columns()) {
      list.Set(list.Length(), columnOf(env, root, &each->path, each->column));
    }
    list.Set(list.Length(), columnOf(env, root, nullptr, columns.rest()));
  }
  return list;
}

Napi::Value fieldEntries(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const FieldStore& store = *storeArgument(info);
  const FieldRoot root = rootArgument(info);
  const auto path = pathArgument(info);
  const FieldColumns* columns = store.columns(root);
  const FieldColumn* column = path || columns == nullptr ? store.find(root, path.value_or(u"")) : &columns->rest();
  if (column == nullptr) throwTypeError(env, "no version has the field");
  const auto entries = static_cast<uint32_t>(column->rows().size());
  const uint32_t end = integerArgument(info, 4, "end", 0, entries);
  const uint32_t first = integerArgument(info, 3, "first", 0, end);
  const uint32_t written = integerArgument(info, 5, "written", 1, column->codeCount());
  const auto codes = column->codes().subspan(first, end - first);
  // Codes are given in the order in which entries need them.
  const uint32_t codeEnd = codes.empty() ? written : std::max(written, 1 + *std::ranges::max_element(codes));
  std::string values;
  for (uint32_t code = written; code < codeEnd; code++) {
    values += code == written ? '[' : ',';
    appendValue(values, column->value(code));
  }
  values += values.empty() ? "[]" : "]";
  auto slice = Napi::Object::New(env);
  slice.Set("values", Napi::String::New(env, values));
  slice.Set("written", Napi::Number::New(env, codeEnd));
  slice.Set("rows", numbersOf(env, column->rows().subspan(first, end - first)));
  slice.Set("codes", numbersOf(env, codes));
  return slice;
}

Napi::Value restoreEntries(const Napi::CallbackInfo& info) {
  FieldStore& store = *storeArgument(info);
  const auto path = pathArgument(info);
  const std::u16string values = textArgument(info, 3, "values");
  store.restore(rootArgument(info), path ? &*path : nullptr, values, numbersArgument(info, 4, "rows"),
                numbersArgument(info, 5, "codes"));
  return info.Env().Undefined();
}

Napi::Value openFilter(const Napi::CallbackInfo& info) {
  auto condition = std::make_shared<Condition>(compileFilter(textArgument(info, 1, "filter")));
  return newHandle<FilterHandle>(info.Env(), storeArgument(info), std::move(condition));
}

Napi::Value beginFilter(const Napi::CallbackInfo& info) {
  heldBy<FilterHandle>(info, "a filter").begin(numbersArgument(info, 1, "scope"));
  return info.Env().Undefined();
}

Napi::Value stepFilter(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), heldBy<FilterHandle>(info, "a filter").step());
}

Napi::Value filterMembers(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const FilterResults& results = heldBy<FilterHandle>(info, "a filter");
  const NumberSet scope = numbersArgument(info, 1, "scope");
  if (!results.knows(scope)) return env.Null();
  auto members = Napi::Object::New(env);
  members.Set("numbers", numbersOf(env, results.versionsIn(scope)));
  members.Set("chunks", results.chunks() == nullptr ? env.Null() : Napi::Value(numbersOf(env, *results.chunks())));
  return members;
}

Napi::Value openCount(const Napi::CallbackInfo& info) {
  CountRequest request{rootArgument(info), textArgument(info, 2, "path"), {}, nullptr, 0, 0};
  const NumberSet versions = numbersArgument(info, 3, "versions");
  request.versions.assign(versions.begin(), versions.end());
  request.valuesMax = integerArgument(info, 4, "valuesMax", 0, UINT32_MAX);
  request.charsMax = integerArgument(info, 5, "charsMax", 0, UINT32_MAX);
  return newHandle<CountHandle>(info.Env(), storeArgument(info), std::move(request));
}

Napi::Value stepCount(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), heldBy<CountHandle>(info, "a count").step());
}

Napi::Value countedValues(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const ValueCount& count = heldBy<CountHandle>(info, "a count");
  auto types = Napi::Array::New(env);
  for (const char* type : {"string", "number", "boolean"}) {
    if (count.hasType(type)) types.Set(types.Length(), Napi::String::New(env, type));
  }
  auto result = Napi::Object::New(env);
  result.Set("files", Napi::Number::New(env, count.files()));
  result.Set("distinct", Napi::Number::New(env, count.distinct()));
  result.Set("types", types);
  result.Set("values", Napi::String::New(env, count.json()));
  return result;
}

}  // namespace tessera
