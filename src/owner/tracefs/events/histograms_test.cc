// Histograms by the files of the tree, beyond what the transcripts have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

class HistogramFiles : public testing::Test {
 protected:
  HistogramFiles() {
    run("reg a 'start u32 id;u64 v'");
    run("reg b 'done u32 id;u32 rc;char[8] name'");
  }

  std::string run(const std::string& line) {
    std::vector<std::string> words;
    bool quoted = false;
    for (const char c : line + " ") {
      if (c == '\'') {
        quoted = !quoted;
      } else if (c == ' ' && !quoted) {
        if (!word_.empty()) words.push_back(std::exchange(word_, ""));
      } else {
        word_ += c;
      }
    }
    return session_.run(words).value_or("?");
  }
  void start(unsigned id, unsigned v) { run("write a u32:" + std::to_string(id) + " u64:" + std::to_string(v)); }
  void done(unsigned id, unsigned rc) {
    run("write b u32:" + std::to_string(id) + " u32:" + std::to_string(rc) + " hex:6162630000000000");
  }
  std::string add(const std::string& event, const std::string& command) {
    return session_.append(file(event, "trigger"), command);
  }
  std::string triggers(const std::string& event) { return session_.cat(file(event, "trigger")); }
  std::string hist(const std::string& event) { return session_.cat(file(event, "hist")); }
  std::string trace() { return run("trace"); }
  // The entries alone.
  std::string rows(const std::string& event) {
    const std::string text = hist(event);
    const std::size_t begin = text.find("#\n\n") + 3;
    const std::size_t end = text.find("\nTotals:");
    return text.substr(begin, end - begin);
  }
  // "what|caret" of each complaint since the last call.
  std::string complaints() {
    std::string found;
    std::istringstream lines(session_.cat("error_log"));
    for (std::string line; std::getline(lines, line);) {
      if (const auto at = line.find("error: "); at != std::string::npos) found += line.substr(at + 7);
      if (line.ends_with('^')) found += "|" + std::to_string(static_cast<int>(line.size()) - 12) + "\n";
    }
    session_.put("error_log", "");
    return found;
  }

  TestSession session_;

 private:
  static std::string file(const std::string& event, const char* name) {
    const std::string folder = event.find('/') == std::string::npos ? "user_events/" + event : event;
    return "events/" + folder + "/" + name;
  }
  std::string word_;
};

TEST_F(HistogramFiles, StandBehindOtherTriggersInTheOrderOfTheirMaking) {
  EXPECT_EQ(add("start", "hist:keys=id"), "ok");
  EXPECT_EQ(add("start", "traceoff:1"), "ok");
  EXPECT_EQ(add("start", "hist:keys=v:size=200"), "ok");
  EXPECT_EQ(triggers("start"),
            "traceoff:count=1\n"
            "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n"
            "hist:keys=v:vals=hitcount:sort=hitcount:size=256 [active]");
  start(1, 2);
  EXPECT_EQ(hist("start"),
            "# event histogram\n#\n"
            "# trigger info: hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n"
            "{ id:          1 } hitcount:          1\n\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n\n\n"
            "# event histogram\n#\n"
            "# trigger info: hist:keys=v:vals=hitcount:sort=hitcount:size=256 [active]\n#\n\n"
            "{ v:          2 } hitcount:          1\n\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0");
}

TEST_F(HistogramFiles, ArePausedContinuedAndCleared) {
  EXPECT_EQ(add("start", "hist:keys=id:vals=v"), "ok");
  start(1, 10);
  EXPECT_EQ(add("start", "hist:keys=id:vals=v:pause"), "ok");
  start(1, 10);
  EXPECT_EQ(triggers("start"), "hist:keys=id:vals=hitcount,v:sort=hitcount:size=2048 [paused]");
  EXPECT_EQ(add("start", "hist:keys=id:vals=v:cont"), "ok");
  start(2, 5);
  EXPECT_EQ(rows("start"),
            "{ id:          2 } hitcount:          1  v:          5\n"
            "{ id:          1 } hitcount:          1  v:         10\n");
  EXPECT_EQ(add("start", "hist:keys=id:vals=v:clear"), "ok");
  EXPECT_EQ(rows("start"), "");
  start(3, 5);
  EXPECT_EQ(rows("start"), "{ id:          3 } hitcount:          1  v:          5\n");
  EXPECT_EQ(complaints(), "");
}

TEST_F(HistogramFiles, AreThereOnce) {
  EXPECT_EQ(add("start", "hist:keys=id"), "ok");
  EXPECT_EQ(add("start", "hist:keys=id:size=512"), "-EEXIST");
  EXPECT_EQ(complaints(), "Hist trigger already exists|0\n");
  EXPECT_EQ(add("start", "hist:keys=id if id > 2"), "ok");
  EXPECT_EQ(add("start", "hist:keys=v:cont"), "-ENOENT");
  EXPECT_EQ(complaints(), "Can't clear or continue a nonexistent hist trigger|0\n");
  EXPECT_EQ(add("start", "!hist:keys=id if id > 3"), "ok");
  EXPECT_EQ(add("start", "!hist:keys=id"), "ok");
  EXPECT_EQ(triggers("start"), "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 if id > 2 [active]");
}

