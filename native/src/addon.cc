// Registers the functions of the addon with the JavaScript runtime.
#include <napi.h>

#include <stdexcept>
#include <vector>

#include "binding/calls.hpp"
#include "testing/calls.hpp"

namespace tessera {

/// Runs `call` and throws its C++ exceptions as JavaScript errors. An error that cannot be thrown is
/// dropped: that happens only in a thread that is being terminated, so no code would receive it. The
/// wrappers of node-addon-api throw a C++ exception in that case, which terminates the process.
template <typename Call>
static napi_value guarded(napi_env env, const Call& call) noexcept {
  try {
    return call();
  } catch (const Napi::Error& error) {
    try {
      napi_throw(env, error.Value());
    } catch (const Napi::Error&) {
    }
  } catch (const std::bad_alloc&) {
    napi_throw_error(env, nullptr, "out of memory");
  } catch (const std::out_of_range& error) {
    napi_throw_range_error(env, nullptr, error.what());
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

template <Napi::Value (*call)(const Napi::CallbackInfo&)>
static napi_value callback(napi_env env, napi_callback_info info) noexcept {
  return guarded(env, [&]() -> napi_value { return call(Napi::CallbackInfo(env, info)); });
}

template <Napi::Value (*call)(const Napi::CallbackInfo&)>
static void add(Napi::Env env, Napi::Object& exports, const char* name) {
  napi_value function = nullptr;
  const napi_status status =
      napi_create_function(env, name, NAPI_AUTO_LENGTH, callback<call>, nullptr, &function);
  NAPI_THROW_IF_FAILED_VOID(env, status);
  exports.Set(name, function);
}

#ifdef TESSERA_ASAN
/// Reads one byte beyond a block of memory, to prove that the sanitizer instruments this addon.
static Napi::Value readBeyondEnd(const Napi::CallbackInfo& info) {
  const auto length = static_cast<size_t>(info[0].As<Napi::Number>().Uint32Value());
  const std::vector<uint8_t> block(length, 1);
  const volatile uint8_t* beyond = block.data() + length;
  return Napi::Number::New(info.Env(), *beyond);
}
#endif

static Napi::Object testingExports(Napi::Env env) {
  auto exports = Napi::Object::New(env);
  add<exactSearch>(env, exports, "exactSearch");
  add<searchRaw>(env, exports, "searchRaw");
  add<setGraphNodes>(env, exports, "setGraphNodes");
  add<useHelpers>(env, exports, "useHelpers");
  add<blockOnJobsCall>(env, exports, "blockOnJobs");
  add<kernelSets>(env, exports, "kernelSets");
  add<useKernels>(env, exports, "useKernels");
  add<runKernel>(env, exports, "runKernel");
  add<constants>(env, exports, "constants");
  add<sipHashCall>(env, exports, "sipHash");
  add<heldMemory>(env, exports, "heldMemory");
  add<hashProbes>(env, exports, "hashProbes");
  add<markdownPlainText>(env, exports, "plainText");
  add<unitKind>(env, exports, "unitKind");
  add<languageNamedCall>(env, exports, "languageNamed");
  add<surfaceFormCall>(env, exports, "surfaceForm");
  add<analyseQueryCall>(env, exports, "analyseQuery");
  add<renderedHeading>(env, exports, "renderedHeading");
  add<renderedContent>(env, exports, "renderedContent");
#ifdef TESSERA_ASAN
  add<readBeyondEnd>(env, exports, "readBeyondEnd");
#endif
  return exports;
}

static Napi::Object registerAll(Napi::Env env, Napi::Object exports) {
  add<openProject>(env, exports, "openProject");
  add<dropProject>(env, exports, "dropProject");
  add<projects>(env, exports, "projects");
  add<append>(env, exports, "append");
  add<beginMaintenance>(env, exports, "beginMaintenance");
  add<commitCompaction>(env, exports, "commitCompaction");
  add<recalibrate>(env, exports, "recalibrate");
  add<setShardNodes>(env, exports, "setShardNodes");
  add<setScope>(env, exports, "setScope");
  add<dropScope>(env, exports, "dropScope");
  add<hasScope>(env, exports, "hasScope");
  add<stats>(env, exports, "stats");
  add<searchCall>(env, exports, "search");
  add<parseSearchBodyCall>(env, exports, "parseSearchBody");
  add<filterSpan>(env, exports, "filterSpan");
  add<ignoredFields>(env, exports, "ignoredFields");
  add<beginRecall>(env, exports, "beginRecall");
  add<openTextView>(env, exports, "openTextView");
  add<closeTextView>(env, exports, "closeTextView");
  add<lookUpText>(env, exports, "lookUpText");
  add<retrieve>(env, exports, "retrieve");
  add<stem>(env, exports, "stem");
  exports.Set("stemLanguages", stemLanguageCodes(env));
  add<tokensInText>(env, exports, "tokensInText");
  add<spellingsInText>(env, exports, "spellingsInText");
  exports.Set("wordTables", wordTablesVersion(env));
  add<buildSegment>(env, exports, "buildSegment");
  add<mergeSegmentsCall>(env, exports, "mergeSegments");
  add<openFields>(env, exports, "openFields");
  add<addFields>(env, exports, "addFields");
  add<appendVersion>(env, exports, "appendVersion");
  add<keepVersions>(env, exports, "keepVersions");
  add<moveVersions>(env, exports, "moveVersions");
  add<sharedScopeBytes>(env, exports, "sharedScopeBytes");
  add<shareFields>(env, exports, "shareFields");
  add<unshareFields>(env, exports, "unshareFields");
  add<shareFilteredScope>(env, exports, "shareFilteredScope");
  add<unshareFilteredScope>(env, exports, "unshareFilteredScope");
  add<fieldBytes>(env, exports, "fieldBytes");
  add<fieldColumns>(env, exports, "fieldColumns");
  add<fieldEntries>(env, exports, "fieldEntries");
  add<restoreEntries>(env, exports, "restoreEntries");
  add<openFilter>(env, exports, "openFilter");
  add<beginFilter>(env, exports, "beginFilter");
  add<stepFilter>(env, exports, "stepFilter");
  add<filterMembers>(env, exports, "filterMembers");
  add<openCount>(env, exports, "openCount");
  add<stepCount>(env, exports, "stepCount");
  add<countedValues>(env, exports, "countedValues");
  add<checksumCall>(env, exports, "checksum");
  add<beginSnapshot>(env, exports, "beginSnapshot");
  add<beginRestore>(env, exports, "beginRestore");
  add<tryLockFile>(env, exports, "tryLockFile");
  add<unlockFileCall>(env, exports, "unlockFile");
  exports.Set("testing", testingExports(env));
  return exports;
}

}  // namespace tessera

NAPI_MODULE_INIT() {
  return tessera::guarded(env, [&]() -> napi_value {
    return tessera::registerAll(env, Napi::Object(env, exports));
  });
}
