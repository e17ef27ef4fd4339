// A flame graph in one SVG file, which a browser opens from disk: each frame as wide as its part of all events, callers
// below. A click on a frame makes it fill the width; / searches. Nothing is loaded from elsewhere, and what programs
// call themselves and their functions is text and nothing else.
#pragma once

#include <map>
#include <string>

#include "output/folded/writer.hpp"

namespace landtrace::output {

class FlameWriter : public FoldedWriter {
 public:
  // `title` stands above it.
  FlameWriter(Target& target, std::string title) : FoldedWriter(target), title_(std::move(title)) {}

  // A picture is of all.
  void checkpoint() override {}
  void end() override;
  [[nodiscard]] std::string complaint() const override;

 private:
  struct Node {
    std::uint64_t count = 0;
    std::map<std::string, Node> callees;
  };
  void add(Node& root, std::string_view line, std::uint64_t count);
  static std::size_t depth_of(const Node& node);
  void put_head(std::size_t height);
  void put(const std::string& name, const Node& node, std::uint64_t begin, std::size_t level);

  std::string title_;
  std::uint64_t all_ = 0;  // events
  std::size_t levels_ = 0;
  std::uint64_t too_deep_ = 0;  // events whose stacks are cut
};

}  // namespace landtrace::output
