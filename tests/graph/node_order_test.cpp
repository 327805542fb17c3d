// SPDX-License-Identifier: Apache-2.0
#include "tutti/graph/node_order.h"

#include "tutti/graph/op.h"
#include "tutti/graph/verify.h"
#include "tutti/ops/relu.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Nodes "0", "1" … that read nothing of each other.
class Order : public ::testing::Test {
 protected:
  void add(const std::string& name) {
    graph_.scope = name;
    graph_.add1(ops::relu, {x_});
  }
  std::string names() const {
    std::string all;
    for (const Node& node : graph_.nodes) all += node.name;
    return all;
  }
  void apply() {
    order_.apply();
    verify(graph_, "order");
  }

  Graph graph_;
  ValueId x_ = graph_.add_value("x", {DType::f32, {4}}, {Base::inputs, 0});
  NodeOrder order_{graph_};
};

TEST_F(Order, InsertsDirectlyBeforeAndBehind) {
  for (const char* name : {"0", "1", "2"}) add(name);
  for (const char* name : {"a", "b"}) add(name), order_.insert_before(1);
  for (const char* name : {"c", "d"}) add(name), order_.insert_behind(1);
  EXPECT_EQ(names(), "012abcd");  // ids hold until the end
  apply();
  EXPECT_EQ(names(), "0ab1dc2");
}

TEST_F(Order, InsertsAroundInsertedNodes) {
  for (const char* name : {"0", "1"}) add(name);
  add("a");
  NodeId last = order_.insert_behind(0);
  for (const char* name : {"b", "c"}) add(name), last = order_.insert_behind(last);
  add("d");
  order_.insert_before(last);
  EXPECT_EQ(order_.next(last), 1);
  EXPECT_EQ(order_.next(1), no_node);
  apply();
  EXPECT_EQ(names(), "0abdc1");
}

TEST_F(Order, KnowsTheEnds) {
  for (const char* name : {"0", "1"}) add(name);
  add("first");
  order_.insert_behind(no_node);
  add("last");
  order_.move_before(0, no_node);
  EXPECT_EQ(order_.next(no_node), 2);
  apply();
  EXPECT_EQ(names(), "first1last0");
}

TEST_F(Order, MovesNodesAndMayBeUsedAgain) {
  for (const char* name : {"0", "1", "2", "3"}) add(name);
  order_.move_behind(0, 2);
  order_.move_before(3, 1);
  order_.move_behind(1, 1);  // stays
  apply();
  EXPECT_EQ(names(), "3120");
  add("a");
  order_.insert_before(0);
  apply();
  EXPECT_EQ(names(), "a3120");
}

TEST_F(Order, LeavesWhatIsNotMovedAtTheEnd) {
  apply();
  EXPECT_TRUE(graph_.nodes.empty());
  for (const char* name : {"0", "1"}) add(name);
  order_.next(no_node);
  for (const char* name : {"2", "3"}) add(name);
  apply();
  EXPECT_EQ(names(), "0123");
}

}  // namespace
}  // namespace tutti
