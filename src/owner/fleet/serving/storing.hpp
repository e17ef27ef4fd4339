// From the stream into a store. All collectors of a store share one durable consumer of the stream: each frame goes to
// one of them, and to another one if it is not acknowledged in time. It is acknowledged when the store has its row, so
// that a collector that is killed between the two leaves a row that comes again, and is the same one.
//
// Parts of a frame may go to several collectors. Who gets its last bytes reads all of them from the stream.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/frame_parts.hpp"
#include "fleet/host_time.hpp"
#include "fleet/serving/clickhouse.hpp"
#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

class Storing {
 public:
  // The references have to stay.
  Storing(const Transport& transport, const CollectOptions& options, StoreAddress address, int stop);

  // Until `stop` can be read. While the store is away, it waits for it.
  Result<void> run();

  // Whether the store has all that stands in the stream up to there.
  [[nodiscard]] static Result<bool> has_all(const Transport& transport, const StoreAddress& address,
                                            Transport::Sequence sequence);

 private:
  Result<void> subscribe();
  // More of them, for a second at most. False: it is to stop.
  bool gather();
  void take(natsMsg* made);
  // A last part whose frame could not be put together, for this reason.
  void leave(natsMsg* made, const std::string& subject, int why);
  // The frame whose last part this is, from the stream. nullopt: this is another part, or newer ones have taken the
  // place of the others. EAGAIN: they are not there yet, or the host has to wait for its turn. EPROTO for what makes no
  // sense. Else nobody says what is there.
  Result<std::optional<std::string>> frame_of_part(const std::string& subject, std::string_view part);
  [[nodiscard]] Result<std::optional<std::string>> frame_of_last(const std::string& subject,
                                                                 const FramePart& last) const;
  // A last part, for others of its frame.
  bool may_wait(const std::string& subject);
  void waits_no_more(const std::string& subject);
  void insert();
  bool wait_for_store();
  void drop_old();
  [[nodiscard]] bool is_stopped(int wait_ms) const;

  const Transport& transport_;
  const CollectOptions& options_;
  ClickHouse store_;
  const std::string durable_;
  const int stop_;
  Subscription subscription_;
  std::vector<Message> messages_;  // whose rows are in `rows_`
  std::string rows_;
  std::map<std::string, std::map<std::string, std::uint64_t>> waiting_;  // by host and subject, since when
  HostTime time_;                                                        // that looking for parts takes
  std::uint64_t next_drop_ns_ = 0;
};

}  // namespace landtrace::fleet