TEST_F(HistogramFiles, GoWithATruncationThatLeavesOtherTriggers) {
  add("start", "hist:keys=id");
  add("start", "enable_hist:user_events:done");
  add("start", "traceoff:1");
  session_.put("events/user_events/start/trigger", "");
  EXPECT_EQ(triggers("start"), "traceoff:count=1");
}

TEST_F(HistogramFiles, AreSwitchedByTriggersOfOtherEvents) {
  EXPECT_EQ(add("done", "hist:keys=id:pause"), "ok");
  EXPECT_EQ(add("done", "hist:keys=rc"), "ok");
  EXPECT_EQ(add("start", "enable_hist:user_events:done if v == 1"), "ok");
  EXPECT_EQ(add("start", "disable_hist:user_events:done:1 if v == 2"), "-EEXIST");
  EXPECT_EQ(triggers("start"), "enable_hist:user_events:done:unlimited if v == 1");
  done(1, 1);
  start(1, 1);
  done(1, 1);
  EXPECT_EQ(triggers("done"),
            "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n"
            "hist:keys=rc:vals=hitcount:sort=hitcount:size=2048 [active]");
  EXPECT_EQ(rows("done"), "{ id:          1 } hitcount:          1\n");
  EXPECT_EQ(add("start", "!enable_hist:user_events:done"), "ok");
  EXPECT_EQ(add("start", "disable_hist:user_events:done:1"), "ok");
  start(1, 2);
  done(1, 1);
  EXPECT_EQ(triggers("done"),
            "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [paused]\n"
            "hist:keys=rc:vals=hitcount:sort=hitcount:size=2048 [paused]");
  EXPECT_EQ(triggers("start"), "disable_hist:user_events:done:count=0");
  EXPECT_EQ(add("done", "hist:keys=id:cont"), "ok");
  done(1, 1);
  EXPECT_EQ(rows("done"), "{ id:          1 } hitcount:          2\n");
}

TEST_F(HistogramFiles, OfANameShareATable) {
  EXPECT_EQ(add("start", "hist:name=both:keys=id"), "ok");
  EXPECT_EQ(add("done", "hist:keys=id:name=both if rc == 1"), "ok");
  EXPECT_EQ(add("done", "hist:keys=rc:name=both"), "-EINVAL");
  EXPECT_EQ(complaints(), "Named hist trigger doesn't match existing named trigger (includes variables)|13\n");
  start(1, 1);
  done(1, 1);
  done(1, 2);
  EXPECT_EQ(rows("start"), "{ id:          1 } hitcount:          2\n");
  EXPECT_EQ(add("start", "!hist:name=both:keys=id"), "ok");
  EXPECT_EQ(rows("done"), "{ id:          1 } hitcount:          2\n");
  EXPECT_EQ(add("start", "hist:name=both:keys=id:size=512"), "ok");
  EXPECT_EQ(triggers("start"), "hist:name=both:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]");
}

TEST_F(HistogramFiles, DivideConstantsAsTheKernelDoes) {
  ASSERT_EQ(add("start", "hist:keys=id:c=255,p=4"), "ok");
  ASSERT_EQ(add("done", "hist:keys=id:a=10/255,b=10/$c,d=2000000/$c,e=10/$p,f=10/3/2"), "ok");
  EXPECT_THAT(triggers("done"), testing::HasSubstr(":a=1,b=0,d=7843,e=2,f=2:"));
}

TEST_F(HistogramFiles, VariablesStandForTheFirstFieldOfWhatWasParsed) {
  ASSERT_EQ(add("start", "hist:keys=id:a=v.hex,b=v+id+1,c=$a,d=$b"), "ok");
  EXPECT_THAT(triggers("start"), testing::HasSubstr(":a=v.hex,b=v+id+1,c=v,d=v:"));
  ASSERT_EQ(add("done", "hist:keys=id:vals=$x:x=rc.hex"), "ok");
  EXPECT_THAT(triggers("done"), testing::HasSubstr(":vals=hitcount,rc.hex:x=rc:"));
}

