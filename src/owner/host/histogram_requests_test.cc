// Histograms through the owner's socket: what a client gets, and who may ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "domain/proxy.hpp"
#include "domain/test_users.hpp"
#include "host/tree_requests.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::host {
namespace {

using ipc::KeyKind;
using ipc::Operation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using namespace std::string_literals;

const std::string kEvent = "user_events\0e\0\0"s;

class HistogramRequestsTest : public testing::Test {
 protected:
  HistogramRequestsTest()
      : domain_(*domain::Domain::create({.ring_bytes = 1 << 18, .owner_uid = kUser})),
        tree_(*domain_, rules_),
        proxy_(*domain_),
        file_(*domain_->registrar().open_file(kUser)) {
    const auto made = domain_->events().register_event("e u64 id;s32 change;char[8] name", 0, kUser);
    std::ignore = domain_->files().add_event(file_, *made->event);
  }

  // What is being read is waited for, as the server does.
  Response ask(std::string_view text, std::uint64_t a = 0, std::uint64_t b = 0) {
    Response response = ask_once(text, a, b);
    for (; response.reply.error == tracefs::kNotYet; response = ask_once(text, a, b)) ::usleep(1000);
    return response;
  }
  Response ask_once(std::string_view text, std::uint64_t a, std::uint64_t b) {
    const auto access = domain_->enter();
    const ipc::Request request{.operation = Operation::kHistograms, .a = a, .b = b};
    return handle_request(*domain_, rules_, connection_, 1, {uid_, uid_}, request, text);
  }
  int error(std::string_view text, std::uint64_t a = 0, std::uint64_t b = 0) { return ask(text, a, b).reply.error; }

  // As a client puts the pieces together.
  std::vector<ipc::HistogramTable> tables(const std::string& text = kEvent) {
    std::string bytes;
    do {
      const Response piece = ask(text, bytes.size());
      EXPECT_EQ(piece.reply.error, 0) << piece.text;
      if (piece.reply.error != 0) return {};
      bytes += piece.text;
      size_ = piece.reply.a;
      ++pieces_;
    } while (bytes.size() < size_);
    const auto decoded = ipc::decode_histograms(bytes);
    EXPECT_TRUE(decoded);
    return decoded ? *decoded : std::vector<ipc::HistogramTable>{};
  }

  void tree(Operation operation, std::string_view text, std::uint64_t a = 0) {
    const auto access = domain_->enter();
    const ipc::Request request{.operation = operation, .a = a};
    const Response response = handle_tree_request(tree_, connection_, {1, {kUser, kUser}}, request, text);
    ASSERT_EQ(response.reply.error, 0) << text << ": " << response.text;
  }
  void add_trigger(const std::string& trigger, const std::string& folder = "") {
    tree(Operation::kTreeOpen, folder + "events/user_events/e/trigger", O_WRONLY | O_APPEND);
    tree(Operation::kTreeWrite, trigger);
  }
  void emit(std::uint64_t id, std::int32_t change = 0, const char* name = "") {
    struct {
      std::uint32_t index;
      std::uint64_t id;
      std::int32_t change;
      char name[8];
    } __attribute__((packed)) event{0, id, change, {}};
    std::strncpy(event.name, name, sizeof event.name - 1);
    const iovec vector{&event, sizeof event};
    ASSERT_TRUE(proxy_.write(file_, 1, kUser, {&vector, 1}));
  }

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  tracefs::Tree tree_;
  domain::Proxy proxy_;
  domain::FileId file_;
  Connection connection_;
  std::uint32_t uid_ = kUser;
  std::uint64_t size_ = 0;
  int pieces_ = 0;
};

TEST_F(HistogramRequestsTest, RowsHaveTypedKeysAndSums) {
  add_trigger("hist:keys=id,change,name:vals=id,change:sort=id");
  emit(7, -1, "b");
  emit(3, 5, "a } hit");
  emit(3, 5, "a } hit");
  const auto all = tables();
  ASSERT_THAT(all, SizeIs(1));
  const ipc::HistogramTable& table = all[0];
  EXPECT_THAT(table.trigger, StartsWith("hist:keys=id,change,name:vals=hitcount,id,change:sort=id"));
  EXPECT_THAT(table.keys, ElementsAre(ipc::HistogramKey{KeyKind::kUnsigned, "id", 0},
                                      ipc::HistogramKey{KeyKind::kSigned, "change", 0, 32},
                                      ipc::HistogramKey{KeyKind::kText, "name", 0}));
  EXPECT_THAT(table.values, ElementsAre(ipc::HistogramValue{"id", false}, ipc::HistogramValue{"change", false, true}));
  EXPECT_EQ(table.hits, 3u);
  EXPECT_EQ(table.dropped, 0u);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].keys[0].number, 3u);
  EXPECT_EQ(table.rows[0].keys[2].text, "a } hit");
  EXPECT_EQ(table.rows[0].hits, 2u);
  EXPECT_THAT(table.rows[0].values, ElementsAre(6, 10));
  EXPECT_EQ(table.rows[1].keys[1].number, static_cast<std::uint64_t>(-1));
}

