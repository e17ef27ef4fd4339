#include "programs/known_objects.hpp"

#include <algorithm>

namespace landtrace::programs {
namespace {

// Of large programs each takes some megabytes.
constexpr std::size_t kMostKnown = 4;

}  // namespace

KnownObjects::One& KnownObjects::at(const Key& key) {
  std::erase_if(known_, [](const One& one) { return one.key.build_id.empty(); });
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const One& one) { return one.key == key; });
  if (found != known_.end()) {
    std::rotate(found, found + 1, known_.end());
    return known_.back();
  }
  if (known_.size() == kMostKnown) known_.erase(known_.begin());
  return known_.emplace_back(One{key, {}, {}});
}

const KnownObjects::One* KnownObjects::find(const Key& key) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const One& one) { return one.key == key; });
  return key.build_id.empty() || found == known_.end() ? nullptr : &*found;
}

bool KnownObjects::has(const Key& key) const {
  const One* const one = find(key);
  return one != nullptr && one->object && one->analysis;
}

std::shared_ptr<code::Analysis> KnownObjects::analysis(const Key& key) const {
  const One* const one = find(key);
  return one == nullptr ? nullptr : one->analysis;
}

void KnownObjects::take(KnownObjects& others) {
  for (One& one : others.known_) {
    One& own = at(one.key);
    if (one.object) own.object = std::move(one.object);
    if (one.analysis) own.analysis = std::move(one.analysis);
  }
  others.known_.clear();
}

Result<std::shared_ptr<const code::Object>> KnownObjects::object(const Key& key, const Read& read) {
  One& one = at(key);
  if (!one.object) {
    LT_TRY(code::Object object, read());
    one.object = std::make_shared<const code::Object>(std::move(object));
  }
  return one.object;
}

Result<std::shared_ptr<code::Analysis>> KnownObjects::analysis(const Key& key, const std::string& path,
                                                               const Read& read) {
  One& one = at(key);
  if (!one.analysis) {
    LT_TRY(code::Object object, read());
    LT_TRY(code::Analysis analysis, code::Analysis::open(std::move(object), path));
    one.analysis = std::make_shared<code::Analysis>(std::move(analysis));
  }
  return one.analysis;
}

}  // namespace landtrace::programs
