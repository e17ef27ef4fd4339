// Prints the events that a recording has by now: blocks of them become lines in several threads, and are written in
// their order.
//
//    thread 1   | take 1 | lines of 1      | write 1 | take 3 | lines of 3     |  write 3 | …
//    thread 2            | take 2 | lines of 2       | write 2  | take 4 | lines of 4     | write 4 | …
//
// One thread at a time reads and merges (take), and one writes. Each has one block at a time: there are never more
// blocks in memory than threads. The first thread is the caller's; another one is begun where it finds that nobody else
// is reading, so a short recording has none.
#pragma once

#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cli/lines/line_writer.hpp"
#include "cli/report/tally.hpp"
#include "cli/report/turns.hpp"
#include "cli/selection.hpp"
#include "cli/text_output.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::cli {

class BlockPrinter {
 public:
  // All of them must outlive it. Nobody else uses them meanwhile.
  struct Parts {
    output::TraceDatReader& reader;
    Selection& selection;
    LineWriter& lines;
    TextOutput& out;
    Tally& tally;             // to which is added
    const std::string& file;  // for messages
  };
  struct Options {
    std::uint64_t limit = ~0ull;  // events that the tally may come to
    bool count_only = false;
    bool is_since_another = false;  // times are since another event's …
    bool is_delta = false;          // … which is the one before
    std::size_t threads = 1;        // at most
  };

  BlockPrinter(Parts parts, Options options);

  enum class End {
    kOfEvents,  // all that the file has was printed
    kOfLimit,
    kOfReaders,  // nobody reads on, or writing failed
  };
  // Prints all there is. What is damaged ends one CPU and is told behind the events before it.
  End print();
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  using Item = output::TraceDatReader::Item;
  // What of an event is printed.
  struct Chosen {
    const Item* item;
    const output::Task* who;
    bool is_lost_wanted;  // that some are missing before it
    bool is_wanted;
  };
  struct Portion {
    std::uint64_t number = 0;
    output::TraceDatReader::Block block;
    std::optional<Error> error = {};   // that comes behind it
    std::vector<Chosen> chosen = {};   // where what is wanted depends on the events before
    std::optional<std::uint64_t> origin_ns = {};  // since when its times are
  };
  // Which tasks were asked for lately: looking up each event's would be half of reading it.
  class Tasks {
   public:
    explicit Tasks(const std::unordered_map<std::int32_t, output::Task>& all) : all_(all) {}
    const output::Task* find(std::int32_t tid) {
      Known& known = known_[static_cast<std::uint32_t>(tid) % kKnown];
      if (!known.is_there || known.tid != tid) look_up(known, tid);
      return known.task;
    }

   private:
    static constexpr std::size_t kKnown = 64;
    struct Known {
      std::int32_t tid = 0;
      bool is_there = false;
      const output::Task* task = nullptr;
    };
    void look_up(Known& known, std::int32_t tid) const;

    const std::unordered_map<std::int32_t, output::Task>& all_;
    std::array<Known, kKnown> known_{};
  };
  struct Worker {
    Worker(LineWriter& line_writer, const output::TraceDatReader& reader);

    LineWriter& lines;
    Tasks tasks;
    Tally tally = {};
    Portion portion = {};
    event::TextBuffer text = {};
    bool has_turn = false;
    bool can_be_helped = false;  // nobody else was reading, and there is more to be read
  };
  struct Helper {
    Helper(const LineWriter& line_writer, const output::TraceDatReader& reader)
        : lines(line_writer), worker(lines, reader) {}

    LineWriter lines;
    Worker worker;
    std::thread thread = {};
  };

  void work(Worker& worker, bool begins_others);
  bool take(Worker& worker);
  void choose_in_order(Portion& portion);
  template <typename Take>
  bool choose(const std::vector<Item>& items, Tasks& tasks, Tally& tally, const Take& take);
  bool make_lines(Worker& worker);
  bool print_chosen(Worker& worker, const Chosen& chosen);
  bool hand_on(Worker& worker);
  bool write(Worker& worker);
  void begin_another();
  void stop();

  Parts parts_;
  Options options_;
  const Selection& selection_;
  bool is_in_order_;  // what is wanted, and how its time is printed, depends on the events before
  std::vector<const output::EventType*> types_;  // by id
  Turns turns_;

  std::mutex source_;  // guards what follows
  Tasks tasks_;
  std::uint64_t taken_ = 0;
  bool is_over_ = false;
  End end_ = End::kOfEvents;
  std::optional<std::uint64_t> origin_ns_;

  bool is_damaged_ = false;  // set by whoever's turn it is
  std::deque<Helper> helpers_;
};

}  // namespace landtrace::cli
