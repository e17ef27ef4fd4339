#include "tracefs/test_session.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <regex>
#include <sstream>

#include "support/transcript.hpp"

namespace landtrace::tracefs {
namespace {

std::string answer(const Error& error) { return fmt::format("-{}", ::strerrorname_np(error.code)); }

template <typename T>
std::string answer(const Result<T>& result) {
  return result ? "ok" : answer(result.error());
}

std::string joined(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text.empty() ? "(empty)" : text;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

Caller TestSession::caller() { return {static_cast<std::uint32_t>(::syscall(SYS_gettid)), {::getuid(), ::getgid()}}; }

std::string TestSession::Options::get(const std::string& name, const std::string& otherwise) const {
  const auto found = named.find(name);
  return found == named.end() ? otherwise : found->second;
}

unsigned TestSession::Options::number(const std::string& name, unsigned otherwise) const {
  return static_cast<unsigned>(std::stoul(get(name, std::to_string(otherwise))));
}

TestSession::Options TestSession::options_of(const std::vector<std::string>& command) {
  static const std::regex kNamed("(fd|flags|bit|size|struct|addr)=(.*)");
  Options options;
  for (std::size_t i = 1; i < command.size(); ++i) {
    std::smatch match;
    if (std::regex_match(command[i], match, kNamed)) {
      options.named[match[1]] = match[2];
    } else {
      options.words.push_back(support::unescape(command[i]));
    }
  }
  return options;
}

Result<OpenUserEventsData*> TestSession::data_file(const std::string& name) {
  auto& file = files_[name];
  if (!file) {
    LT_TRY(const auto node, tree_.find("user_events_data"));
    LT_TRY(file, node->file()->open(caller(), O_RDWR));
  }
  return static_cast<OpenUserEventsData*>(file.get());
}

void TestSession::clean() {
  for (const programs::EnableBit bit : bits_) {
    std::ignore = domain_->enable_words().remove(static_cast<std::uint32_t>(::getpid()), caller().who, bit);
  }
  bits_.clear();
  registrations_.clear();
  files_.clear();
  words_.clear();
  std::vector<std::string> folders;  // an event may go with another's trigger
  for (const domain::Event* const event : domain_->events().all()) folders.push_back(event->system + "/" + event->name);
  std::reverse(folders.begin(), folders.end());  // a trigger cannot be named any more once its onmatch() event is gone
  for (int round = 0; round < 2; ++round) {      // a histogram stays while another uses its variables
    for (const std::string& folder : folders) remove_triggers("events/" + folder + "/trigger");
    remove_triggers("events/ftrace/print/trigger");
  }
  const auto instances = *(*tree_.find("instances"))->folder()->list();
  for (const auto& entry : instances) make_folder("instances/" + entry.name, false);
  // A probe that is listened to does not go.
  for (const domain::Event* const event : domain_->events().all()) {
    if (event->is_user_event() || event->system == "synthetic") continue;
    put("events/" + event->system + "/" + event->name + "/enable", "0");
  }
  for (const char* const file :
       {"set_event", "set_event_pid", "set_event_notrace_pid", "dynamic_events", "error_log", "trace"}) {
    put(file, "");
  }
  put("snapshot", "0");
  put("tracing_on", "1");
  put("options/overwrite", "1");
}

void TestSession::remove_triggers(const std::string& file) {
  std::istringstream lines(cat(file));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) append(file, "!" + line.substr(0, line.rfind(" [")));  // [active], [paused]
  }
}

std::string TestSession::reg(const Options& options) {
  const std::string file = options.get("fd", "f0");
  const auto data = data_file(file);
  if (!data) return answer(data.error());
  const auto address = reinterpret_cast<std::uint64_t>(&word(options.words[0]));
  const programs::EnableBit bit{address, static_cast<std::uint8_t>(options.number("bit", 0))};
  bits_.push_back(bit);
  const auto index =
      domain_->registrar().register_for_file((*data)->id(), static_cast<std::uint32_t>(::getpid()), caller().who,
                                             {options.words[1], static_cast<std::uint16_t>(options.number("flags", 0)),
                                              bit, static_cast<std::uint8_t>(options.number("size", 4))});
  if (!index) return answer(index.error());
  registrations_[options.words[0]] = {file, *index};
  return fmt::format("ok index={}", *index);
}

std::string TestSession::unreg(const Options& options) {
  const auto address = reinterpret_cast<std::uint64_t>(&word(options.words[0]));
  return answer(domain_->enable_words().remove(static_cast<std::uint32_t>(::getpid()), caller().who,
                                               {address, static_cast<std::uint8_t>(options.number("bit", 0))}));
}

std::string TestSession::emit(const std::vector<std::string>& command) {
  const auto registration = registrations_.find(command[1]);
  if (registration == registrations_.end()) return "(not registered)";
  const auto data = data_file(registration->second.file);
  if (!data) return answer(data.error());
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &registration->second.index, 4);
  bytes += support::payload_of({command.begin() + 2, command.end()});
  const auto written = (*data)->write(caller(), bytes, 0);
  return written ? fmt::format("ok {}", *written) : answer(written.error());
}

