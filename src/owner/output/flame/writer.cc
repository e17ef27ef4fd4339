#include "output/flame/writer.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "output/flame/script.hpp"
#include "output/utf8.hpp"

namespace landtrace::output {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 10;
constexpr double kLetter = 6.6;
constexpr std::size_t kRow = 16;
constexpr std::size_t kTop = 44;
constexpr std::size_t kBottom = 30;
// What is narrower nobody sees. Zoomed into its caller it would be a tenth of a pixel still, or less.
constexpr double kNarrowest = 0.05;
// Ours have 64 frames. Those of a file that somebody has made may be any number, and nodes are nested.
constexpr std::size_t kMostLevels = 1024;

// As the text of an element. What XML has no place for becomes a question mark.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
    }
  }
  return out;
}

// Warm colours, the same for the same name.
std::string color_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return fmt::format("rgb({},{},{})", 205 + hash % 50, 90 + hash / 64 % 130, hash / 8192 % 55);
}

// The beginning that fits; characters of several bytes are not cut.
std::string fitting(std::string_view name, double width) {
  const auto letters = static_cast<std::size_t>(std::max(0.0, (width - 4) / kLetter));
  if (letters < 3) return "";
  if (name.size() <= letters) return std::string(name);
  std::size_t end = letters - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return std::string(name.substr(0, end)) + "\u2026";
}

}  // namespace

void FlameWriter::add(Node& root, std::string_view line, std::uint64_t count) {
  root.count += count;
  Node* node = &root;
  for (std::size_t level = 0; !line.empty(); ++level) {
    if (level == kMostLevels) {
      too_deep_ += count;
      return;
    }
    const std::string_view name = line.substr(0, line.find(';'));
    line.remove_prefix(std::min(name.size() + 1, line.size()));
    node = &node->callees[std::string(name)];
    node->count += count;
  }
}

std::size_t FlameWriter::depth_of(const Node& node) {
  std::size_t deepest = 0;
  for (const auto& [name, callee] : node.callees) deepest = std::max(deepest, depth_of(callee));
  return deepest + 1;
}

void FlameWriter::put_head(std::size_t height) {
  target_.bytes() += fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<style>text {{ font: 11px monospace; pointer-events: none }} .title {{ font-size: 15px }} "
      "#hint {{ pointer-events: auto; cursor: pointer; fill: #555 }} rect.found {{ fill: #c3f }} "
      "g.f {{ cursor: pointer }} g.f:hover rect {{ stroke: #000 }}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fffaf0\"/>\n"
      "<text class=\"title\" x=\"{2}\" y=\"22\">{3}</text>\n"
      "<text id=\"hint\" x=\"{4}\" y=\"22\" text-anchor=\"end\">search: / &#160; back: Esc</text>\n"
      "<text id=\"status\" x=\"{2}\" y=\"{5}\"> </text>\n",
      kWidth, height, kMargin, escaped(title_), kWidth - kMargin, height - 10);
}

void FlameWriter::put(const std::string& name, const Node& node, std::uint64_t begin, std::size_t level) {
  const double unit = (kWidth - 2 * kMargin) / static_cast<double>(std::max<std::uint64_t>(all_, 1));
  const double width = static_cast<double>(node.count) * unit;
  if (width < kNarrowest) return;
  const double x = kMargin + static_cast<double>(begin) * unit;
  const std::size_t y = kTop + (levels_ - 1 - level) * kRow;
  const double part = 100 * static_cast<double>(node.count) / static_cast<double>(std::max<std::uint64_t>(all_, 1));
  fmt::format_to(std::back_inserter(target_.bytes()),
                 "<g class=\"f\"><title>{} ({} event{}, {:.2f} %)</title><rect x=\"{:.3f}\" y=\"{}\" width=\"{:.3f}\" "
                 "height=\"{}\" rx=\"1\" fill=\"{}\"/><text x=\"{:.3f}\" y=\"{}\">{}</text></g>\n",
                 escaped(name), node.count, node.count == 1 ? "" : "s", part, x, y, width, kRow - 1, color_of(name),
                 x + 3, y + 12, escaped(fitting(valid_utf8(name), width)));
  target_.flush_if_full();
  std::uint64_t at = begin;
  for (const auto& [callee, below] : node.callees) {
    put(callee, below, at, level + 1);
    at += below.count;
  }
}

void FlameWriter::end() {
  Node root;
  for (const auto& [line, count] : folded()) add(root, line, count);
  all_ = root.count;
  levels_ = depth_of(root);
  put_head(kTop + levels_ * kRow + kBottom);
  put("all", root, 0, 0);
  target_.bytes() += "<script><![CDATA[";
  target_.bytes() += flame::kScript;
  target_.bytes() += "]]></script>\n</svg>\n";
}

std::string FlameWriter::complaint() const {
  const std::string lost = FoldedWriter::complaint();
  if (too_deep_ == 0) return lost;
  return fmt::format("{}{}stacks of more than {} frames, of which the nearest are not drawn: {}", lost,
                     lost.empty() ? "" : "; ", kMostLevels - 1, too_deep_);
}

}  // namespace landtrace::output
