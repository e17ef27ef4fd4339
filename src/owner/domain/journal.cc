#include "domain/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <sstream>
#include <type_traits>

namespace landtrace::domain {
namespace {

// Keys sort by kind and then by number, so that events come before what refers to them, and all in order.
constexpr char kNextMulti = '0';
constexpr char kEvent = '1';
constexpr char kFile = '2';
constexpr char kFileEvent = '3';
constexpr char kProcess = '4';
constexpr char kWord = '5';

template <typename... Numbers>
std::string key(char kind, Numbers... numbers) {
  std::string text(1, kind);
  [[maybe_unused]] const auto add = [&](std::uint64_t number, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i));
  };
  (add(numbers, sizeof numbers), ...);
  return text;
}

class KeyReader {
 public:
  explicit KeyReader(const std::string& key) : key_(key) {}
  template <typename T>
  T take() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i, ++at_) {
      number = number << 8 | (at_ < key_.size() ? static_cast<unsigned char>(key_[at_]) : 0);
    }
    return static_cast<T>(number);
  }

 private:
  const std::string& key_;
  std::size_t at_ = 1;
};

// Values are these structs as they lie in memory, and what follows them.
template <typename T>
std::string pack(const T& value, std::string_view rest = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(&value), sizeof value).append(rest);
}
template <typename T>
bool unpack(const std::string& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

struct EventValue {
  std::uint32_t uid;
  std::uint32_t flags;
  std::uint32_t status_bit;
  std::uint32_t status_byte;
};
struct FileValue {
  std::uint32_t generation;
  std::uint32_t uid;
  std::uint32_t plain;
  std::uint32_t opener;
  std::uint64_t opener_start;
};
// Behind it; in older journals it is missing.
struct FileKey {
  std::uint64_t key;
};
struct ProcessValue {
  std::uint64_t start;
  std::uint64_t space;
  std::uint32_t uid;
  std::uint32_t gid;
};
struct WordValue {
  std::uint64_t claim;
  std::uint64_t event;
  std::uint64_t since;
};

// What an event's text begins with; no declaration begins with one of these.
constexpr std::string_view kSyntheticMark = "s:";
constexpr std::string_view kEventProbeMark = ":";
constexpr std::string_view kEntryProbeMark = "::";
constexpr std::string_view kReturnProbeMark = ":::";

std::string_view mark_of(event::Flavour flavour) {
  switch (flavour) {
    case event::Flavour::kSynthetic:
      return kSyntheticMark;
    case event::Flavour::kEventProbe:
      return kEventProbeMark;
    case event::Flavour::kEntryProbe:
      return kEntryProbeMark;
    case event::Flavour::kReturnProbe:
      return kReturnProbeMark;
    case event::Flavour::kUser:
      break;
  }
  return {};
}

event::Flavour flavour_of(std::string_view text) {
  if (text.starts_with(kSyntheticMark)) return event::Flavour::kSynthetic;
  if (text.starts_with(kReturnProbeMark)) return event::Flavour::kReturnProbe;
  if (text.starts_with(kEntryProbeMark)) return event::Flavour::kEntryProbe;
  return text.starts_with(kEventProbeMark) ? event::Flavour::kEventProbe : event::Flavour::kUser;
}

void add_event(SavedDomain& domain, const std::string& key, const std::string& value) {
  EventValue fixed;
  if (!unpack(value, fixed)) return;
  const std::string_view rest = std::string_view(value).substr(sizeof fixed);
  const auto end = rest.find('\0');
  if (end == std::string_view::npos) return;
  std::string_view text = rest.substr(end + 1);
  const event::Flavour flavour = flavour_of(text);
  text.remove_prefix(mark_of(flavour).size());
  domain.events.push_back({KeyReader(key).take<std::uint32_t>(), static_cast<std::uint16_t>(fixed.flags), fixed.uid,
                           std::string(rest.substr(0, end)), flavour, std::string(text), fixed.status_bit,
                           fixed.status_byte});
}

void add_file(SavedDomain& domain, const std::string& key, const std::string& value) {
  FileValue v;
  if (!unpack(value, v)) return;
  FileKey file{};
  unpack(value.substr(sizeof v), file);
  domain.files.push_back({KeyReader(key).take<std::uint32_t>(),
                          v.generation,
                          v.uid,
                          v.plain != 0,
                          {v.opener, v.opener_start},
                          {},
                          file.key});
}

// Its file came before it. An index that is missing ends the table.
void add_file_event(SavedDomain& domain, std::map<std::uint32_t, std::size_t>& files, const std::string& key,
                    const std::string& value) {
  if (files.empty()) {
    for (std::size_t i = 0; i < domain.files.size(); ++i) files.emplace(domain.files[i].slot, i);
  }
  KeyReader reader(key);
  const auto found = files.find(reader.take<std::uint32_t>());
  std::uint32_t event;
  if (found == files.end() || !unpack(value, event)) return;
  auto& events = domain.files[found->second].events;
  if (reader.take<std::uint32_t>() == events.size()) events.push_back(event);
}

void add_process(SavedDomain& domain, const std::string& key, const std::string& value) {
  ProcessValue v;
  if (!unpack(value, v)) return;
  domain.processes.push_back({{KeyReader(key).take<std::uint32_t>(), v.start}, {v.uid, v.gid}, v.space, {}});
}

void add_word(SavedDomain& domain, std::map<std::uint32_t, std::size_t>& processes, const std::string& key,
              const std::string& value) {
  if (processes.empty()) {
    for (std::size_t i = 0; i < domain.processes.size(); ++i) processes.emplace(domain.processes[i].id.pid, i);
  }
  KeyReader reader(key);
  const auto found = processes.find(reader.take<std::uint32_t>());
  WordValue v;
  if (found == processes.end() || !unpack(value, v)) return;
  const auto address = reader.take<std::uint64_t>();
  const auto bit = reader.take<std::uint8_t>();
  domain.processes[found->second].words.push_back(
      {{address, bit}, static_cast<std::uint32_t>(v.event), v.claim, v.since});
}

std::string make_header() {
  const auto boot = read_file("/proc/sys/kernel/random/boot_id", 4096);
  struct stat st {};
  const std::uint64_t pids = ::stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
  return "landtrace state 2\nuid " + std::to_string(::geteuid()) + "\npids " + std::to_string(pids) + "\nboot " +
         (boot ? *boot : std::string("?\n"));
}

}  // namespace

