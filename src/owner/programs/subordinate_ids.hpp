// User ids that an ordinary user may take: for containers the system gives each some ten thousand of them (subuid(5)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace landtrace::programs {

class SubordinateIds {
 public:
  static constexpr const char* kPath = "/etc/subuid";

  // As the file has them now. Where there is none, nobody has any.
  static SubordinateIds read(const std::string& path);
  // Whose user id it is: a name, or a number. "": nobody's.
  [[nodiscard]] std::string holder_of(std::uint32_t uid) const;

 private:
  struct Range {
    std::string holder;
    std::uint64_t first;
    std::uint64_t count;
  };
  std::vector<Range> ranges_;
};

}  // namespace landtrace::programs
