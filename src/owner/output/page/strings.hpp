// The page's texts: each stands once in it, before its first use, and goes by its number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace landtrace::output::page {

class Strings {
 public:
  static constexpr std::uint32_t kNone = 0;

  // Never kNone.
  std::uint32_t number(std::string_view text);

  // Those that were new since the last time, in the order of their numbers: how many, and each with its length.
  [[nodiscard]] bool has_new() const { return new_count_ > 0; }
  void append_new(std::string& out);

 private:
  // When so much is known it is forgotten: texts that come again have another number then.
  static constexpr std::size_t kMostBytes = 16 << 20;
  static constexpr std::size_t kMostTexts = 1 << 18;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
  std::size_t known_bytes_ = 0;
  std::uint32_t count_ = 0;
  std::string new_;  // with their lengths
  std::size_t new_count_ = 0;
};

}  // namespace landtrace::output::page
