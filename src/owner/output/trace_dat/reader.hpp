// Reads trace.dat files of versions 6 and 7, ours and trace-cmd's, and recordings of ours that are not finished:
// while they are recorded, and after their recorder was killed. Nothing in the files is trusted.
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

  // Many of them, which are valid until the block is filled again, or goes. It may go before the reader or after it,
  // and be read in another thread meanwhile.
  class Block {
   public:
    [[nodiscard]] const std::vector<Item>& items() const { return items_; }

   private:
    friend class TraceDatReader;
    std::vector<Item> items_;
    std::vector<std::shared_ptr<std::byte[]>> pages_;  // which have the payloads
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
  // What to add to times for nanoseconds since 1970, as it was when the recording began; none: the file does not say.
  [[nodiscard]] std::optional<std::int64_t> wall_offset_ns() const;

  // Whether the recording was not finished when it was opened: what next() gives is what had come by then.
  [[nodiscard]] bool is_unfinished() const;
  // Where what it says of itself is damaged: of some events' types, threads or objects nothing is known.
  [[nodiscard]] std::optional<std::uint64_t> damaged_at() const;
  // Whether its recorder lives.
  [[nodiscard]] bool is_being_written() const;
  // Whether its recorder has ended without finishing it. Neither of the two: it has been finished since.
  [[nodiscard]] bool was_left() const;

  // From here on next() keeps events back while earlier ones of other CPUs may come; look_again() says when to go on.
  void follow();
  // After next() has given nothing: looks what has come since. The lists above may have grown.
  enum class Growth {
    kGrows,     // next() may give more, now or later
    kLeft,      // its recorder has ended without finishing it, and next() has given all that there is
    kComplete,  // it is finished; next() gives the rest
  };
  // What has been finished and has become PATH.old since is read on from there. ESTALE: another recording has its name,
  // and it is not PATH.old; what was lost is not counted then.
  Result<Growth> look_again();

  // The next event in the order of time over all CPUs; nothing after the last. An error (EBADMSG, with the
  // offset) ends one CPU: further calls go on with the others.
  Result<std::optional<Item>> next();
  // As many calls of next() as it takes to fill the block with `most` events, in place of what was in it. False: there
  // is nothing after those in it, as when next() gives nothing. An error comes after the events in the block.
  Result<bool> next(Block& block, std::size_t most);

 private:
  struct State;
  explicit TraceDatReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace landtrace::output
