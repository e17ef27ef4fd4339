#include "bpf_objects/loading/session.hpp"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "bpf/maps/ring.hpp"
#include "bpf/program.hpp"
#include "client/process.hpp"
#include "ipc/bpf_requests.hpp"
#include "bpf_calls/ask.hpp"
#include "bpf_objects/loading/map_text.hpp"
#include "bpf_objects/loading/section.hpp"
#include "output/visible.hpp"

namespace landtrace::loading {
namespace {

using bpf_calls::Kind;
using ipc::Operation;
using output::Lines;
using output::visible;

void complain(const std::string& text) { std::fputs(fmt::format("landtrace bpf: {}\n", text).c_str(), stderr); }

std::string libbpf_says;

// Only what went wrong, and only if something did: libbpf warns of much that does not matter here.
int keep_warning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  char line[4096];
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  if (length > 0) libbpf_says += line;
  return length;
}

// Codes of libbpf's own, too.
std::string error_text(int code) {
  char text[256] = "";
  ::libbpf_strerror(code, text, sizeof text);
  return text;
}

Result<ipc::Answer> attach_to(const Section& section, std::uint32_t program) {
  if (section.is_event()) {
    std::string names = section.system;
    names += '\0';
    names += section.event;
    names += '\0';
    return client::Process::get().ask({.operation = Operation::kBpfAttach, .a = program, .c = 1}, names);
  }
  return bpf_calls::ask_patiently(
      {.operation = Operation::kBpfAttach,
       .a = program,
       .b = section.is_return ? 1u : 0u,
       .c = section.kind == Section::Kind::kFunction ? ipc::kBpfAtFunction : ipc::kBpfAtPlace},
      section.place);
}

}  // namespace

Session::Session() {
  ::libbpf_set_print(keep_warning);
  ::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
}

bool Session::load(const char* path) {
  if (!client::Process::get().attach()) {
    complain("there is no domain");
    return false;
  }
  data_ = reinterpret_cast<std::byte*>(client::Process::view().data);
  object_.reset(bpf_object__open_file(path, nullptr));
  if (object_ == nullptr) {
    complain(fmt::format("cannot open {}: {}\n{}", path, error_text(errno), libbpf_says));
    return false;
  }
  unsigned wanted = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    const char* const section = bpf_program__section_name(program);
    const bool is_one = parse_section(section).has_value();
    bpf_program__set_autoload(program, is_one);
    wanted += is_one ? 1 : 0;
    if (!is_one) {
      complain(fmt::format(
          "{}: section '{}' is left out: want SEC(\"tracepoint/SYSTEM/EVENT\"), SEC(\"uprobe/PATH:FUNCTION\"), "
          "SEC(\"kprobe/MOD:FUNCTION\") or SEC(\"usdt/PATH:PROVIDER:NAME\")",
          bpf_program__name(program), section));
    }
  }
  // It wants numbers that libbpf's own way of attaching gives.
  if (bpf_object__find_map_by_name(object_.get(), "__bpf_usdt_specs") != nullptr) {
    complain(
        fmt::format("{} uses bpf_usdt_arg(), which does not work here: read the registers of struct pt_regs", path));
  }
  if (wanted == 0) {
    complain(fmt::format("{} has no program for an event or a function", path));
    return false;
  }
  if (!take_lines()) return false;
  if (bpf_object__load(object_.get()) != 0) {
    complain(fmt::format("cannot load {}: {}\n{}", path, error_text(errno), libbpf_says));
    return false;
  }
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object_.get()) {
    if (bpf_map__type(map) != BPF_MAP_TYPE_RINGBUF) continue;
    rings_.push_back({bpf_map__name(map), bpf_calls::Objects::get().find(bpf_map__fd(map), Kind::kMap)});
  }
  return true;
}

bool Session::take_lines() {
  const auto answer = client::Process::get().ask({.operation = Operation::kBpfLines});
  if (!answer || answer->text.size() != sizeof lines_) {
    complain("the domain runs no eBPF programs" + (answer ? std::string() : ": " + answer.error().message));
    return false;
  }
  std::memcpy(&lines_, answer->text.data(), sizeof lines_);
  return true;
}

