// An open user_events_data: its writes are the data plane, and pass by the node.
#pragma once

#include <optional>

#include "domain/data_requests.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

// What File::open() of a file with is_event_data() gives. Whoever adapts the tree hands what is written to it to
// domain::Proxy::write() with this id, without holding the domain.
class EventDataFile : public OpenFile {
 public:
  [[nodiscard]] virtual domain::FileId id() const = 0;
  // An ioctl, for who calls it without holding the domain. nullopt: ioctl() is to carry it out.
  virtual std::optional<domain::DataCall> call(const Caller&, unsigned, std::uint64_t) { return std::nullopt; }
};

}  // namespace landtrace::tracefs