TEST_F(HistogramFiles, KeepVariablesThatOthersUse) {
  EXPECT_EQ(add("start", "hist:keys=id:v0=v"), "ok");
  EXPECT_EQ(add("start", "hist:keys=v:v0=v"), "-EINVAL");
  EXPECT_EQ(complaints(), "Variable already defined|12\n");
  EXPECT_EQ(add("done", "hist:keys=id:d=$v0-rc:onmax($d).save(name,rc)"), "ok");
  EXPECT_EQ(add("start", "!hist:keys=id:v0=v"), "-EBUSY");
  session_.put("events/user_events/start/trigger", "");
  EXPECT_EQ(triggers("start"), "hist:keys=id:vals=hitcount:v0=v:sort=hitcount:size=2048 [active]");
  start(1, 100);
  done(1, 2);
  EXPECT_EQ(rows("done"), "{ id:          1 } hitcount:          1\n\tmax:         98  name: abc" +
                              std::string(31, ' ') +
                              "rc:   "
                              "       2\n");
  EXPECT_EQ(triggers("done"),
            "hist:keys=id:vals=hitcount:d=$v0-rc:sort=hitcount:size=2048:onmax($d).save(name,rc) [active]");
  EXPECT_EQ(add("done", "!hist:keys=id:d=$v0-rc:onmax($d).save(name,rc)"), "ok");
  EXPECT_EQ(add("start", "!hist:keys=id:v0=v"), "ok");
}

TEST_F(HistogramFiles, TakeFieldsOfTheMatchingEventByAHistogramOfTheirOwn) {
  run("reg c 'begin u32 id;u64 val'");
  session_.append("synthetic_events", "lat u32 id; u64 v");
  session_.put("events/synthetic/lat/enable", "1");
  EXPECT_EQ(add("begin", "hist:keys=id:ts0=common_timestamp.usecs if val > 3"), "ok");
  EXPECT_EQ(add("done", "hist:keys=id:onmatch(user_events.begin).trace(lat,id,val)"), "ok");
  EXPECT_EQ(complaints(), "Couldn't find field|53\nCouldn't parse field variable|53\n");
  EXPECT_EQ(
      triggers("begin"),
      "hist:keys=id:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:clock=global if val > 3 [active]\n"
      "hist:keys=id:vals=hitcount:synthetic_val=val:sort=hitcount:size=2048 if val > 3 [active]");
  run("write c u32:7 u64:77");
  done(7, 0);
  EXPECT_EQ(trace(), "lat: id=7 v=77");
  EXPECT_EQ(add("done", "!hist:keys=id:onmatch(user_events.begin).trace(lat,id,val)"), "ok");
  EXPECT_EQ(
      triggers("begin"),
      "hist:keys=id:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:clock=global if val > 3 [active]");
}

TEST_F(HistogramFiles, MeasureLatencies) {
  session_.append("synthetic_events", "lat u32 id; u64 lat");
  EXPECT_EQ(add("start", "hist:keys=id:ts0=common_timestamp.usecs"), "ok");
  EXPECT_EQ(add("done", "hist:keys=id:lat=common_timestamp.usecs-$ts0:onmatch(user_events.start).lat(id,$lat)"), "ok");
  EXPECT_EQ(add("synthetic/lat", "hist:keys=id,lat.log2:sort=lat"), "ok");
  EXPECT_EQ(triggers("done"),
            "hist:keys=id:vals=hitcount:lat=common_timestamp.usecs-$ts0:sort=hitcount:size=2048:clock=global:"
            "onmatch(user_events.start).lat(id,$lat) [active]");
  start(1, 1);
  done(1, 1);
  EXPECT_NE(rows("synthetic/lat").find("{ id:          1, lat: ~ 2^"), std::string::npos) << rows("synthetic/lat");
  EXPECT_EQ(session_.append("synthetic_events", "!lat"), "-EBUSY");
}