bool Session::attach() {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    if (!bpf_program__autoload(program)) continue;
    const auto loaded = bpf_calls::Objects::get().find(bpf_program__fd(program), Kind::kProgram);
    if (loaded == nullptr) continue;
    const auto section = parse_section(bpf_program__section_name(program));
    if (!section) continue;
    const auto attached = attach_to(*section, loaded->number);
    if (attached) {
      links_.insert(attached->reply.a);
      // What the owner calls a probe that a link has for itself.
      const char* const group = section->kind == Section::Kind::kFunction ? "kprobes" : "uprobes";
      attached_ += section->is_event() ? section->text() : fmt::format("@{}:bpf_{}", group, attached->reply.a);
      attached_ += '\0';
      continue;
    }
    complain(fmt::format(
        "{} cannot be attached to {}: {}", bpf_program__name(program), section->text(),
        attached.error().message.empty() ? std::strerror(attached.error().code) : attached.error().message));
    return false;
  }
  return true;
}

void Session::show_lines() {
  bpf::RecordRing(data_, lines_).consume([](const std::byte* data, std::uint32_t size) {
    if (size < sizeof(bpf::LineHeader)) return;
    bpf::LineHeader header;
    std::memcpy(&header, data, sizeof header);
    std::string text(reinterpret_cast<const char*>(data) + sizeof header, size - sizeof header);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::string comm(header.comm, ::strnlen(header.comm, sizeof header.comm));
    const std::string line = fmt::format(
        "{:>16}-{:<7} [{:03}] {}.{:06}: bpf_trace_printk: {}\n", visible(comm, Lines::kNone), header.pid, header.cpu,
        header.time_ns / 1'000'000'000, header.time_ns / 1000 % 1'000'000, visible(text, Lines::kNone));
    std::fputs(line.c_str(), stdout);
  });
}

void Session::show_records() {
  for (const Ring& ring : rings_) {
    if (ring.map == nullptr) continue;
    const btf* const types = bpf_object__btf(object_.get());
    bpf::RecordRing(ring.map->data, ring.map->layout).consume([&](const std::byte* data, std::uint32_t size) {
      const std::string json = record_json(types, data, size);
      std::fputs(fmt::format("{{\"map\":\"{}\",\"data\":{}}}\n", ring.name, json).c_str(), stdout);
    });
  }
}

bool Session::show_new() {
  show_lines();
  show_records();
  return std::fflush(stdout) == 0;
}

std::vector<std::pair<std::string, std::string>> Session::map_texts() const {
  std::vector<std::pair<std::string, std::string>> texts;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object_.get()) {
    if (bpf_map__is_internal(map)) continue;
    const auto found = bpf_calls::Objects::get().find(bpf_map__fd(map), Kind::kMap);
    if (found == nullptr || !found->layout.has_values()) continue;
    texts.emplace_back(bpf_map__name(map), map_text(*found, bpf_map__name(map), bpf_object__btf(object_.get()),
                                                    bpf_map__btf_key_type_id(map), bpf_map__btf_value_type_id(map)));
  }
  return texts;
}

void Session::show_maps() {
  for (const auto& [name, text] : map_texts()) std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

bool Session::show_changed_maps() {
  bool is_first = true;
  for (auto& [name, text] : map_texts()) {
    std::string& shown = shown_[name];
    if (text == shown) continue;
    if (std::exchange(is_first, false)) {
      const std::time_t now = std::time(nullptr);
      std::tm local{};
      ::localtime_r(&now, &local);
      char time[16] = "";
      std::strftime(time, sizeof time, "%T", &local);
      std::fputs(fmt::format("-- {}\n", time).c_str(), stdout);
    }
    std::fputs(text.c_str(), stdout);
    shown = std::move(text);
  }
  return std::fflush(stdout) == 0;
}

// Of all links that the owner tells of: those of others are theirs to look at.
bool Session::complain_of_links() {
  bool found = false;
  std::uint64_t from = 0;
  do {
    const auto answer = client::Process::get().ask({.operation = Operation::kBpfList, .a = from});
    if (!answer) break;
    for (std::string_view rest = answer->text; !rest.empty();) {
      const std::string_view head = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), head.size() + 1));
      const std::string_view what = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), what.size() + 1));
      std::uint64_t number = 0;
      std::from_chars(head.data(), head.data() + head.size(), number);
      if (!links_.contains(number) || what.find(" looks at ") == std::string_view::npos) continue;
      complain(std::string(what));
      found = true;
    }
    from = answer->reply.a;
  } while (from != 0);
  return found;
}

}  // namespace landtrace::loading
