#include "output/folded/writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace landtrace::output {
namespace {

// A name must not look like two, nor like the end of a line.
std::string one_word(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c == ';' || c < ' '; }, ':');
  return name;
}

}  // namespace

void FoldedWriter::event(const ExportedEvent& event) {
  Seen seen{event.task != nullptr ? event.task->comm : std::to_string(event.record.tid), "", 0};
  if (event.stack != nullptr) {
    seen.stack = frames_.number(*event.stack);
  } else {
    seen.event = name_of(event.type);
  }
  ++counts_[std::move(seen)];
}

// Addresses that differ may be in the same functions.
std::map<std::string, std::uint64_t> FoldedWriter::folded() {
  std::map<std::string, std::uint64_t> lines;
  for (const auto& [seen, count] : counts_) {
    std::string line = one_word(seen.comm);
    if (!seen.event.empty()) {
      line += ';' + one_word(seen.event);
    } else {
      const std::vector<Frame> frames = frames_.named(seen.stack);
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) line += ';' + one_word(frame->name);
    }
    lines[line] += count;
  }
  return lines;
}

void FoldedWriter::checkpoint() {
  // A pipe gets each line once, at the end.
  if (!target_.can_go_back()) return;
  for (const auto& [line, count] : folded()) {
    std::uint64_t& told = told_[line];
    if (count > told) target_.bytes() += fmt::format("{} {}\n", line, count - told);
    told = count;
  }
}

// Until all of the end is in its file, all counts are in the one that there is.
void FoldedWriter::end() {
  if (!told_.empty()) {
    checkpoint();
    target_.begin_again();
  }
  for (const auto& [line, count] : folded()) {
    target_.bytes() += fmt::format("{} {}\n", line, count);
    target_.flush_if_full();
  }
}

}  // namespace landtrace::output
