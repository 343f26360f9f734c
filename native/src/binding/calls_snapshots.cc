// Calls that write and read snapshots, each on a thread of its own.
#include <algorithm>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "binding/jobs.hpp"
#include "common/checksum.hpp"
#include "snapshot/snapshot.hpp"

namespace tessera {

/// The largest size of a file that a number of JavaScript states exactly.
static constexpr double MAX_FILE_BYTES = 9007199254740991.0;

static SnapshotFile fileOf(const std::string& directory, const Named& given) {
  const Fields fields(given);
  const Napi::Value bytes = fields["bytes"].value;
  const double length = bytes.IsNumber() ? bytes.As<Napi::Number>().DoubleValue() : -1;
  if (!(length >= 0 && length <= MAX_FILE_BYTES)) throwTypeError(given.env, "bytes must be a size");
  return {directory, nameOf(fields["name"]), static_cast<uint64_t>(length), nameOf(fields["checksum"])};
}

static Napi::Value filesFrom(Napi::Env env, const std::vector<SnapshotFile>& files) {
  const auto list = Napi::Array::New(env, files.size());
  for (uint32_t i = 0; i < files.size(); i++) {
    const auto file = Napi::Object::New(env);
    file.Set("name", files[i].name);
    file.Set("bytes", Napi::Number::New(env, static_cast<double>(files[i].length)));
    file.Set("checksum", files[i].checksum);
    list.Set(i, file);
  }
  return list;
}

Napi::Value checksumCall(const Napi::CallbackInfo& info) {
  const Bytes bytes = bytesArgument(info, 0, "bytes");
  return Napi::String::New(info.Env(), checksum(bytes.data, bytes.length));
}

Napi::Value beginSnapshot(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  return beginJob(info.Env(), [=]() -> JobResult {
    const std::vector<SnapshotFile> files = writeSnapshot(*project, directory);
    return [=](Napi::Env env) { return filesFrom(env, files); };
  });
}

Napi::Value beginRestore(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string id = nameArgument(info, 0, "projectId");
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  std::vector<SnapshotFile> files;
  eachIn({env, info[2], "files"}, [&](const Named& file) { files.push_back(fileOf(directory, file)); });
  return beginJob(env, [=]() -> JobResult {
    std::shared_ptr<Project> project;
    try {
      project = readSnapshot(id, files);
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string("the snapshot is corrupt: ") + error.what());
    }
    return [=](Napi::Env env) -> Napi::Value {
      Registry::instance().replace(project);
      return env.Undefined();
    };
  });
}

}  // namespace tessera