TEST_F(HistogramFiles, ComplainWhereTheKernelDoes) {
  const struct {
    const char* command;
    const char* answer;
    const char* complaints;
  } kCases[] = {
      {"hist:keys=", "-EINVAL", "Empty assignment|5\n"},
      {"hist:keys=id:vals=name.hex+1", "-EINVAL", "String type can not be an operand in expression|18\n"},
      {"hist:keys=id:x=name+1", "-EINVAL", "String type can not be an operand in expression|15\n"},
      {"hist:keys=id:x=rc+1+1+1+1", "-EINVAL", "Too many subexpressions (3 max)|15\n"},
      {"hist:keys=id:x=rc/0", "-EDOM", "Division by zero|18\n"},
      {"hist:keys=id:x=1z", "-EINVAL", "Expecting numeric literal|15\n"},
      {"hist:keys=id:x=-(rc)+1", "-EINVAL", "Unary minus not supported in sub-expressions|17\n"},
      {"hist:keys=id:x=rc,y", "-EINVAL", "Malformed assignment|7\n"},
      {"hist:keys=id:x=common_timestamp.usecs-rc", "-EINVAL", "Timestamp units in expression don't match|0\n"},
      {"hist:keys=id:sort=", "-EINVAL", "Empty assignment|13\n"},
      {"hist:keys=id:sort=,id", "-EINVAL", "Empty sort field|13\n"},
      {"hist:keys=id:sort=id.up", "-EINVAL", "Invalid sort modifier|21\n"},
      {"hist:keys=rc.buckets=0", "-EINVAL", "Invalid field modifier|21\n"},
      {"hist:keys=rc.execname", "-EINVAL", "Invalid field modifier|13\n"},
      {"hist:keys=rc.stacktrace", "-EINVAL", "Invalid field modifier|13\n"},
      {"hist:keys=id:vals=rc.stacktrace", "-EINVAL", "Invalid field modifier|18\n"},
      {"hist:keys=id:vals=common_timestamp:clock=nosuch", "-EINVAL", "Couldn't set trace_clock|41\n"},
      {"hist:keys=id:x=rc:onmax($x).snapshot(", "-EINVAL", "No closing paren found|0\n"},
      {"hist:keys=id:x=rc:onmax($x).save(rc):onchange($x).save(id)", "-EEXIST",
       "Can't have more than one save() action per hist|0\n"},
      {"hist:keys=id:onmatch(user_events.nosuch).trace(lat,id)", "-EINVAL", "Invalid subsystem or event name|33\n"},
      {"hist:keys=id:onmatch(user_events.start", "-EINVAL", "No closing paren found|21\n"},
      {"hist:keys=id,common_stacktrace,common_stacktrace", "ok", ""},
      {"hist:keys=common_stacktrace,common_stacktrace,common_stacktrace", "ok", ""},
      {"hist:keys=id:size=99999999999999999999", "-ERANGE", ""},
      {"hist:keys=id:vals=rc,id,name", "-EINVAL", ""},
      {"hist:keys=id:x=+rc", "-EINVAL", ""},
      {"hist:keys=id:vals=rc+1,common_pid", "ok", ""},
  };
  for (const auto& recorded : kCases) {
    EXPECT_EQ(add("done", recorded.command), recorded.answer) << recorded.command;
    EXPECT_EQ(complaints(), recorded.complaints) << recorded.command;
  }
}

TEST_F(HistogramFiles, ComplainAboutNamesWhereTheseAreGiven) {
  EXPECT_EQ(add("start", "hist:name=n:keys=id"), "ok");
  EXPECT_EQ(add("done", "hist:keys=id:name=n:vals=rc"), "-EINVAL");
  EXPECT_EQ(complaints(), "Named hist trigger doesn't match existing named trigger (includes variables)|13\n");
}

TEST_F(HistogramFiles, AddUpTheHitCountWhereItIsNamedTwiceOrHasAModifier) {
  EXPECT_EQ(add("done", "hist:keys=id:vals=hitcount,hitcount"), "ok");
  EXPECT_EQ(add("done", "hist:keys=rc:vals=hitcount.hex"), "ok");
  EXPECT_EQ(add("done", "hist:keys=id:vals=hitcount,hitcount,hitcount,rc"), "-EINVAL");
  for (int i = 0; i < 12; ++i) done(1, 1);
  EXPECT_EQ(triggers("done"),
            "hist:keys=id:vals=hitcount,hitcount:sort=hitcount:size=2048 [active]\n"
            "hist:keys=rc:vals=hitcount,hitcount.hex:sort=hitcount:size=2048 [active]");
  const std::string text = hist("done");
  EXPECT_NE(text.find("{ id:          1 } hitcount:         12  hitcount:         12\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{ rc:          1 } hitcount:         12  hitcount:          c\n"), std::string::npos) << text;
}

TEST_F(HistogramFiles, ShowNoColumnForExpressions) {
  add("done", "hist:keys=id+1:vals=rc*2,10:sort=id+1.descending");
  done(3, 4);
  done(5, 4);
  EXPECT_EQ(triggers("done"), "hist:keys=id+1:vals=hitcount,rc*2,10:sort=id+1.descending:size=2048 [active]");
  EXPECT_EQ(rows("done"),
            "{ id+1:          6 } hitcount:          1  :         10\n{ id+1:          4 } hitcount:          1  :     "
            "    10\n");
}

TEST_F(HistogramFiles, TellOfSnapshots) {
  session_.put("events/user_events/done/enable", "1");
  EXPECT_EQ(add("done", "hist:keys=id,name:x=rc:onmax($x).snapshot()"), "ok");
  EXPECT_EQ(add("done", "hist:keys=id:y=rc:onchange($y).snapshot()"), "-EBUSY");
  done(4, 9);
  done(5, 2);
  const std::string text = rows("done");
  EXPECT_EQ(
      text.substr(text.find("\nSnapshot")),
      "\nSnapshot taken (see tracing/snapshot).  Details:\n\ttriggering value { onmax($x) }:          9\t"
      "triggered by event with key: { id:          4, name: abc                                                }\n");
}

}  // namespace
}  // namespace landtrace::tracefs
