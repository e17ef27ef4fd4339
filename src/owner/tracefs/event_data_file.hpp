// An open user_events_data. Its writes are the data plane and do not go through the node.
#pragma once

#include <optional>

#include "domain/data_call.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

// File::open() of a file with is_event_data() returns one. The adapter (FUSE) hands what is written to it to
// domain::Proxy::write() with this id, without holding the domain.
class EventDataFile : public OpenFile {
 public:
  [[nodiscard]] virtual domain::FileId id() const = 0;
  // An ioctl that the caller carries out without holding the domain. nullopt: call ioctl().
  virtual std::optional<domain::DataCall> call(const Caller&, unsigned, std::uint64_t) { return std::nullopt; }
};

}  // namespace landtrace::tracefs
