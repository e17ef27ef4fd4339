// The sums over hosts: of each histogram of each host the newest frame is kept, as bytes, and added up when somebody
// asks. What came twice, late or not at all changes nothing.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fleet/frame.hpp"
#include "fleet/frame_parts.hpp"

namespace landtrace::fleet {

// The sum of an event's histograms.
struct Sum {
  std::string event;
  ipc::HistogramTable table;
  Unpaired unpaired;
  std::vector<Slow> slowest;  // with their hosts, the slowest first; keys are as in rows
  std::uint64_t hosts = 0;
  // Hosts whose histogram has other keys than most, or whose frame makes no sense, or that have sent more than is kept
  // of one, or is added up.
  std::vector<std::string> misfits;
};

class Sums {
 public:
  // That is kept of one host, and that it may take where all events of an order are added up: it cannot take the room
  // of others.
  static constexpr std::size_t kMostHostBytes = 256u << 20;
  explicit Sums(std::size_t most_host_bytes = kMostHostBytes) : most_host_bytes_(most_host_bytes) {}

  enum class Was : std::uint8_t { kNews, kKnown, kOlder, kPart };
  // A frame, or a part of one; kPart: others are missing. EPROTO for what is none, and for one of another histogram
  // than the subject's. ENOSPC: the host has sent as much as is kept of one.
  // `heard_ns`: when it came, for forget_before(), by a clock that is not set.
  Result<Was> add(const std::string& subject, std::string_view bytes, std::uint64_t heard_ns = 0);

  // What is one histogram of one host.
  struct Key {
    std::string order;
    std::string event;
    std::string host;
    std::string boot;
    std::string domain;
    std::uint64_t generation = 0;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // Forgets all that `is_wanted` says no to, and of a histogram that a domain has set up several times all but the
  // newest one.
  void keep_newest(const std::function<bool(const Key&)>& is_wanted);

  // Of an order, an entry for each event. `by`: labels, "host" and "domain" that stand before the keys; a label that a
  // host does not have is "".
  [[nodiscard]] std::vector<Sum> of(const std::string& order, const std::vector<std::string>& by = {}) const;

  // The newest frame of each histogram of an order, event by event. One that makes no sense has no table: `frame` is
  // null then.
  void each_of(
      const std::string& order,
      const std::function<void(const std::string& event, const std::string& host, const Frame* frame)>& take) const;
  // Of each event of an order the keys and values that most hosts have, of as many of those that were heard first.
  [[nodiscard]] std::map<std::string, ipc::HistogramTable> shapes_of(const std::string& order) const;
  // Of which there are frames.
  [[nodiscard]] std::vector<std::string> orders() const;
  // Forgets an order.
  void forget(const std::string& order);

  // Forgets histograms whose newest frame came before this time.
  void forget_before(std::uint64_t heard_ns);

  [[nodiscard]] std::size_t most_host_bytes() const { return most_host_bytes_; }
  [[nodiscard]] std::size_t histograms() const { return newest_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // … and of frames that are not complete.
  [[nodiscard]] std::size_t bytes_of_parts() const { return parts_.bytes(); }

 private:
  struct Newest {
    std::uint64_t sequence = 0;
    std::uint64_t heard_ns = 0;
    std::uint64_t number = 0;  // of the histogram: the one that was heard first has the smallest
    std::size_t cost = 0;      // of memory
    std::string bytes;
  };
  struct Host {
    std::size_t bytes = 0;
    bool is_full = false;  // something of it was not taken
  };

  void forget_if(const std::function<bool(const Key&, const Newest&)>& is_unwanted);
  Result<Was> take(const std::string& subject, std::string_view bytes, std::uint64_t heard_ns);

  std::size_t most_host_bytes_;
  std::map<Key, Newest> newest_;
  std::size_t bytes_ = 0;
  std::uint64_t next_number_ = 0;
  std::map<std::string, Host> hosts_;  // by name
  FrameParts parts_;
};

}  // namespace landtrace::fleet
