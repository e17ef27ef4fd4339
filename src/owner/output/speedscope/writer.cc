#include "output/speedscope/writer.hpp"

#include <fmt/format.h>

#include "output/json/string.hpp"

namespace landtrace::output {

void SpeedscopeWriter::event(const ExportedEvent& event) {
  Thread& thread = threads_[event.record.tid];
  thread.name = fmt::format("{} {}", event.task != nullptr ? event.task->comm : "?", event.record.tid);
  if (event.stack != nullptr) {
    ++thread.stacks[frames_.number(*event.stack)];
  } else {
    ++thread.events[name_of(event.type)];
  }
}

std::size_t SpeedscopeWriter::number_of(const Frame& frame) {
  const auto [known, is_new] = numbers_.try_emplace({frame.file, frame.name}, used_.size());
  if (is_new) used_.push_back(frame);
  return known->second;
}

void SpeedscopeWriter::put_profile(const Thread& thread) {
  std::string samples;
  std::string weights;
  std::uint64_t sum = 0;
  const auto add = [&](const std::vector<std::size_t>& frames, std::uint64_t count) {
    const char* const comma = sum == 0 ? "" : ",";
    samples += fmt::format("{}[{}]", comma, fmt::join(frames, ","));
    weights += fmt::format("{}{}", comma, count);
    sum += count;
  };
  for (const auto& [stack, count] : thread.stacks) {
    const std::vector<Frame> named = frames_.named(stack);
    std::vector<std::size_t> frames;
    for (auto frame = named.rbegin(); frame != named.rend(); ++frame) frames.push_back(number_of(*frame));
    add(frames, count);
  }
  for (const auto& [name, count] : thread.events) add({number_of({name, ""})}, count);
  std::string& out = target_.bytes();
  out += R"({"type":"sampled","name":)";
  json::append_string(out, thread.name);
  out += fmt::format(R"(,"unit":"none","startValue":0,"endValue":{},"samples":[{}],"weights":[{}]}})", sum, samples,
                     weights);
}

void SpeedscopeWriter::end() {
  std::string& out = target_.bytes();
  out += R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"landtrace","profiles":[)";
  bool is_first = true;
  for (const auto& [tid, thread] : threads_) {
    if (!is_first) out += ",\n";
    is_first = false;
    put_profile(thread);
  }
  out += "],\n\"shared\":{\"frames\":[";
  for (std::size_t i = 0; i < used_.size(); ++i) {
    out += i == 0 ? "{\"name\":" : ",\n{\"name\":";
    json::append_string(out, used_[i].name);
    if (!used_[i].file.empty()) {
      out += ",\"file\":";
      json::append_string(out, used_[i].file);
    }
    out += '}';
  }
  out += "]}}\n";
}

}  // namespace landtrace::output
