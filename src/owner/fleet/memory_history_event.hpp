// What a collector's memory has of one event: the histograms of its hosts, what each counted in each minute, and what
// all of them did together.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "fleet/frame_rows.hpp"
#include "fleet/memory_history.hpp"
#include "fleet/row_key.hpp"

namespace landtrace::fleet {

// Rows by their places in an event's table of keys, ascending: how much further the place is, the hits, each value.
class PlacedRows {
 public:
  void add(std::uint32_t place, const std::uint64_t* numbers, std::size_t width) {
    append(place - last_);
    last_ = place;
    for (std::size_t i = 0; i < width; ++i) append(numbers[i]);
  }
  // Without the room that it grew by: that is not counted.
  [[nodiscard]] std::string take() { return std::string(std::string_view(bytes_)); }

  // One row after the other.
  class Cursor {
   public:
    Cursor(const std::string& rows, std::size_t width, std::vector<std::uint64_t>& numbers)
        : at_(rows.data()), end_(at_ + rows.size()), numbers_(numbers) {
      numbers_.resize(width);
    }
    // False: that was the last one.
    bool next() {
      if (at_ == end_) return false;
      place_ += static_cast<std::uint32_t>(PlacedRows::next(at_));
      for (std::uint64_t& number : numbers_) number = PlacedRows::next(at_);
      return true;
    }
    [[nodiscard]] std::uint32_t place() const { return place_; }

   private:
    const char* at_;
    const char* const end_;
    std::uint32_t place_ = 0;
    std::vector<std::uint64_t>& numbers_;
  };

  // `take` is given each place and the row's numbers, which are kept in `numbers`.
  template <typename Take>
  static void for_each(const std::string& rows, std::size_t width, std::vector<std::uint64_t>& numbers,
                       const Take& take) {
    for (Cursor cursor(rows, width, numbers); cursor.next();) take(cursor.place(), numbers.data());
  }

 private:
  void append(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }
  static std::uint64_t next(const char*& at) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at++);
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
  }

  std::string bytes_;
  std::uint32_t last_ = 0;
};

struct MemoryHistory::Identity {
  std::string host;
  std::string domain;
  std::string boot;
  std::uint64_t generation = 0;

  friend auto operator<=>(const Identity&, const Identity&) = default;
};

struct MemoryHistory::Host {
  std::size_t own = 0;                          // bytes of what stands here
  std::size_t bytes = 0;                        // … and of all that nobody else needs
  Minute reaches = 0;                           // what it counted before was dropped
  std::map<std::string, Minute> left_out = {};  // … of these orders

  [[nodiscard]] Minute reach_of(const std::string& order) const;
};

// What was counted in a minute.
struct MemoryHistory::Change {
  Minute minute = 0;
  SlotTables::Totals totals;
  std::string rows;

  [[nodiscard]] std::size_t bytes() const { return sizeof *this + rows.size(); }
};

struct MemoryHistory::Series {
  Host* host = nullptr;
  std::size_t cost = 0;  // of what is always there
  std::string labels;
  std::uint64_t sequence = 0;
  Minute minute = 0;
  SlotTables::Totals totals;  // of the newest frame, but for those of its table before it is folded
  std::string newest;         // that is not folded; "": it is
  bool is_misfit = false;

  SlotTables::Totals folded;  // all that was counted by the last fold
  std::string rows;
  bool begins_late = false;  // its first frame did not come
  // What was counted before the first frame that is known here.
  std::optional<Change> first;
  std::deque<Change> changes;

  // What no minute has.
  [[nodiscard]] std::size_t standing() const { return cost + labels.size() + newest.size() + rows.size(); }
};

// Of one minute. Its rows stand in several strings, each less than half as long as the one before it, so that each row
// is moved a few times only. Together they take no more than those that were added: who adds little cannot make them
// large.
struct MemoryHistory::Total {
  SlotTables::Totals totals;
  std::vector<std::string> rows;
  std::size_t cost = 0;
  Host* owner = nullptr;  // whose it counts as: the event's

  [[nodiscard]] std::size_t bytes() const;
};

// Rows of numbers: hits and values, as wide as the event's.
struct MemoryHistory::Event {
  struct Key {
    std::string text;
    std::uint64_t step = 0;
    std::size_t cost = 0;
    Host* owner = nullptr;  // the only one that has it; nullptr: several have
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::uint64_t number = 0;  // the first has the smallest
  ipc::HistogramTable shape;
  std::size_t width = 1;
  std::size_t cost = 0;   // of its names, in both forms
  Host* owner = nullptr;  // the only one that has histograms in it; nullptr: several have
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> places;
  std::vector<Key> keys;  // by place
  std::map<Identity, Series> series;
  std::map<Minute, Total> minutes;
  std::uint64_t oldest_ns = ~0ull;
  std::uint64_t newest_ns = 0;

  std::size_t key_bytes = 0;  // of `places`, `keys` and `scratch`

  std::vector<std::uint64_t> scratch;  // by place
  std::vector<std::uint64_t> numbers;

  Result<std::uint32_t> place_of(std::string_view key, Host& host);
  // A row to another one of the same key, which has no hits as long as there is none.
  void add(std::uint64_t* to, const std::uint64_t* row) const;
  void add(Total& total, const std::string& rows);
  [[nodiscard]] std::string merged(const std::string& a, const std::string& b) const;
};

}  // namespace landtrace::fleet
