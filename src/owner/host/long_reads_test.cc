// Clients that read histograms of many rows, and others meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <future>
#include <optional>
#include <thread>

#include "domain/proxy.hpp"
#include "host/server.hpp"
#include "host/test_serving.hpp"
#include "ipc/histogram_table.hpp"
#include "ipc/tree_client.hpp"
#include "rules/test_long_reads.hpp"

namespace landtrace::host {
namespace {

using namespace std::string_literals;
using ipc::Operation;

constexpr std::uint64_t kRows = 5000;
const std::string kFile = "events/user_events/e/hist";

class NoNames : public rules::AddressNames {
 public:
  std::string symbol(std::uint64_t) override { return "?"; }
  std::string symbol_with_offset(std::uint64_t) override { return "?"; }
  std::string frame(std::uint64_t, bool) override { return "?"; }
};

// Reads a file of the tree in a thread of its own.
class Reading {
 public:
  Reading(const std::string& socket, const std::string& file) : tree_(*ipc::TreeClient::connect(socket)) {
    EXPECT_TRUE(tree_.open(file, O_RDONLY));
    text_ = std::async(std::launch::async, [this] {
      std::string text;
      for (auto piece = tree_.read(); piece && !piece->empty(); piece = tree_.read()) text += *piece;
      return text;
    });
  }
  std::string text() { return text_.get(); }

 private:
  ipc::TreeClient tree_;
  std::future<std::string> text_;
};

// The first text is held up, so all others are being waited for.
class LongReadsOfClients : public testing::Test {
 protected:
  LongReadsOfClients()
      : domain_(*domain::Domain::create({.ring_bytes = 1 << 18})),
        server_(*Server::create(*domain_, rules_, testing::TempDir() + "long_reads" + std::to_string(::getpid()))),
        thread_([this] { server_->run(); }) {
    count();
    const auto access = domain_->enter();
    held_.emplace(rules_.long_reads());
  }
  ~LongReadsOfClients() override {
    server_->stop();
    thread_.join();
  }

  void count() {
    const auto access = domain_->enter();
    const auto file = *domain_->registrar().open_file(::geteuid());
    const auto made = domain_->events().register_event("e u64 id", 0, ::geteuid());
    ASSERT_TRUE(domain_->files().add_event(file, *made->event));
    ASSERT_TRUE(rules_.triggers().apply(domain_->top(), *made->event, "hist:keys=id:size=8192"));
    domain::Proxy proxy(*domain_);
    for (std::uint64_t id = 0; id < kRows; ++id) {
      struct {
        std::uint32_t index = 0;
        std::uint64_t id = 0;
      } __attribute__((packed)) event{0, id};
      const iovec vector{&event, sizeof event};
      ASSERT_TRUE(proxy.write(file, 1, ::geteuid(), {&vector, 1}));
    }
    NoNames names;
    const auto reading = rules_.histograms().reading(domain_->top(), *made->event);
    text_ = rules::text_of(reading, names);
    tables_ = rules::tables_of(reading, names);
  }

  Fd connect() { return *ipc::connect_to(server_->path()); }
  // Asks for the typed tables, and does not wait for the answer.
  static void send_for_tables(const Fd& fd) {
    const std::string text = "user_events\0e\0\0"s;
    ipc::Request request{.operation = Operation::kHistograms};
    request.text_size = static_cast<std::uint32_t>(text.size());
    ASSERT_TRUE(ipc::send(fd.get(), std::as_bytes(std::span(&request, 1)), std::as_bytes(std::span(text))));
  }
  static bool is_answered(const Fd& fd) {
    char byte = 0;
    return ::recv(fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::optional<rules::HeldUp> held_;
  std::string text_;
  std::string tables_;
};

TEST_F(LongReadsOfClients, KeepNobodyElseWaiting) {
  Reading one(server_->path(), kFile);
  Reading other(server_->path(), kFile);
  auto third = *ipc::TreeClient::connect(server_->path());
  ASSERT_TRUE(third.open("dynamic_events", O_WRONLY));
  ASSERT_TRUE(third.write("u:meanwhile\n"));
  ASSERT_TRUE(third.open("events/user_events/meanwhile/enable", O_RDONLY));
  EXPECT_EQ(*third.read(), "0\n");
  held_->let_go_on();
  EXPECT_EQ(one.text(), text_);
  EXPECT_EQ(other.text(), text_);
}

TEST_F(LongReadsOfClients, AreAnsweredWhenTheyAreDone) {
  const Fd fd = connect();
  send_for_tables(fd);
  ASSERT_TRUE(wait_for_server(server_->path()));
  EXPECT_FALSE(is_answered(fd));
  held_->let_go_on();
  std::vector<std::byte> buffer(sizeof(ipc::Reply) + ipc::kMaxText);
  const auto got = ipc::receive(fd.get(), buffer);
  ASSERT_TRUE(got);
  std::string bytes(reinterpret_cast<const char*>(buffer.data()) + sizeof(ipc::Reply), got->size - sizeof(ipc::Reply));
  while (bytes.size() < tables_.size()) {
    const auto piece =
        ipc::ask(fd.get(), {.operation = Operation::kHistograms, .a = bytes.size()}, "user_events\0e\0\0"s);
    ASSERT_TRUE(piece) << piece.error().message;
    bytes += piece->text;
  }
  EXPECT_EQ(bytes, tables_);
  EXPECT_EQ(ipc::decode_histograms(bytes)->at(0).rows.size(), kRows);
}

TEST_F(LongReadsOfClients, MayBeGivenUp) {
  {
    const Fd fd = connect();
    send_for_tables(fd);
    ASSERT_TRUE(wait_for_server(server_->path()));
  }
  ASSERT_TRUE(wait_for_server(server_->path()));
  Reading next(server_->path(), kFile);
  held_->let_go_on();
  EXPECT_EQ(next.text(), text_);
}

// One of them is waited for on a connection, and the others are refused.
TEST_F(LongReadsOfClients, DoNotPileUpOnAConnection) {
  const Fd fd = connect();
  send_for_tables(fd);
  send_for_tables(fd);
  std::vector<std::byte> buffer(sizeof(ipc::Reply) + ipc::kMaxText);
  ASSERT_TRUE(ipc::receive(fd.get(), buffer));
  EXPECT_EQ(reinterpret_cast<const ipc::Reply*>(buffer.data())->error, EINPROGRESS);
  ASSERT_TRUE(wait_for_server(server_->path()));
  EXPECT_FALSE(is_answered(fd));
  held_->let_go_on();
  const auto got = ipc::receive(fd.get(), buffer);
  ASSERT_TRUE(got);
  EXPECT_EQ(reinterpret_cast<const ipc::Reply*>(buffer.data())->error, 0);
}

TEST_F(LongReadsOfClients, EndWithTheOwner) {
  const Fd fd = connect();
  send_for_tables(fd);
  ASSERT_TRUE(wait_for_server(server_->path()));
  server_->stop();  // and nobody lets the first text go on
}

}  // namespace
}  // namespace landtrace::host
