// `landtrace bpf`
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>

#include "buffer/event_table.hpp"
#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/full_path.hpp"
#include "cli/missing_events.hpp"
#include "cli/probes/refusals.hpp"
#include "cli/quantity.hpp"
#include "cli/signals.hpp"
#include "cli/static_program.hpp"
#include "cli/text_output.hpp"
#include "cli/visible.hpp"
#include "cli/workplace.hpp"
#include "domain/domain.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli {
namespace {

struct BpfOptions {
  std::vector<std::string> words;
  std::vector<std::string> command;
  std::string socket;
  std::string interval;
};

// What loads objects is a program of its own, beside the shim.
std::string loader_path() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  return (own.parent_path().parent_path() / LANDTRACE_LIBDIR / "landtrace" / "landtrace-bpf").string();
}

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// A loader that has an object's programs in a domain, until it is let go.
class Loader {
 public:
  // `interval_ns`: maps that have changed are shown so often; 0: at the end alone.
  static Result<Loader> start(const std::string& object, const std::string& socket, std::uint64_t interval_ns,
                              const sigset_t& mask) {
    LT_TRY(Pipe ready, make_pipe());
    LT_TRY(Pipe until, make_pipe());
    // The one that is inherited: everybody else's are closed by exec.
    ::fcntl(ready.write.get(), F_SETFD, 0);
    ::fcntl(until.read.get(), F_SETFD, 0);
    std::vector<std::string> environment = own_environment();
    std::erase_if(environment, [](const std::string& one) { return one.rfind("LANDTRACE_SOCKET=", 0) == 0; });
    environment.push_back("LANDTRACE_SOCKET=" + socket);
    std::vector<std::string> words = {loader_path(), object, std::to_string(ready.write.get()),
                                      std::to_string(until.read.get())};
    if (interval_ns != 0) words.push_back(std::to_string(std::max<std::uint64_t>(interval_ns / 1'000'000, 1)));
    auto child = Child::start(words, environment, mask);
    if (!child) {
      if (child.error().code != ENOENT) return tl::unexpected<Error>(std::move(child).error());
      return fail(ENOENT, "no " + loader_path() + ": built without libbpf (libbpf-dev)");
    }
    return Loader(*std::move(child), std::move(ready.read), std::move(until.write));
  }

  struct Attached {
    std::vector<event::Pattern> events;
    std::vector<std::string> probes;  // SYSTEM:EVENT
  };
  // What its programs are attached to; nullopt: it has said why they are not.
  std::optional<Attached> wait_for_events() {
    std::string names;
    char some[4096];
    for (ssize_t n = 0; (n = ::read(ready_.get(), some, sizeof some)) > 0;)
      names.append(some, static_cast<std::size_t>(n));
    if (names.empty()) return std::nullopt;
    Attached attached;
    for (std::size_t at = 0, end = 0; (end = names.find('\0', at)) != std::string::npos; at = end + 1) {
      const std::string one = names.substr(at, end - at);
      if (one.starts_with('@')) {
        attached.probes.push_back(one.substr(1));
      } else if (auto name = event::Pattern::parse(one)) {
        attached.events.push_back(*std::move(name));
      }
    }
    return attached;
  }
  bool has_ended() { return child_.has_ended(); }
  // It shows what is left, and ends.
  int let_go() {
    until_.reset();
    while (!child_.has_ended()) ::poll(nullptr, 0, 5);
    return child_.exit_status();
  }
  [[nodiscard]] int exit_status() const { return child_.exit_status(); }

 private:
  Loader(Child child, Fd ready, Fd until)
      : child_(std::move(child)), ready_(std::move(ready)), until_(std::move(until)) {}

  Child child_;
  Fd ready_;
  Fd until_;
};

// Until the command ends, or without one a signal comes; or the loader ends, whose output nobody reads any more.
int wait_for_end(Loader& loader, std::optional<Child>& child, Signals& signals) {
  constexpr int kLook_ms = 200;
  for (;;) {
    if (child && child->has_ended()) return child->exit_status();
    if (loader.has_ended()) return kSuccess;
    const auto arrived = signals.wait(kLook_ms);
    if (!arrived || arrived->number == SIGCHLD) continue;
    if (!child) return kSuccess;
    if (!arrived->from_terminal) child->send(arrived->number);
  }
}

void say_what_is_waited_for(const std::vector<event::Pattern>& events, buffer::EventTable& seen) {
  seen.refresh();
  const std::vector<EventName> there = names_of(seen.types());
  for (const event::Pattern& missing : unmatched(events, there)) {
    complain(
        fmt::format("waiting: {} yet{}", missing_text(missing), there.empty() ? "" : instead_text(missing, there)));
  }
}

// Where no program could run.
void complain_of_unprobed(const std::vector<std::string>& probes, const std::vector<std::string>& command,
                          const std::string& socket) {
  if (probes.empty()) return;
  if (const std::string why = why_without_agent(command); !why.empty()) complain(why);
  for (const std::string& text : refusal_texts(socket, probes, {})) complain(text);
}