TEST_F(HistogramRequestsTest, EachWayToShowAKeyHasItsKind) {
  add_trigger("hist:keys=id.hex,change.log2,common_pid.execname");
  add_trigger("hist:keys=id.buckets=10,id.syscall,id.sym");
  add_trigger("hist:keys=id.sym-offset,common_stacktrace");
  emit(12, 3);
  const auto all = tables();
  ASSERT_THAT(all, SizeIs(3));
  const auto kinds = [](const ipc::HistogramTable& table) {
    std::vector<KeyKind> found;
    for (const ipc::HistogramKey& key : table.keys) found.push_back(key.kind);
    return found;
  };
  EXPECT_THAT(kinds(all[0]), ElementsAre(KeyKind::kHex, KeyKind::kLog2, KeyKind::kExecName));
  EXPECT_THAT(kinds(all[1]), ElementsAre(KeyKind::kRange, KeyKind::kSyscall, KeyKind::kSymbol));
  EXPECT_THAT(kinds(all[2]), ElementsAre(KeyKind::kSymbolOffset, KeyKind::kStack));
  EXPECT_EQ(all[1].keys[0].width, 10u);
  EXPECT_EQ(all[0].keys[1].signed_bits, 32u) << "of a field that may be negative";
  ASSERT_THAT(all[0].rows, SizeIs(1));
  EXPECT_EQ(all[0].rows[0].keys[1].number, 2u);
  EXPECT_NE(all[0].rows[0].keys[2].text, "");
  EXPECT_EQ(all[1].rows[0].keys[0].number, 10u);
  EXPECT_EQ(all[1].rows[0].keys[1].text, "sys_brk");
  EXPECT_EQ(all[1].rows[0].keys[2].text, "0xc") << "no function is there";
}

TEST_F(HistogramRequestsTest, WhatFindsNoRoomIsCounted) {
  add_trigger("hist:keys=id:size=128");
  for (std::uint64_t id = 0; id < 200; ++id) emit(id);
  const auto all = tables();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].hits + all[0].dropped, 200u);
  EXPECT_GT(all[0].dropped, 0u);
  EXPECT_EQ(all[0].rows.size(), all[0].hits);
}

TEST_F(HistogramRequestsTest, SumsInHexAreSaidToBe) {
  add_trigger("hist:keys=id:vals=change.hex");
  EXPECT_THAT(tables().at(0).values, ElementsAre(ipc::HistogramValue{"change", true, true}));
}

TEST_F(HistogramRequestsTest, AnEventWithoutAHistogramHasNone) { EXPECT_THAT(tables(), SizeIs(0)); }

TEST_F(HistogramRequestsTest, AnInstanceHasItsOwn) {
  tree(Operation::kTreeMakeFolder, "instances/foo");
  add_trigger("hist:keys=name", "instances/foo/");
  EXPECT_THAT(tables(), SizeIs(0));
  EXPECT_THAT(tables("user_events\0e\0foo\0"s), SizeIs(1));
}

TEST_F(HistogramRequestsTest, LongAnswersComeInPiecesOfOneMoment) {
  add_trigger("hist:keys=id:size=8192");
  constexpr std::uint64_t kRows = 5000;
  for (std::uint64_t id = 0; id < kRows; ++id) emit(id);
  const Response first = ask(kEvent);
  for (std::uint64_t id = 0; id < 100; ++id) emit(kRows + id);
  std::string bytes = first.text;
  ASSERT_EQ(bytes.size(), ipc::kMaxText);
  while (bytes.size() < first.reply.a) bytes += ask(kEvent, bytes.size()).text;
  const auto then = ipc::decode_histograms(bytes);
  ASSERT_TRUE(then);
  EXPECT_EQ(then->at(0).rows.size(), kRows);
  EXPECT_EQ(tables().at(0).rows.size(), kRows + 100);
  EXPECT_GT(pieces_, 1);
}

TEST_F(HistogramRequestsTest, APieceThatThereIsNotIsRefused) {
  add_trigger("hist:keys=id");
  EXPECT_EQ(error(kEvent, 1), EINVAL) << "nothing was counted yet";
  ASSERT_THAT(tables(), SizeIs(1));
  EXPECT_EQ(error(kEvent, size_), EINVAL);
  EXPECT_EQ(error(kEvent, 1), EINVAL) << "it has been read to its end";
  EXPECT_EQ(error(kEvent, ~0ull), EINVAL);
}

TEST_F(HistogramRequestsTest, NamesOfNothingAreRefused) {
  EXPECT_EQ(error(""), ENOENT);
  EXPECT_EQ(error("user_events"), ENOENT);
  EXPECT_EQ(error("user_events:e"), ENOENT);
  EXPECT_EQ(error("user_events\0other\0\0"s), ENOENT);
  EXPECT_EQ(error("user_events\0e\0foo\0"s), ENOENT);
  EXPECT_EQ(error(std::string(ipc::kMaxText, '\0')), ENOENT);
  EXPECT_EQ(error(kEvent, 0, 1), ENOENT) << "this connection has no session";
  EXPECT_THAT(ask("user_events\0other\0\0"s).text, HasSubstr("no such event"));
}

TEST_F(HistogramRequestsTest, WhoMayReadTheFileMayAsk) {
  add_trigger("hist:keys=id");
  uid_ = kOtherUser;
  EXPECT_EQ(error(kEvent), EACCES);
  connection_.in_group = true;
  EXPECT_EQ(error(kEvent), 0);
  connection_.in_group = false;
  EXPECT_EQ(error(kEvent), EACCES);
  uid_ = 0;
  EXPECT_EQ(error(kEvent), 0);
}

}  // namespace
}  // namespace landtrace::host
