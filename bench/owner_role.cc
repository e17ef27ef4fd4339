// The other side of owner.hpp.
#include <fmt/format.h>

#include <iostream>
#include <thread>

#include "arch/clock.hpp"
#include "child.hpp"
#include "histograms.hpp"
#include "host/server.hpp"
#include "ipc/path.hpp"
#include "probes/publisher.hpp"
#include "programs.hpp"
#include "ring/reader.hpp"
#include "rules/rules.hpp"
#include "roles.hpp"

namespace landtrace::bench {
namespace {

// In rings [first, end) of every user.
std::uint64_t events_written(domain::Domain& domain, std::uint32_t first, std::uint32_t end) {
  const domain::Instance& top = domain.top();
  std::uint64_t sum = 0;
  for (const domain::User& user : domain.users().all()) {
    for (std::uint32_t i = first; i < end; ++i) {
      sum += ring::Reader(user.mapping.data() + top.place.rings + i * top.place.geometry.stride(), top.place.geometry)
                 .written();
    }
  }
  return sum;
}

// In ns.
std::uint64_t listen(domain::Domain& domain, rules::Rules& rules, const std::string& pattern, bool on) {
  const auto parsed = event::Pattern::parse(pattern);
  if (!parsed) throw Broken(parsed.error().message);
  const std::uint64_t begin = arch::monotonic_ns();
  if (auto done = rules.selections().listen(domain.top(), *parsed, on); !done) throw Broken(done.error().message);
  return arch::monotonic_ns() - begin;
}

// `line`: a file of the tree, and what is written to it.
std::uint64_t write(tracefs::Tree& tree, const std::string& line) {
  const std::size_t space = line.find(' ');
  const tracefs::Caller caller{0, {::getuid(), ::getgid()}};
  const auto node = tree.find(line.substr(0, space));
  if (!node || (*node)->file() == nullptr) throw Broken("no file " + line);
  const auto file = (*node)->file()->open(caller, O_WRONLY);
  if (!file) throw Broken(line + ": " + file.error().message);
  if (auto done = (*file)->write(caller, line.substr(space + 1) + "\n", 0); !done) {
    throw Broken(line + ": " + done.error().message);
  }
  return 0;
}

std::uint64_t answer(domain::Domain& domain, tracefs::Tree& tree, Histograms& histograms, Programs& programs,
                     const std::string& line) {
  const std::size_t space = line.find(' ');
  const std::string command = line.substr(0, space);
  const std::uint32_t claimed = domain.instances().first_claimed();
  // Where the kernel does not trust the counter, all is written portably.
  if (command == "written") return events_written(domain, 0, domain.instances().rings_per_set());
  if (command == "written-portably") return events_written(domain, claimed, domain.instances().rings_per_set());
  if (command == "hist") return histograms.answer(line.substr(space + 1));
  if (command == "bpf") return programs.answer(line.substr(space + 1));
  if (command == "write") return write(tree, line.substr(space + 1));
  return listen(domain, tree.context().rules, line.substr(space + 1), command == "listen");
}

}  // namespace

int own_domain(const char* socket) {
  auto domain = domain::Domain::create({});
  if (!domain) throw Broken(domain.error().message);
  rules::Rules rules(**domain);
  probes::Publisher publisher(*domain->get(), ipc::probes_mark(socket));
  rules.probes().observe(&publisher);
  auto server = host::Server::create(**domain, rules, socket);
  if (!server) throw Broken(server.error().message);
  std::thread serving([&] { (*server)->run(); });
  Histograms histograms(**domain);
  Programs programs(**domain, rules);
  fmt::print("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::uint64_t number = 0;
    {
      const auto access = (*domain)->enter();
      number = answer(**domain, (*server)->tree(), histograms, programs, line);
    }
    fmt::print("{}\n", number);
    std::fflush(stdout);
  }
  (*server)->stop();
  serving.join();
  rules.probes().observe(nullptr);
  return 0;
}

}  // namespace landtrace::bench
