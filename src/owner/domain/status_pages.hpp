// The pages by which programs for the older ABIs see whether anybody listens to an event: they map them.
//
//   Page::kBits   user_events_status of 6.0 and 6.1
//
//     byte 0                            byte 1
//     +---+---+---+---+---+---+---+---+ +---+----       a bit an event, the lowest of a byte first;
//     | - | 1 | 2 | 3 | 4 | 5 | 6 | 7 | | 8 | …                 1: somebody listens
//     +---+---+---+---+---+---+---+---+ +---+----
//
//   Page::kBytes  user_events_mmap of the 2021 proposal
//
//     +--------+--------+--------+----                  a byte an event: bit 0 for listeners of ours (the proposal
//     | -      | 1      | 2      | …                    gives bit 1 to perf and keeps bit 7 for all else)
//     +--------+--------+--------+----
//
// Place 0 of either is no event's, so that a program has one for its error cases.
//
// A domain that is to outlive its owner has the pages in files beside its journal, and the next owner goes on with
// those. A program that has mapped a page then need not do anything to see who listens from then on; one to whose
// events nobody listens would not know when to do it. Else the pages are the owner's memory alone.
//
// Who writes: the owner, with the domain's lock held. Who reads: programs, each a byte at a time, which orders nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "domain/arrivals.hpp"

namespace landtrace::domain {

enum class Page { kBits, kBytes };

class StatusPages {
 public:
  static constexpr std::size_t kSize = 4096;
  // `Max:` of the status text.
  static constexpr std::uint32_t kBits = kSize * 8;

  static Result<StatusPages> create();
  // Before anything else: from here on the pages are the files PATH.bits and PATH.bytes, cleared. With `go_on` those
  // that an earlier owner has left, if they are nobody's but this user's to write; else new ones.
  Result<void> keep_in(const std::string& path, bool go_on);
  // The files, if they are, go; whoever has mapped them keeps what there is.
  void remove_files();

  // The lowest free place of the page, cleared. EMFILE when the page is full.
  Result<std::uint32_t> take(Page page);
  // This place, which an event had with an earlier owner. False where there is no such place, or it is taken.
  bool take_again(Page page, std::uint32_t place);
  // Clears the place and gives it to whoever comes next. 0 is ignored.
  void give_back(Page page, std::uint32_t place);
  // 0 is ignored.
  void set(Page page, std::uint32_t place, bool on);

  // They change in place and stay where they are for as long as the domain lives.
  [[nodiscard]] const std::byte* bits() const { return sheets_[0].mapping.data(); }
  [[nodiscard]] const std::byte* bytes() const { return sheets_[1].mapping.data(); }
  // The page as a file that can be mapped, and only for reading.
  [[nodiscard]] int fd(Page page) const { return sheet(page).read_only.get(); }

  // Is told of each change, with the offset of the byte that is new, by whoever holds the domain.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void page_changed(Page page, std::size_t offset) = 0;
  };
  void add_watcher(Watcher& watcher) { watchers_.push_back(&watcher); }
  void remove_watcher(const Watcher& watcher) { std::erase(watchers_, &watcher); }
  // Of what watchers bring further. It needs no domain that is held.
  [[nodiscard]] Arrivals& arrivals() const { return *arrivals_; }

 private:
  struct Sheet {
    Mapping mapping;
    Fd read_only;
    std::vector<bool> taken;
    std::size_t lowest = 1;  // no free place is below this one
    std::string path;        // of its file, if it is one
  };
  [[nodiscard]] Sheet& sheet(Page page) { return sheets_[page == Page::kBits ? 0 : 1]; }
  [[nodiscard]] const Sheet& sheet(Page page) const { return sheets_[page == Page::kBits ? 0 : 1]; }

  Sheet sheets_[2];
  std::vector<Watcher*> watchers_;
  std::unique_ptr<Arrivals> arrivals_ = std::make_unique<Arrivals>();
};

}  // namespace landtrace::domain
