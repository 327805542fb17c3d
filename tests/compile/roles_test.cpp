// SPDX-License-Identifier: Apache-2.0
// Ranks of one role share a compiled step; a rank's own numbers are bound to it.
#include "tutti/compile/compile_step.h"
#include "tutti/data/sampler.h"
#include "tutti/graph/op.h"
#include "tutti/kernels/backends.h"
#include "tutti/parallel/partition.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// The first layer is frozen: sharded weights that are not trained lie behind a rank's parts.
class Roles : public testing::TestWithParam<const char*> {
 protected:
  StepSpec spec(int rank, int ranks, const char* rule = "momentum") const {
    StepSpec made;
    made.build = [this](const NetInput& input) {
      Net net = build_net(models_.find("mlp"), {{"hidden", Shape{32, 48, 16}}}, input);
      net.table.ranges[0].trainable = false;
      return net;
    };
    made.input = {.fields = input_and_labels({8}), .classes = 16};
    made.backend = "reference";
    made.closing.update.rule = &rules_.find(rule);
    made.closing.update.rule_settings = resolve(made.closing.update.rule->settings, {}, rule);
    made.closing.scheme.store = stores().find(GetParam());
    made.closing.scheme.block_bytes = 1024;
    made.mesh = data_mesh(ranks);
    made.facts = {.rank = rank, .size = ranks, .network = LinkCost{1e-5, 1e-9}};
    return made;
  }

  const List<Model> models_ = models();
  const List<Rule> rules_ = rules();
};

TEST_P(Roles, AThousandRanksAreAtMostFour) {
  constexpr int ranks = 1024;
  for (const std::int64_t batch : {1024, 1025, 4097, 32768, 40000}) {
    std::vector<Purpose> purposes;
    for (int rank = 0; rank < ranks; ++rank)
      purposes.push_back({true, batch, data::share_of(batch, rank, ranks).count()});
    const std::vector<Role> roles = roles_of(purposes);
    EXPECT_LE(roles.size(), 4u);
    std::size_t all = 0;
    for (const Role& role : roles) all += role.ranks.size();
    EXPECT_EQ(all, static_cast<std::size_t>(ranks));
  }
  // Whoever compiles for its role gets the same instructions, messages and urgencies.
  const CompiledStep first = StepCompiler(spec(0, ranks)).compile({true, 2048, 2}).step;
  for (const int rank : {1, 3, 500, 1023}) {
    const StepCompiler compiler(spec(rank, ranks));
    const CompiledStep step = compiler.bound(compiler.compile({true, 2048, 2}).step);
    EXPECT_EQ(step.size(), first.size());
    EXPECT_EQ(step.names, first.names);
    EXPECT_EQ(step.urgencies, first.urgencies);
    EXPECT_EQ(step.implementations, first.implementations);
    EXPECT_EQ(step.memory.arena_bytes, first.memory.arena_bytes);
    EXPECT_EQ(step.facts.rank, rank);
  }
}

// What is bound to a rank is what would have been compiled for it alone: settings, shapes, and
// places in the flat vectors.
TEST_P(Roles, ABoundStepIsThatOfItsRank) {
  for (const char* payload : {"gradient", "factors"})
    for (const char* rule : {"momentum", "adam", "lars"})
      for (const char* codec : {"none", "bf16"})
        for (const double clip_norm : {0.0, 1.0})
          for (int rank = 0; rank < 4; ++rank) {
            StepSpec own = spec(rank, 4, rule);
            own.closing.scheme.codec = codecs().find(codec);
            own.closing.update.clip_norm = clip_norm;
            own.closing.scheme.payload = payloads().find(payload);
            own.batch = 64;
            const StepCompiler compiler(own);
            const Purpose purpose{true, 64, 16};
            const CompiledStep bound = compiler.bound(compiler.compile(purpose).step);
            const CompiledStep alone =
                compile_step(own, compiler.vectors(), compiler.kernels(), purpose, rank).step;
            ASSERT_EQ(print(bound.graph), print(alone.graph)) << rule << " of rank " << rank;
            for (const Node& node : bound.graph.nodes)
              if (node.op->message.kind == MessageKind::reduce_scatter) {
                const Value &all = bound.graph.value(node.inputs[0]),
                            &part = bound.graph.value(node.outputs[0]);
                ASSERT_EQ(part.place.offset_bytes - all.place.offset_bytes,
                          node.settings.integer("part_offset") * bytes_of(all.type.dtype));
              }
            for (std::size_t id = 0; id < bound.graph.values.size(); ++id) {
              const Value &a = bound.graph.values[id], &b = alone.graph.values[id];
              ASSERT_EQ(a.type, b.type);
              ASSERT_EQ(a.place.base, b.place.base);
              if (a.place.base == Base::arena) continue;
              ASSERT_EQ(a.place.offset_bytes, b.place.offset_bytes) << a.name;
            }
          }
}

INSTANTIATE_TEST_SUITE_P(Stores, Roles, testing::Values("all", "sharded", "sharded_weights"));

}  // namespace
}  // namespace tutti