std::string TestSession::write(const std::string& file, std::string_view bytes, int flags) {
  const auto node = tree_.find(file);
  if (!node) return answer(node.error());
  if ((*node)->file() == nullptr) return "-EISDIR";
  auto open = (*node)->file()->open(caller(), O_WRONLY | flags);
  while (!open && open.error().code == kNotYet) open = (*node)->file()->open(caller(), O_WRONLY | flags);
  if (!open) return answer(open.error());
  for (std::size_t done = 0;;) {
    const auto written = (*open)->write(caller(), bytes.substr(done), done);
    if (!written || done + *written == bytes.size()) return answer(written);
    done += *written;
    if (*written == 0) ::usleep(1000);
    if (!(*open)->takes_turns()) return fmt::format("short write {} of {}", done, bytes.size());
  }
}

std::string TestSession::cat(const std::string& file) {
  const auto node = tree_.find(file);
  if (!node) return answer(node.error());
  const auto open = (*node)->file()->open(caller(), O_RDONLY);
  if (!open) return answer(open.error());
  std::string text;
  char piece[1000];
  for (;;) {
    const auto n = (*open)->read(caller(), piece, text.size());
    if (!n && n.error().code == kNotYet) {
      ::usleep(1000);
      continue;
    }
    if (!n && n.error().code != EAGAIN) return answer(n.error());
    if (!n || *n == 0) break;
    text.append(piece, *n);
  }
  text = std::regex_replace(text, std::regex("(^|\n)ID: [0-9]+"), "$1ID: <id>");
  text = std::regex_replace(text, std::regex("(^|\n)\\[ *[0-9]+\\.[0-9]+\\] "), "$1[TS] ");
  return text.empty() ? "(empty)" : support::as_recorded(text);
}

std::string TestSession::list(const std::string& folder) {
  const auto node = tree_.find(folder);
  if (!node) return answer(node.error());
  const auto entries = (*node)->folder()->list();
  if (!entries) return answer(entries.error());
  std::vector<std::string> names;
  for (const auto& entry : *entries) names.push_back(entry.name);
  return joined(std::move(names));
}

std::string TestSession::make_folder(const std::string& path, bool make) {
  const auto [parent, name] = split_path(path);
  const auto node = tree_.find(parent);
  if (!node) return answer(node.error());
  Folder& folder = *(*node)->folder();
  // As the file system above does it.
  if (make && folder.find(name)) return "-EEXIST";
  if (!make && !folder.find(name)) return "-ENOENT";
  return answer(make ? folder.make_folder(name, caller()) : folder.remove_folder(name, caller()));
}

std::string TestSession::mode(const std::string& path) {
  const auto node = tree_.find(path);
  if (!node) return answer(node.error());
  return fmt::format("{:o}", (*node)->mode() | ((*node)->folder() != nullptr ? S_IFDIR : S_IFREG));
}

// Without header, task, CPU, flags and time.
std::string TestSession::events_in(const std::string& file) {
  static const std::regex kFront(R"(^\s*.{1,16}-\d+\s+(\(\s*[-\d]+\)\s+)?\[\d+\]\s+\S+\s+[\d.]+: )");
  std::istringstream in(cat(file));
  std::string events;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line == "(empty)" || (line.starts_with('#') && !line.starts_with("##"))) continue;
    events += (events.empty() ? "" : "\n") + std::regex_replace(line, kFront, "");
  }
  return events;
}

// With what differs from run to run replaced.
std::string TestSession::text_of(const std::string& file) {
  static const std::regex kCpus("#P:[0-9]+");
  static const std::regex kTask(R"(^.{16}-([0-9]+ *) (\( *[-0-9]+\) )?\[[0-9]{3}\] )");
  static const std::regex kTime(R"(^(<TASK16-PID7> .*?\[CPU\] ([^ ]{5} )?) {0,5}[0-9]+\.[0-9]{6}: )");
  std::istringstream in(std::regex_replace(cat(file), kCpus, "#P:N"));
  std::string text;
  for (std::string line; std::getline(in, line);) {
    std::smatch task;
    if (std::regex_search(line, task, kTask)) {
      line = std::string("<TASK16-PID7> ") + (task[2].matched ? "(TGID) " : "") + "[CPU] " + task.suffix().str();
    }
    text += std::regex_replace(line, kTime, "$1<TIME>: ") + '\n';
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::optional<std::string> TestSession::run(const std::vector<std::string>& command) {
  const std::string& name = command[0];
  const auto words = options_of(command).words;
  if (name == "reg") return reg(options_of(command));
  if (name == "unreg") return unreg(options_of(command));
  if (name == "del") return answer(domain_->registrar().remove_event(words[0], caller().who.uid));
  if (name == "close") {
    files_.erase(command[1]);
    return "ok";
  }
  if (name == "bits") return fmt::format("{:#x}", word(words[0]));
  if (name == "write") return emit(command);
  if (name == "cat") return cat(words[0]);
  if (name == "put") return put(words[0], words[1]);
  if (name == "app") return append(words[0], words[1]);
  if (name == "putn") return write(words[0], words[1], O_TRUNC);
  if (name == "ls") return list(words[0]);
  if (name == "mkdir" || name == "rmdir") return make_folder(words[0], name == "mkdir");
  if (name == "mode") return mode(words[0]);
  if (name == "exists") return tree_.find(words[0]) ? "yes" : "no";
  if (name == "sleep") return "ok";
  if (name == "text") return text_of(words[0]);
  if (name == "trace" || name == "pipe") {
    const std::string events = events_in(words.empty() ? name == "trace" ? "trace" : "trace_pipe" : words[0]);
    return !events.empty() ? events : name == "trace" ? "(empty)" : "(would block)";
  }
  return std::nullopt;
}

std::string TestSession::operator()(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return run(words).value_or("(unknown command)");
}

}  // namespace landtrace::tracefs
