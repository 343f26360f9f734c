// The functions that the service calls; native/index.ts documents them.
#pragma once
#include <napi.h>

namespace tessera {

Napi::Value openProject(const Napi::CallbackInfo& info);
Napi::Value dropProject(const Napi::CallbackInfo& info);
Napi::Value projects(const Napi::CallbackInfo& info);
Napi::Value append(const Napi::CallbackInfo& info);
Napi::Value beginMaintenance(const Napi::CallbackInfo& info);
Napi::Value commitCompaction(const Napi::CallbackInfo& info);
Napi::Value recalibrate(const Napi::CallbackInfo& info);
Napi::Value setShardNodes(const Napi::CallbackInfo& info);
Napi::Value setScope(const Napi::CallbackInfo& info);
Napi::Value dropScope(const Napi::CallbackInfo& info);
Napi::Value hasScope(const Napi::CallbackInfo& info);
Napi::Value stats(const Napi::CallbackInfo& info);

Napi::Value searchCall(const Napi::CallbackInfo& info);
Napi::Value parseSearchBodyCall(const Napi::CallbackInfo& info);
Napi::Value filterSpan(const Napi::CallbackInfo& info);
Napi::Value ignoredFields(const Napi::CallbackInfo& info);
Napi::Value beginRecall(const Napi::CallbackInfo& info);

Napi::Value openTextView(const Napi::CallbackInfo& info);
Napi::Value closeTextView(const Napi::CallbackInfo& info);
Napi::Value lookUpText(const Napi::CallbackInfo& info);
Napi::Value retrieve(const Napi::CallbackInfo& info);
Napi::Value stem(const Napi::CallbackInfo& info);
/// The codes of the languages that have a stemmer.
Napi::Array stemLanguageCodes(Napi::Env env);
Napi::Value buildSegment(const Napi::CallbackInfo& info);
Napi::Value mergeSegmentsCall(const Napi::CallbackInfo& info);

Napi::Value tokensInText(const Napi::CallbackInfo& info);
Napi::Value spellingsInText(const Napi::CallbackInfo& info);
/// The version of the tables that words are read by.
Napi::String wordTablesVersion(Napi::Env env);

Napi::Value openFields(const Napi::CallbackInfo& info);
Napi::Value addFields(const Napi::CallbackInfo& info);
Napi::Value appendVersion(const Napi::CallbackInfo& info);
Napi::Value keepVersions(const Napi::CallbackInfo& info);
Napi::Value moveVersions(const Napi::CallbackInfo& info);
Napi::Value sharedScopeBytes(const Napi::CallbackInfo& info);
Napi::Value shareFields(const Napi::CallbackInfo& info);
Napi::Value unshareFields(const Napi::CallbackInfo& info);
Napi::Value shareFilteredScope(const Napi::CallbackInfo& info);
Napi::Value unshareFilteredScope(const Napi::CallbackInfo& info);
Napi::Value fieldBytes(const Napi::CallbackInfo& info);
Napi::Value fieldColumns(const Napi::CallbackInfo& info);
Napi::Value fieldEntries(const Napi::CallbackInfo& info);
Napi::Value restoreEntries(const Napi::CallbackInfo& info);
Napi::Value openFilter(const Napi::CallbackInfo& info);
Napi::Value beginFilter(const Napi::CallbackInfo& info);
Napi::Value stepFilter(const Napi::CallbackInfo& info);
Napi::Value filterMembers(const Napi::CallbackInfo& info);
Napi::Value openCount(const Napi::CallbackInfo& info);
Napi::Value stepCount(const Napi::CallbackInfo& info);
Napi::Value countedValues(const Napi::CallbackInfo& info);

Napi::Value checksumCall(const Napi::CallbackInfo& info);
Napi::Value beginSnapshot(const Napi::CallbackInfo& info);
Napi::Value beginRestore(const Napi::CallbackInfo& info);

Napi::Value tryLockFile(const Napi::CallbackInfo& info);
Napi::Value unlockFileCall(const Napi::CallbackInfo& info);

}  // namespace tessera
