// What `landtrace-fleet follow` writes: what happens in a fleet, one record behind the other.
//
//   u8 kind | u32 size of the name | u32 size of the bytes | name | bytes      in the machine's order
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::fleet {

struct FeedRecord {
  enum class Kind : char {
    kConnected = 'C',  // what there is comes from here on
    kAway = 'A',       // nobody answers; the bytes say who
    kStatus = 'S',     // of a host: a subject, and what came under it
    kOrder = 'O',      // an order's id, and the order as JSON
    kGone = 'G',       // the id of one that has gone
    kFrame = 'F',      // of a histogram: a subject, and what came under it
  };
  Kind kind = Kind::kAway;
  std::string name = {};
  std::string bytes = {};

  friend bool operator==(const FeedRecord&, const FeedRecord&) = default;
};

std::string encode(const FeedRecord& record);

// Takes records apart that come in pieces.
class FeedReader {
 public:
  void add(std::string_view bytes);
  // nullopt: the next one is not whole yet. EPROTO: that is no record, and nothing behind it can be read.
  Result<std::optional<FeedRecord>> next();

 private:
  std::string waiting_;
  std::size_t taken_ = 0;  // of it
};

}  // namespace landtrace::fleet
