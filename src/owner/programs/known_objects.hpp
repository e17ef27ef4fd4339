// Objects that were read once for many questions, by their build ids. For one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "code/analysis.hpp"

namespace landtrace::programs {

class KnownObjects {
 public:
  // Those without a build id ("") are read each time. `uid`: who can read it, and the debug file that it may have.
  struct Key {
    std::string build_id;
    std::uint32_t uid = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  using Read = std::function<Result<code::Object>()>;
  Result<std::shared_ptr<const code::Object>> object(const Key& key, const Read& read);
  Result<std::shared_ptr<code::Analysis>> analysis(const Key& key, const std::string& path, const Read& read);
  // Both are known.
  [[nodiscard]] bool has(const Key& key) const;
  // nullptr: the object is not analysed yet.
  [[nodiscard]] std::shared_ptr<code::Analysis> analysis(const Key& key) const;
  // What others know is known here, too.
  void take(KnownObjects& others);

 private:
  struct One {
    Key key;
    std::shared_ptr<const code::Object> object;
    std::shared_ptr<code::Analysis> analysis;
  };
  One& at(const Key& key);
  [[nodiscard]] const One* find(const Key& key) const;

  std::vector<One> known_;  // the one that was asked about last is the last
};

}  // namespace landtrace::programs