ProcessId process_id(std::uint32_t pid) {
  ProcessId id{pid, 0};
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", 1 << 16);
  if (!stat) return id;
  const auto name_end = stat->rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return id;
  std::istringstream fields(stat->substr(name_end + 1));
  const std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
  constexpr std::size_t kState = 0, kThreads = 17, kStart = 19;  // of those behind the name
  if (words.size() <= kStart) return id;
  // One that nobody has waited for is there, and has ended, unless it is only its first thread that has.
  const bool has_ended =
      words[kState] == "X" || (words[kState] == "Z" && words[kThreads].size() == 1 && words[kThreads][0] <= '1');
  if (!has_ended) id.start = std::strtoull(words[kStart].c_str(), nullptr, 10);
  return id;
}

Journal::Journal(const std::string& path) : path_(path), header_(make_header()), log_(path, header_) {}

SavedDomain Journal::saved() const {
  SavedDomain domain;
  std::map<std::uint32_t, std::size_t> files, processes;
  auto [entries, damage] = store::RecordLog::read(path_, header_);
  domain.found = entries.has_value();
  domain.damage = std::move(damage);
  if (!entries) return domain;
  for (const auto& [key, value] : *entries) {
    switch (key.empty() ? '\0' : key[0]) {
      case kNextMulti:
        unpack(value, domain.next_multi);
        break;
      case kEvent:
        add_event(domain, key, value);
        break;
      case kFile:
        add_file(domain, key, value);
        break;
      case kFileEvent:
        add_file_event(domain, files, key, value);
        break;
      case kProcess:
        add_process(domain, key, value);
        break;
      case kWord:
        add_word(domain, processes, key, value);
        break;
      default:
        break;
    }
  }
  return domain;
}

std::string Journal::set_aside() const {
  std::string aside = path_ + ".damaged";
  if (::rename(path_.c_str(), aside.c_str()) != 0) aside.clear();
  return aside;
}

void Journal::event_made(const SavedEvent& event, std::uint64_t next_multi) {
  if (next_multi != 0) log_.put(key(kNextMulti), pack(next_multi));
  std::string texts = event.name + '\0';
  texts.append(mark_of(event.flavour)).append(event.text);
  log_.put(key(kEvent, event.slot),
           pack(EventValue{event.uid, event.flags, event.status_bit, event.status_byte}, texts));
}

void Journal::event_gone(std::uint32_t slot) { log_.erase(key(kEvent, slot)); }

void Journal::file_opened(const SavedFile& file) {
  log_.put(key(kFile, file.slot),
           pack(FileValue{file.generation, file.uid, file.plain ? 1u : 0u, file.opener.pid, file.opener.start},
                pack(FileKey{file.key})));
}

void Journal::file_event(std::uint32_t slot, std::uint32_t index, std::uint32_t event) {
  log_.put(key(kFileEvent, slot, index), pack(event));
}

void Journal::file_closed(std::uint32_t slot) {
  log_.erase(key(kFile, slot));
  log_.erase_all(key(kFileEvent, slot));
}

void Journal::process_known(const SavedProcess& process) {
  log_.put(key(kProcess, process.id.pid),
           pack(ProcessValue{process.id.start, process.space, process.who.uid, process.who.gid}));
}

void Journal::process_gone(std::uint32_t pid) {
  log_.erase(key(kProcess, pid));
  log_.erase_all(key(kWord, pid));
}

void Journal::word_added(std::uint32_t pid, const SavedWord& word) {
  log_.put(key(kWord, pid, word.bit.address, word.bit.bit), pack(WordValue{word.claim, word.event, word.since}));
}

void Journal::word_removed(std::uint32_t pid, EnableBit bit) { log_.erase(key(kWord, pid, bit.address, bit.bit)); }

}  // namespace landtrace::domain
