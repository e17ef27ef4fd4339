// The forms that are the kernel's, as Linux 6.18 prints them.
#include "output/stack/user_stack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "output/json/line.hpp"
#include "output/text/line.hpp"
#include "output/text/own_events.hpp"
#include "output/trace_dat/object_lines.hpp"

namespace landtrace::output {
namespace {

using ::testing::SizeIs;

constexpr std::uint32_t kPid = 1234;

MappedObject object(const std::string& path, std::uint64_t start, std::uint64_t seen = 0) {
  return {kPid, start, start + 0x10000, start, seen, path, std::string(20, '\x01')};
}

class UserStackTest : public ::testing::Test {
 protected:
  Record record(std::vector<std::uint64_t> caller, std::uint64_t time = 12'345'678'000) {
    payload_.assign(1, kPid);
    payload_.insert(payload_.end(), caller.begin(), caller.end());
    return {time, 3, 1236, type_.id, std::as_bytes(std::span(payload_))};
  }
  std::string text(const Record& record, const StackStyle& style = {}) {
    std::string out;
    append_text_body(out, record, &type_, &names_, style);
    return out;
  }
  EventType type_ = user_stack_type();
  std::vector<std::uint64_t> payload_;
  StackNames names_;
};

TEST_F(UserStackTest, AddressesOfUnknownObjects) {
  EXPECT_EQ(text(record({0x00007f0b1e6eceec, 0x0000563236e7b181})),
            "<user stack trace>\n"
            " =>  <00007f0b1e6eceec>\n"
            " =>  <0000563236e7b181>\n");
}

TEST_F(UserStackTest, ObjectsAndOffsets) {
  names_.objects().add(object("/usr/lib/libc.so.6", 0x7f0000000000));
  EXPECT_EQ(text(record({0x7f0000004eec, 0x563236e7b181})),
            "<user stack trace>\n"
            " => /usr/lib/libc.so.6[+0x4eec]\n"
            " =>  <0000563236e7b181>\n");
  EXPECT_EQ(text(record({0x7f0000004eec}), {.addresses = true}),
            "<user stack trace>\n"
            " => /usr/lib/libc.so.6[+0x4eec] <00007f0000004eec>\n");
}

TEST_F(UserStackTest, WithTheColumns) {
  std::string out;
  const Task task{"app", kPid};
  append_text_line(out, record({0x10}), &task, &type_);
  EXPECT_EQ(out,
            "             app-1236    [003] .....    12.345678: <user stack trace>\n"
            " =>  <0000000000000010>\n");
}

TEST_F(UserStackTest, TheKernelsOwnEndWithZeros) {
  EXPECT_EQ(text(record({0x10, 0x20, 0, 0, 0, 0, 0, 0})),
            "<user stack trace>\n =>  <0000000000000010>\n =>  <0000000000000020>\n");
}

TEST_F(UserStackTest, EmptyAndDamaged) {
  EXPECT_EQ(text(record({})), "<user stack trace>\n");
  Record damaged = record({1});
  for (std::size_t size = 0; size < 16; ++size) {
    damaged.payload = std::as_bytes(std::span(payload_)).first(size);
    EXPECT_EQ(text(damaged), "<user stack trace>\n");
  }
}

TEST_F(UserStackTest, WhatWasThereAtTheTime) {
  names_.objects().add(object("/old", 0x10000, 100));
  names_.objects().add(object("/new", 0x10000, 200));
  EXPECT_EQ(text(record({0x10010}, 150)), "<user stack trace>\n => /old[+0x10]\n");
  EXPECT_EQ(text(record({0x10010}, 200)), "<user stack trace>\n => /new[+0x10]\n");
  EXPECT_EQ(text(record({0x10010}, 99)), "<user stack trace>\n => /old[+0x10]\n");
}

TEST_F(UserStackTest, PathsDoNotBreakLines) {
  names_.objects().add(object("/a\nb\x1b", 0x10000));
  EXPECT_EQ(text(record({0x10010})), "<user stack trace>\n => /a?b?[+0x10]\n");
}

TEST_F(UserStackTest, OwnFunctionsByName) {
  symbols::Symbols symbols;
  StackNames names(&symbols);
  unwind::Object own;
  const auto address = reinterpret_cast<std::uint64_t>(&user_stack_type) + 1;
  ASSERT_TRUE(unwind::find_object(address, own));
  names.objects().add({kPid,
                       own.start,
                       own.end,
                       own.bias,
                       0,
                       "/proc/self/exe",
                       {reinterpret_cast<const char*>(own.build_id), own.build_id_size}});
  std::string out;
  append_text_body(out, record({address}), &type_, &names);
  EXPECT_EQ(out, "<user stack trace>\n => landtrace::output::user_stack_type()+0x1 [/proc/self/exe]\n");
  out.clear();
  JsonLineWriter(&names).append(out, record({address, 16}), nullptr, &type_);
  const auto fields = nlohmann::json::parse(out)["fields"];
  EXPECT_EQ(fields["tgid"], kPid);
  EXPECT_EQ(fields["caller"][0]["function"], "landtrace::output::user_stack_type()");
  EXPECT_EQ(fields["caller"][0]["function_offset"], "0x1");
  EXPECT_EQ(fields["caller"][1], nlohmann::json::parse(R"({"address":"0x10"})"));
}

TEST(ObjectLinesTest, RoundTrip) {
  MappedObject with_blanks = object("/a path/with blanks", 0x7f0000000000, 77);
  MappedObject without_id = object("[vdso]", 0x1000);
  without_id.build_id.clear();
  const auto parsed = trace_dat::parse_object_lines(
      trace_dat::object_line(with_blanks) + "damaged\n\n1 2\n-1 5 6 7 8 - /x\n1 9 6 7 8 - /x\n1 5 6 7 8 abc /x\n" +
      trace_dat::object_line(without_id));
  ASSERT_THAT(parsed, SizeIs(2));
  EXPECT_EQ(trace_dat::object_line(parsed[0]), trace_dat::object_line(with_blanks));
  EXPECT_EQ(parsed[0].build_id, with_blanks.build_id);
  EXPECT_EQ(parsed[1].path, "[vdso]");
  EXPECT_EQ(parsed[1].build_id, "");
}

}  // namespace
}  // namespace landtrace::output
