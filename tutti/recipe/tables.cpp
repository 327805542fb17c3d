// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/tables.h"

#include "tutti/kernels/backends.h"

namespace tutti {
namespace {

Setting integer(std::string name, std::int64_t initial, std::string doc, double min,
                double max = 1e15) {
  return {
      .name = std::move(name), .initial = initial, .doc = std::move(doc), .min = min, .max = max};
}

Setting text(std::string name, std::string initial, std::string doc,
             std::vector<std::string> choices = {}) {
  return {.name = std::move(name),
          .initial = std::move(initial),
          .doc = std::move(doc),
          .choices = std::move(choices)};
}

Setting model_name(const Lists& lists) {
  Setting name =
      text("name", "", "which network; not needed with [[model.layers]]", lists.models.names());
  name.required = true;
  return name;
}

std::vector<Setting> train_settings() {
  return {
      integer("epochs", 0, "times that the training data is gone through; 0: no limit", 0),
      integer("steps", 0, "updates; 0: no limit", 0),
      {"wall_time", 0.0, "seconds after which the step under way is the last; 0: no limit", 0},
      {"target", 0.0, "test accuracy (for regression: loss) at which to stop; 0: none", 0},
      integer("batch", 64, "samples of a step, over all ranks", 1),
      integer(
          "accumulate", 1,
          "micro-batches that a batch is cut into, each over all ranks; their gradients add up to "
          "one exchange and one update, and memory holds one of them",
          1, 1e6),
      integer("seed", 0, "of initial weights, sample order and random operators", 0),
      text("dtype", "f32", "of parameters and arithmetic", {"f32", "f64"}),
      text("loss_scale", "auto",
           "what the loss is multiplied by so that small gradients survive in 16 bits: none, a "
           "number, or dynamic: halved when a gradient overflows, doubled again after "
           "loss_scale_steps; auto: dynamic with kernels.precision = \"fp16\", else none"),
      integer("loss_scale_steps", 1000, "good steps after which a dynamic scale doubles", 1),
      text("order", "shuffled", "of samples", {"shuffled", "replacement", "sequential"}),
      text("last_batch", "keep", "when the batch doesn't divide the data", {"keep", "drop"}),
      integer("prefetch", 3, "batches in memory, read ahead", 1, 1024),
      integer("readers", 1, "threads of each rank that read them; more for files to decode", 1,
              1024),
      integer("evaluate_every", 1, "epochs between evaluations on the test data; 0: never", 0),
      text("watch", "auto",
           "by which the best weights on the test data are kept as NAME.best.safetensors; auto: "
           "accuracy, or loss where there are no classes",
           {"auto", "accuracy", "loss", "absolute_error", "none"}),
      integer("patience", 0,
              "evaluations in a row without a better one after which to stop; 0: any number", 0),
      integer("evaluation_batch", 256,
              "samples of a step of evaluation, and of svrg's full gradient", 1),
      text("checkpoint", "", "NAME of NAME.safetensors and NAME.state; empty: under runs/; none"),
      integer("checkpoint_every", 0, "steps between checkpoints; 0: by time and at the end", 0),
      {"checkpoint_seconds", 60.0, "seconds after which another checkpoint is written; 0: never",
       0},
      {"resume", false, "go on from the checkpoint"},
      text("from", "",
           "NAME or NAME.safetensors with weights to begin from: tensors that match by name and "
           "shape are loaded, the others initialised; empty: all are initialised"),
      text("record", "", "file of JSON lines about the run; empty: under runs/; none"),
      integer("log_every", 20, "steps between lines of the record", 1)};
}

std::vector<Setting> optimizer_settings(const Lists& lists) {
  std::vector<Setting> settings = {
      text("rule", "momentum", "how gradients change the weights", lists.rules.names()),
      {"weight_decay", 0.0, "λ", 0},
      {"clip_value", 0.0, "bound on each element of the gradient; 0: off", 0},
      {"clip_norm", 0.0, "bound on the norm of the whole gradient; 0: off", 0}};
  Schedule any = *lists.schedules.begin();
  any.settings.clear();
  for (Setting& setting : rate_settings(any)) {
    if (setting.name == "schedule") setting.choices = lists.schedules.names();
    settings.push_back(std::move(setting));
  }
  settings.push_back(text("variance_reduction", "none",
                          "what a rank makes of its gradient before that travels",
                          lists.local_rules.names()));
  settings.push_back(text("sparse_rows", "exact",
                          "rows of an embedding that a batch does not touch are left alone: where "
                          "the rule would not change them (exact), always, so that momentum and "
                          "decay wait for them (lazy), or never (off)",
                          {"off", "exact", "lazy"}));
  return settings;
}

std::vector<Setting> exchange_settings(const Lists& lists) {
  const auto algorithm = [](std::string name, std::string doc, const List<Collective>& list) {
    std::vector<std::string> names = list.names();
    names.insert(names.begin(), "auto");
    return text(std::move(name), "auto", std::move(doc), std::move(names));
  };
  return {algorithm("allreduce", "how sums over ranks are taken; auto: as predicted to be fastest",
                    lists.allreduces),
          algorithm("reduce_scatter", "the same where a rank updates its own part only (store)",
                    lists.reduce_scatters),
          algorithm("allgather", "how parts of the weights are shared (store)", lists.allgathers),
          integer("node_ranks", 0, "ranks of a node, for hierarchical; 0: as they were started", 0,
                  1e6),
          text("order", "any", "of additions over ranks; fixed: the same bits whatever is chosen",
               {"any", "fixed"}),
          {"timeout", 600.0,
           "seconds that a rank waits for others before the run is given up; 0: for ever", 0},
          {"overlap", true, "gradients travel while the backward pass goes on"},
          text("across_steps", "auto",
               "with overlap: a sum is waited for where the next step needs it, not where this one "
               "ends; auto: between nodes",
               {"auto", "on", "off"}),
          integer("block_bytes", 1 << 20,
                  "neighbouring ranges travel together up to this size; 0: that with the shortest "
                  "simulated step",
                  0),
          integer("verify", 0,
                  "every message carries a checksum, and after so many steps ranks compare their "
                  "weights bit for bit; 0: neither",
                  0, 1e9),
          text("gate", "sync", "when a rank may begin a step", lists.gates.names()),
          text("trigger", "every", "in which steps ranks exchange", lists.triggers.names()),
          text("store", "sharded", "who holds and updates what", lists.stores.names()),
          text("payload", "auto", "what of a block travels", lists.payloads.names()),
          text("merge", "sum", "what becomes of the ranks' gradients", lists.merges.names())};
}

std::vector<Setting> memory_settings() {
  return {text("recompute", "limit",
               "activations that the backward pass computes again instead of keeping them: none, "
               "all but every k-th cell of the network, all but √n of them, all but `slots` at any "
               "time (parts again and again), or the cheapest choice under `limit`",
               {"none", "every", "root", "slots", "limit"}),
          integer("every", 2, "cells from one that is kept to the next", 1, 1e6),
          integer("slots", 4, "cells kept at any time, besides the one at work", 1, 1e4),
          text("limit", "none",
               "bytes of a rank's weights, gradients, optimizer state and activations, such as "
               "512MB; none: any")};
}

std::vector<Setting> kernels_settings() {
  std::vector<std::string> variants = {"auto"};
  const KernelTable cpu = cpu_kernels();
  for (const Implementation& one : cpu.by_op.at("convolution")) variants.push_back(one.name);
  return {text("precision", "f32",
               "what matrix products and convolutions multiply; fp16: floats, with activations "
               "stored in IEEE half; int8: 8-bit integers in linear layers, for eval and predict "
               "only; sums, weights and optimizer state of training are always floats",
               {"f32", "bf16", "fp16", "int8"}),
          text("convolution", "auto",
               "how convolutions are computed where they can be computed so; auto: see select",
               variants),
          text("select", "cache",
               "auto by rule, by what tutti tune measured (else by rule), or measured now",
               {"rule", "cache", "measure"}),
          integer("workspace", -1, "bytes of scratch memory of one convolution; -1: no limit", -1),
          {"micro_batches", false, "convolutions may be cut over the batch to keep workspace"}};
}

std::vector<Setting> simulation_settings() {
  return {
      {"latency", 1e-5, "seconds from sending to arrival, of an empty message", 0},
      {"bandwidth", 1.25e9, "bytes per second of a rank, each way", 1},
      integer("node_ranks", 1, "ranks of a node, which share its cores", 1, 1e6),
      {"node_latency", 1e-6, "the same between ranks of a node", 0},
      {"node_bandwidth", 1e10, "the same between ranks of a node", 1},
      {"add_bandwidth", 1e10, "bytes per second at which what arrives is added", 1},
      {"core_bandwidth", 0.0,
       "bytes per second that a core handles of messages between nodes, instead of computing; "
       "0: the network does it alone",
       0},
      {"speed", 1.0, "of the computing of a rank, where this machine's is 1", 1e-6, 1e6},
      text("slow", "", "ranks that take longer, and how many times, as in \"3:2.5 7:1.2\""),
      {"jitter", 0.0, "σ of the logarithm of a random factor on each time", 0, 10},
      integer("seed", 0, "of the jitter", 0),
      text("faults", "",
           "what fails under machine.transport = \"sim\": drop, corrupt, duplicate or reorder FROM "
           "TO NUMBER; delay FROM TO NUMBER SECONDS; cut RANK RANK SECONDS; crash or hang RANK "
           "SECONDS")};
}

}  // namespace

std::vector<Setting> declared_settings(const Lists& lists, std::string_view table) {
  if (table == "model")
    return {model_name(lists),
            text("loss", "auto", "what training makes small", lists.losses.names()),
            text("freeze", "",
                 "parameters that training leaves as they are: names or patterns with * and ?, as "
                 "in \"conv* fc1.weight\"; `tutti show` lists the names")};
  if (table == "data") return {text("name", "digits", "which data set", lists.datasets.names())};
  if (table == "train") return train_settings();
  if (table == "optimizer") return optimizer_settings(lists);
  if (table == "partition") return {integer("data", 1, "ranks that split each batch", 1, 1024)};
  if (table == "exchange") return exchange_settings(lists);
  if (table == "codec")
    return {text("name", "none", "in what form gradients travel", lists.codecs.names())};
  if (table == "memory") return memory_settings();
  if (table == "kernels") return kernels_settings();
  if (table == "machine")
    return {
        text("backend", "cpu", "whose kernels compute, and where", backends().names()),
        text("transport", "threads",
             "how the ranks of one process run: threads; or sim, in turns on a virtual clock "
             "([simulation])",
             {"threads", "sim"}),
        integer(
            "threads", 0,
            "of each rank; 0: the machine's cores shared by the ranks; the same seed and number "
            "give the same bits, another number rounds sums otherwise",
            0, 4096),
        text(
            "fault", "none",
            "for tests of failures: what a rank does instead of a step, unless the run is resumed: "
            "throw, exit, kill or hang, rank and step, as in \"hang 1 20\"")};
  if (table == "simulation") return simulation_settings();
  check(false, "the tables are those of recipe_tables()");
  return {};
}

}  // namespace tutti