int run_object(const BpfOptions& options) {
  const std::string object = full_path(options.words[0]);
  std::uint64_t interval_ns = 0;
  if (!options.interval.empty()) {
    const auto parsed = parse_seconds(options.interval);
    if (!parsed) return fail_with(kBadUse, sentence(parsed.error()));
    if (*parsed == 0) return fail_with(kBadUse, "--interval: want more than 0 seconds");
    interval_ns = *parsed;
  }
  if (::access(object.c_str(), R_OK) != 0)
    return fail_with(kFailure, "cannot read " + object + ": " + errno_text(errno));
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  auto place = Workplace::find(!options.command.empty(), domain::kDefaultRingBytes);
  if (!place) return fail_with(kFailure, sentence(place.error()));
  auto loader = Loader::start(object, place->socket(), interval_ns, signals->mask_before());
  if (!loader) return fail_with(kFailure, sentence(loader.error()));
  const auto attached = loader->wait_for_events();
  if (!attached) {
    loader->let_go();
    return kFailure;
  }
  const std::vector<event::Pattern>& events = attached->events;
  buffer::EventTable seen(place->view().control());
  if (options.command.empty()) say_what_is_waited_for(events, seen);
  std::optional<Child> child;
  if (!options.command.empty()) {
    auto started = place->start(options.command, false, signals->mask_before());
    if (!started) {
      loader->let_go();
      return fail_with(status_of_spawn_error(started.error()),
                       "cannot run '" + options.command[0] + "': " + sentence(started.error()));
    }
    child = *std::move(started);
  }
  const int status = wait_for_end(*loader, child, *signals);
  complain_of_unprobed(attached->probes, options.command, place->socket());
  const int shown = loader->let_go();
  seen.refresh();
  const bool were_there =
      complain_of_missing(events, names_of(seen.types()), why_none_registered(options.command, false, place->socket()));
  return status != kSuccess ? status : shown != kSuccess || were_there ? shown : kFailure;
}

Result<void> print_list(const std::string& socket, TextOutput& output) {
  auto owner = ipc::connect_to(socket);
  if (!owner) return unreached(owner.error());
  ipc::set_timeout(owner->get(), ipc::kAnswerPatience_ms);
  for (std::uint64_t from = 0;;) {
    LT_TRY(const ipc::Answer answer, ipc::ask(owner->get(), {.operation = ipc::Operation::kBpfList, .a = from}));
    for (std::string_view rest = answer.text; !rest.empty();) {
      const std::string_view head = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), head.size() + 1));
      const std::string_view what = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), what.size() + 1));
      output.text() += fmt::format("{}  {}\n", visible(head, Lines::kNone), visible(what, Lines::kNone));
    }
    if (!output.flush()) return {};
    from = answer.reply.a;
    if (from == 0) return {};
  }
}

int run(const BpfOptions& options) {
  if (options.words.size() != 1) return fail_with(kBadUse, "want one OBJECT, or list");
  if (options.words[0] != "list") return run_object(options);
  if (!options.command.empty()) return fail_with(kBadUse, "list takes no CMD");
  if (!options.interval.empty()) return fail_with(kBadUse, "--interval is for an OBJECT");
  TextOutput output;
  const auto printed = print_list(domain_to_speak_to(options.socket), output);
  return printed ? output.status() : fail_with(kFailure, sentence(printed.error()));
}

}  // namespace

void add_bpf(Program& program) {
  auto options = std::make_shared<BpfOptions>();
  Command& command = program.add("bpf", "Run eBPF programs where events happen, in the programs themselves");
  command.words("OBJECT", options->words, "Object file of programs (clang -target bpf), or list: what the domain has",
                {.required = true});
  command.option("--socket", options->socket, "With list: socket of the domain; without it, the user's",
                 {.type = "PATH"});
  command.option("--interval", options->interval,
                 "Show maps that have changed so often; without it, all at the end alone", {.type = "SECONDS"});
  command.takes_command(options->command, "landtrace bpf OBJECT|list [-- CMD [ARG...]]");
  command.examples(
      "Programs are attached by their sections: SEC(\"tracepoint/SYSTEM/EVENT\"), SEC(\"uprobe/PATH:FUNCTION\"),\n"
      "SEC(\"kprobe/MOD:FUNCTION\"), SEC(\"usdt/PATH:PROVIDER:NAME\"); uretprobe and kretprobe for returns.\n"
      "Their maps are printed at the end, lines of bpf_printk() and records of ring buffers as they come.\n\n"
      "Examples:\n"
      "  clang -O2 -g -target bpf -c count.bpf.c -o count.bpf.o\n"
      "  landtrace bpf count.bpf.o -- ./server           in a domain of its own\n"
      "  landtrace bpf count.bpf.o                       in the user's domain, until ^C\n"
      "  landtrace bpf --interval 1 count.bpf.o          the same, with its maps each second\n"
      "  landtrace bpf list                              maps, programs and links");
  command.runs([options] { return run(*options); });
}

}  // namespace landtrace::cli
