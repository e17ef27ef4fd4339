// Reads trace.dat files of versions 6 and 7, ours and trace-cmd's. Nothing in the file is trusted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "output/stack/object_map.hpp"

namespace landtrace::output {

// Not thread-safe.
class TraceDatReader {
 public:
  struct Item {
    std::uint64_t lost = 0;  // events missed on this record's CPU just before it; kLostUnknown: some
    Record record;           // the payload is valid until the next call of next()
  };

  // EBADMSG: not a trace file, or damaged, with the offset; ENOTSUP: compressed, big-endian, 32-bit or a text
  // trace; and what open(2) says. Of a file with several instances the top one is read.
  static Result<TraceDatReader> open(const std::string& path);

  TraceDatReader(TraceDatReader&&) noexcept;
  TraceDatReader& operator=(TraceDatReader&&) noexcept;
  ~TraceDatReader();

  [[nodiscard]] const std::map<std::uint16_t, EventType>& events() const;
  [[nodiscard]] const std::unordered_map<std::int32_t, Task>& tasks() const;
  // On stacks; empty in files of others.
  [[nodiscard]] const std::vector<MappedObject>& objects() const;
  [[nodiscard]] std::uint32_t cpus() const;
  [[nodiscard]] const std::string& clock() const;            // empty: the file does not say
  [[nodiscard]] const std::vector<CpuStats>& stats() const;  // by CPU

  // The next event in the order of time over all CPUs; nothing after the last. An error (EBADMSG, with the
  // offset) ends one CPU: further calls go on with the others.
  Result<std::optional<Item>> next();

 private:
  struct State;
  explicit TraceDatReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace landtrace::output
