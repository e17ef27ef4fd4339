#include "language/histogram/attributes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::language {
namespace {

using testing::ElementsAre;

struct Refused {
  int code = 0;
  std::vector<std::pair<HistMistake, std::size_t>> complaints;
};

Refused refused(const std::string& definition) {
  HistComplaints complaints;
  complaints.begin("hist:" + definition);
  Refused refused;
  if (const auto attributes = parse_hist_attributes(definition, complaints); !attributes) {
    refused.code = attributes.error().code;
  } else if (const auto definitions = definitions_in(*attributes, complaints); !definitions) {
    refused.code = definitions.error().code;
  }
  for (const HistComplaint& complaint : complaints.all()) {
    refused.complaints.emplace_back(complaint.mistake, complaint.position);
  }
  return refused;
}

HistAttributes parsed(const std::string& definition) {
  HistComplaints complaints;
  complaints.begin(definition);
  const auto attributes = parse_hist_attributes(definition, complaints);
  EXPECT_TRUE(attributes) << definition;
  return attributes.value_or(HistAttributes());
}

TEST(HistAttributes, TheLastOfAKindCounts) {
  const HistAttributes attributes = parsed("key=id:keys=name:val=v:vals=s:sort=hitcount:sort=name:size=100:size=200");
  EXPECT_EQ(attributes.keys, "name");
  EXPECT_EQ(attributes.values, "s");
  EXPECT_EQ(attributes.sort, "name");
  EXPECT_EQ(attributes.bits, 8u);
}

TEST(HistAttributes, AssignmentsAndActionsAddUp) {
  const HistAttributes attributes = parsed("keys=id:a=1,b=2:c=3:onmax($a).save(bb):onchange($b).snapshot()");
  EXPECT_THAT(attributes.assignments, ElementsAre("a=1,b=2", "c=3"));
  EXPECT_THAT(attributes.actions, ElementsAre("onmax($a).save(bb)", "onchange($b).snapshot()"));
  HistComplaints complaints;
  const auto definitions = definitions_in(attributes, complaints);
  ASSERT_TRUE(definitions);
  ASSERT_EQ(definitions->size(), 3u);
  EXPECT_EQ((*definitions)[1].name, "b");
  EXPECT_EQ((*definitions)[2].expression, "3");
}

TEST(HistAttributes, WordsAreSwitches) {
  EXPECT_TRUE(parsed("keys=id:pause").pause);
  EXPECT_TRUE(parsed("keys=id:continue").resume);
  EXPECT_TRUE(parsed("keys=id:cont").resume);
  EXPECT_TRUE(parsed("keys=id:clear").only_changes());
  EXPECT_TRUE(parsed("keys=id:NOHC").no_hitcount);
  EXPECT_TRUE(parsed("keys=id:nohitcount").no_hitcount);
  EXPECT_EQ(refused("keys=id:nohc").code, EINVAL);
}

TEST(HistAttributes, SizesAreRoundedUp) {
  EXPECT_EQ(parsed("keys=id").bits, 11u);
  EXPECT_EQ(parsed("keys=id:size=65").bits, 7u);
  EXPECT_EQ(parsed("keys=id:size=0x81").bits, 8u);
  EXPECT_EQ(parsed("keys=id:size=100000").bits, 17u);
  EXPECT_EQ(parsed("keys=id:size=1048576").bits, 20u);
  for (const char* const size : {"0", "1", "64", "131073", "1000000", "1048577", "2097152", "abc", "-1", "128 "}) {
    EXPECT_EQ(refused(std::string("keys=id:size=") + size).code, EINVAL) << size;
  }
  EXPECT_EQ(refused("keys=id:size=18446744073709551616").code, ERANGE);
}

TEST(HistAttributes, MistakesAreSaidWithTheirPlaces) {
  EXPECT_EQ(refused("vals=v").code, EINVAL);
  EXPECT_EQ(refused("keys=id:").code, EINVAL);
  const Refused empty = refused("keys=id:vals=");
  EXPECT_THAT(empty.complaints, ElementsAre(std::pair(HistMistake::kEmptyAssignment, std::size_t{13})));
  const Refused malformed = refused("keys=id:ab=1,cd");
  EXPECT_THAT(malformed.complaints, ElementsAre(std::pair(HistMistake::kMalformedAssignment, std::size_t{18})));
  std::string many = "keys=id";
  for (int i = 0; i < 17; ++i) many += ":v" + std::to_string(i) + "=1";
  EXPECT_EQ(refused(many).complaints.front().first, HistMistake::kTooManyVariables);
}

TEST(HistAttributes, ConditionsStandBehindAnIfAmongBlanks) {
  const auto parts = split_condition("keys=ifid  if  ifid > 2");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->definition, "keys=ifid");
  EXPECT_EQ(parts->condition, "if  ifid > 2");
  EXPECT_FALSE(split_condition("keys=id iffy")->condition);
  for (const char* const command : {"if id", "keys=id if", "keys=id if "}) EXPECT_FALSE(split_condition(command));
}

}  // namespace
}  // namespace landtrace::language
