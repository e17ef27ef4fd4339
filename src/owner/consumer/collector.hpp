// Empties the rings of a session into a sink.
#pragma once

#include "buffer/event_table.hpp"
#include "arch/clock_converter.hpp"
#include "consumer/session.hpp"
#include "consumer/sink.hpp"
#include "buffer/stream.hpp"
#include "buffer/mapped_objects.hpp"
#include "buffer/task_names.hpp"

namespace landtrace::consumer {

// What became of the events so far: those that were emitted are the sum of the first four.
struct Totals {
  std::uint64_t events = 0;       // given to the sink
  std::uint64_t overwritten = 0;  // by newer ones, before they were read
  std::uint64_t discarded = 0;    // no room in the ring
  std::uint64_t placeless = 0;    // their thread found no place in the domain
  std::uint64_t corrupt = 0;      // places where a ring held what no writer of ours leaves
  std::uint64_t waiting = 0;      // in the rings, not read yet
};

// One thread at a time. The view, the session and the sink must outlive it.
class Collector {
 public:
  Collector(DomainView& view, Session& session, Sink& sink);

  // One round: takes what the rings hold, up to a part of their size, and makes room. True when more is
  // waiting. EPIPE when the owner is gone; what the rings hold can be read all the same.
  Result<bool> drain();

  // For a session that overwrites: keeps names and clocks up to date without reading.
  Result<void> look();

  // Of a session that overwrites: gives `sink` what the rings hold at this moment, which stays there, and nobody waits
  // for that. CPU after CPU, each in the order of time; then tasks and objects. What is overwritten meanwhile is told
  // as lost. Returns the moment, in the time of records. EPIPE as drain().
  Result<std::uint64_t> copy_to(Sink& sink);

  // The end: stops the session and takes everything that is left. An error is that of the connection;
  // everything is read nevertheless.
  Result<void> finish();

  [[nodiscard]] Totals totals() const;
  [[nodiscard]] std::uint32_t cpus() const { return static_cast<std::uint32_t>(streams_.size()); }
  [[nodiscard]] std::size_t processes() const { return tasks_.processes(); }
  // The events that have been there so far, also those that are gone again.
  [[nodiscard]] const std::deque<output::EventType>& types() const { return types_.types(); }

 private:
  Result<void> prepare();
  void add_new_users();
  [[nodiscard]] std::uint64_t placeless(std::size_t user) const;
  void announce_types();
  void announce_objects();
  bool drain_streams(std::uint64_t horizon);
  struct Copy {
    buffer::Stream stream;               // of readers of its own, from the oldest record on
    std::vector<std::uint64_t> written;  // of each of its rings, when it was asked for
  };
  void copy_cpu(std::uint32_t cpu, Copy& copy, std::uint64_t horizon, Sink& sink);
  void deliver(std::uint32_t cpu, buffer::RingCursor& cursor);
  void tell_what_is_outstanding();
  Result<void> publish_positions();

  DomainView& view_;
  Session& session_;
  Sink& sink_;
  arch::ClockConverter clock_;
  std::uint64_t last_sample_ns_ = 0;
  buffer::EventTable types_;
  std::size_t types_announced_ = 0;
  buffer::TaskNames tasks_;
  std::vector<buffer::MappedObjects> objects_;         // by user
  std::vector<buffer::Stream> streams_;                // by CPU
  std::vector<std::vector<std::uint32_t>> rings_;      // by CPU and cursor of its stream: the ring's number
  std::vector<std::uint64_t> delivered_ns_;            // the time of the newest event, by CPU
  std::vector<Outstanding> outstanding_;               // as the sink was told last, likewise
  std::vector<std::uint64_t> placeless_before_;        // by user
  std::vector<std::vector<std::uint64_t>> published_;  // by user and ring
  std::vector<ipc::ConsumedPosition> positions_;
  std::uint64_t events_ = 0;
  std::uint64_t unknown_ = 0;  // records whose event never was
};

}  // namespace landtrace::consumer
