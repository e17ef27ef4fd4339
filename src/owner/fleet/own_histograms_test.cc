#include "fleet/own_histograms.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

TEST(OwnHistogramsTest, AreCalledByWhatTheyCount) {
  const std::string wanted = "user_events:job hist:keys=source,n.log2:vals=hitcount,n if n > 5 && x == 7";
  for (const char* const trigger :
       {"hist:keys=source,n.log2:vals=hitcount,n:sort=hitcount:size=2048 if n > 5 && x == 7 [active]",
        "hist:keys=source,n.log2:vals=hitcount,n:sort=n.descending:size=128 if n > 5 && x == 7 [paused]\n",
        "hist:name=mine:keys=source,n.log2:vals=hitcount,n if n > 5 && x == 7"}) {
    EXPECT_EQ(own_event("", "user_events:job", trigger), wanted);
  }
  EXPECT_EQ(own_event("mine", "user_events:job", "hist:keys=a [active]"), "user_events:job (mine) hist:keys=a");
  EXPECT_EQ(event_of_own(wanted), "user_events:job");
}

TEST(OwnHistogramsTest, LongOnesAreToldApart) {
  const std::string filter(2000, 'x');
  const std::string one = own_event("", "a:b", "hist:keys=a if " + filter + "1");
  const std::string other = own_event("", "a:b", "hist:keys=a if " + filter + "2");
  EXPECT_NE(one, other);
  EXPECT_LT(one.size(), 700u);
}

}  // namespace
}  // namespace landtrace::fleet
