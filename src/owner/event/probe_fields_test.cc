#include "event/probe_fields.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "event/print.hpp"

namespace landtrace::event {
namespace {

Declaration probe_with(Flavour flavour, std::initializer_list<std::pair<const char*, std::uint32_t>> arguments) {
  std::vector<Field> fields;
  for (const auto& [type, count] : arguments) {
    fields.push_back(probe_field(*find_fetch_type(type), count, "a" + std::to_string(fields.size())));
  }
  return lay_out_probe(flavour, "e", std::move(fields));
}

std::string printed_probe(const Declaration& declaration, const std::string& payload) {
  std::string text;
  print_fields(text, declaration, std::as_bytes(std::span(payload)));
  return text;
}

TEST(ProbeFields, StandBehindWhereItHappened) {
  const Declaration entry = probe_with(Flavour::kEntryProbe, {{"u8", 0}, {"x32", 2}});
  ASSERT_EQ(entry.fields.size(), 3u);
  EXPECT_EQ(entry.fields[0].name, "__probe_ip");
  EXPECT_EQ(entry.fields[1].offset, 16u);
  EXPECT_EQ(entry.fields[2].offset, 17u);
  EXPECT_EQ(entry.min_size, 17u);
  const Declaration back = probe_with(Flavour::kReturnProbe, {});
  ASSERT_EQ(back.fields.size(), 2u);
  EXPECT_EQ(back.fields[0].name, "__probe_func");
  EXPECT_EQ(back.fields[1].name, "__probe_ret_ip");
  EXPECT_EQ(back.min_size, 16u);
}

TEST(ProbeFields, AreReadBackFromWhatASlotOrAFormatFileSays) {
  const auto all = {std::pair("u8", 0u), std::pair("x64", 0u), std::pair("string", 0u), std::pair("s16", 3u),
                    std::pair("char", 4u)};
  for (const Flavour flavour : {Flavour::kEntryProbe, Flavour::kReturnProbe, Flavour::kEventProbe}) {
    for (const Declaration& declared : {probe_with(flavour, {}), probe_with(flavour, all)}) {
      const auto again = parse_declared("e", fields_text(declared), flavour_text(declared));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(*again, declared);
      if (flavour == Flavour::kEventProbe && declared.fields.empty()) continue;
      const auto parsed = parse_format(format_text(declared, "e", 7), "g");
      ASSERT_TRUE(parsed) << parsed.error().message;
      EXPECT_EQ(parsed->declaration.flavour, flavour);
      EXPECT_EQ(format_text(parsed->declaration, "e", 7), format_text(declared, "e", 7));
    }
  }
}

TEST(ProbeFields, AFormatThatOnlyLooksLikeAProbesIsAnother) {
  const std::string text = format_text(probe_with(Flavour::kEntryProbe, {{"u8", 0}}), "e", 7);
  const auto flavour_of = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    for (auto at = other.find(from); at != std::string::npos; at = other.find(from, at + to.size())) {
      other.replace(at, from.size(), to);
    }
    return parse_format(other, "g")->declaration.flavour;
  };
  EXPECT_EQ(flavour_of("u8", "u8"), Flavour::kEntryProbe);
  EXPECT_EQ(flavour_of("__probe_ip", "ip"), Flavour::kUser);
  EXPECT_EQ(flavour_of("offset:8;\tsize:8", "offset:8;\tsize:4"), Flavour::kUser);
  EXPECT_EQ(flavour_of("(%lx)", "(%lx <- %lx)"), Flavour::kUser);
  EXPECT_EQ(flavour_of("a0=%u", "a0=%u a1=%u"), Flavour::kUser);
}

TEST(ProbeFields, ArePrintedAsTheKernelPrintsThem) {
  std::string payload(17, '\0');
  const std::uint64_t ip = 0x401136;
  std::memcpy(payload.data(), &ip, sizeof ip);
  payload[8] = 7;
  EXPECT_EQ(printed_probe(probe_with(Flavour::kEntryProbe, {{"u8", 0}}), payload), " (0x401136) a0=7");
  const std::uint64_t to = 0x401200;
  std::memcpy(payload.data() + 8, &to, sizeof to);
  payload[16] = '\xff';
  EXPECT_EQ(printed_probe(probe_with(Flavour::kReturnProbe, {{"s8", 0}}), payload), " (0x401200 <- 0x401136) a0=-1");
  payload[9] = '\0';
  EXPECT_EQ(printed_probe(probe_with(Flavour::kEntryProbe, {{"char", 2}}), payload.replace(8, 2, "A\0", 2)),
            std::string(" (0x401136) a0={'A','\0'}", 24));
  // Of a record that ends too early there is what there is.
  EXPECT_EQ(printed_probe(probe_with(Flavour::kEntryProbe, {{"u32", 0}}), payload.substr(0, 9)),
            " (0x401136) a0=<OVERFLOW>");
  EXPECT_EQ(printed_probe(probe_with(Flavour::kEntryProbe, {}), ""), " (0x0)");
}

}  // namespace
}  // namespace landtrace::event
