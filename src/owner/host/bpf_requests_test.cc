// What connections may have the owner hold of their eBPF programs.
#include "host/bpf_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <list>

#include "bpf/test_code.hpp"
#include "ipc/bpf_requests.hpp"

namespace landtrace::host {
namespace {

using ipc::Operation;
using testing::HasSubstr;
using namespace bpf::code;

class BpfRequests : public testing::Test {
 protected:
  BpfRequests() : domain_(*domain::Domain::create({.ring_bytes = 1 << 18, .owner_uid = kUser})) {}

  Response ask(Connection& connection, Operation operation, std::string_view text = {}, std::uint64_t a = 0,
               std::uint32_t uid = kGuest) {
    const auto access = domain_->enter();
    const ipc::Request request{.operation = operation, .a = a};
    return handle_bpf_request(objects_, *domain_, connection, 7, {uid, uid}, request, text);
  }
  static std::string program(const Code& code, std::uint32_t log_level) {
    const ipc::BpfProgramWish wish{static_cast<std::uint32_t>(code.size()), 0, log_level, BPF_PROG_TYPE_TRACEPOINT,
                                   "program"};
    std::string bytes(reinterpret_cast<const char*>(&wish), sizeof wish);
    bytes.append(reinterpret_cast<const char*>(code.data()), code.size() * sizeof code[0]);
    return bytes;
  }
  Response load(Connection& connection, const std::string& bytes) {
    EXPECT_EQ(ask(connection, Operation::kBpfCode, bytes).reply.error, 0);
    for (;;) {
      Response loaded = ask(connection, Operation::kBpfLoad);
      if (loaded.reply.error != EINPROGRESS) return loaded;
    }
  }

  static constexpr std::uint32_t kUser = 1000;
  static constexpr std::uint32_t kGuest = 1001;
  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  bpf_objects::Objects objects_{*domain_, rules_};
  std::list<Connection> connections_;
};

TEST_F(BpfRequests, PiecesThatAGuestHasSentAreCountedOverAllItsConnections) {
  const std::string piece(32 << 10, 'x');
  const auto send = [&](std::uint32_t uid) {
    return ask(connections_.emplace_back(), Operation::kBpfCode, piece, 0, uid).reply.error;
  };
  for (int i = 0; i < 256; ++i) ASSERT_EQ(send(kGuest), 0) << i;
  EXPECT_EQ(send(kGuest), ENOMEM);
  EXPECT_EQ(send(kGuest + 1), 0);
  EXPECT_EQ(send(kUser), 0);
  connections_.pop_front();
  EXPECT_EQ(send(kGuest), 0) << "a connection has ended";
  EXPECT_EQ(ask(connections_.front(), Operation::kBpfCode, piece, piece.size()).reply.error, ENOMEM);
  EXPECT_EQ(ask(connections_.front(), Operation::kBpfCode, piece).reply.error, 0) << "in place of the first one";
}

TEST_F(BpfRequests, ALogIsThereUntilItsEndWasRead) {
  Connection& connection = connections_.emplace_back();
  const Response loaded = load(connection, program({set(0, 0), leave()}, 1));
  ASSERT_EQ(loaded.reply.error, 0) << loaded.text;
  const Response log = ask(connection, Operation::kBpfLog);
  EXPECT_EQ(log.reply.a, loaded.reply.c);
  EXPECT_THAT(log.text, HasSubstr("processed 2 insns"));
  EXPECT_EQ(ask(connection, Operation::kBpfLog).reply.a, 0u);
}

TEST_F(BpfRequests, LogsOfAGuestThatNobodyReadsAreCounted) {
  // Each goes 2000 times around: some 150 KB of log.
  const std::string bytes = program({set(0, 0), alu(BPF_ADD, 0, 1), jump(BPF_JLT, 0, 2000, -2), leave()}, 1);
  int held = 0;
  Response loaded = load(connections_.emplace_back(), bytes);
  const std::uint64_t log_bytes = loaded.reply.c;
  EXPECT_GT(log_bytes, 50'000u);
  for (; loaded.reply.error == 0 && held < 1000; ++held) loaded = load(connections_.emplace_back(), bytes);
  EXPECT_EQ(loaded.reply.error, ENOMEM);
  EXPECT_THAT(loaded.text, HasSubstr("at most 8 MiB together"));
  EXPECT_LE(held * log_bytes, 8u << 20);
  connections_.resize(static_cast<std::size_t>(held) / 2);
  EXPECT_EQ(load(connections_.emplace_back(), bytes).reply.error, 0);
}

TEST_F(BpfRequests, OfALongLogAGuestHasTheEnd) {
  const Code code = {set(0, 0), alu(BPF_ADD, 0, 1), jump(BPF_JLT, 0, 30'000, -2), leave()};
  Connection& connection = connections_.emplace_back();
  const Response loaded = load(connection, program(code, 1));
  ASSERT_EQ(loaded.reply.error, 0) << loaded.text;
  EXPECT_EQ(loaded.reply.c, 1u << 20);
  EXPECT_THAT(ask(connection, Operation::kBpfLog, {}, loaded.reply.c - 100).text, HasSubstr("processed 60002 insns"));
}

// Also where verifying it would take more memory than a guest has for that.
TEST_F(BpfRequests, AGuestIsToldThatAProgramIsTooLong) {
  for (const std::size_t instructions : {5'000u, 60'000u}) {
    Code code(instructions, set(0, 0));
    code.back() = leave();
    const std::string bytes = program(code, 0);
    Connection& connection = connections_.emplace_back();
    for (std::size_t at = 0; at < bytes.size(); at += ipc::kMaxText) {
      ASSERT_EQ(ask(connection, Operation::kBpfCode, std::string_view(bytes).substr(at, ipc::kMaxText), at).reply.error,
                0);
    }
    const Response loaded = ask(connection, Operation::kBpfLoad);
    EXPECT_EQ(loaded.reply.error, E2BIG) << instructions;
    EXPECT_THAT(loaded.text, HasSubstr("at most 4096 instructions"));
  }
}

}  // namespace
}  // namespace landtrace::host
