// SPDX-License-Identifier: Apache-2.0
// A record as training writes it, by hand.
#pragma once

#include <string>

namespace tutti::report {

inline const std::string settings_line =
    R"({"kind":"settings","version":"1","recipe":{"model":{"name":"mlp"},"train":{"batch":10,"order":"shuffled"},)"
    R"("optimizer":{"rate":0.5,"rule":"sgd"}},"machine":{"cpu":"a cpu","ranks":2},"parameters":99,)"
    R"("training_samples":25,"first_step":0})"
    "\n";

inline const std::string sample_record =
    settings_line +
    R"({"kind":"step","step":1,"epoch":0.4,"seconds":0.5,"loss":2.5,"accuracy":0.1,"absolute_error":0.0,"gradient_norm":3.0,"rate":0.5,"samples_per_second":20.0}
{"kind":"step","step":2,"epoch":0.8,"seconds":1.0,"loss":null,"accuracy":0.3,"absolute_error":0.0,"gradient_norm":1.0,"rate":0.25,"samples_per_second":30.0}
{"kind":"step","step":3,"epoch":1.0,"seconds":1.5,"loss":1.25,"accuracy":0.5,"absolute_error":0.0,"gradient_norm":1.0,"rate":0.25,"samples_per_second":40.0}
{"kind":"timeline","step":3,"seconds":0.004,"step_seconds":[0.003,0.009,0.004],"columns":[],"events":[[0,0,0,"convolution of c1","onednn",0.0,0.002,0],[0,1,0,"allreduce_block of c1","ring",0.002,0.001,400],[0,0,0,"wait for allreduce_block of c1","",0.002,0.001,0],[1,0,0,"convolution of c1","onednn",0.0,0.004,0]]}
{"kind":"evaluation","step":3,"epoch":1.0,"seconds":1.5,"loss":1.75,"accuracy":0.4375,"absolute_error":0.0,"samples":360}
{"kind":"checkpoint","step":3,"seconds":1.6,"path":"runs/a/checkpoint"}
)";

inline const std::string summary_line =
    R"({"kind":"summary","why":"wall_time","steps":3,"epochs":1,"seconds":2.0,"samples_per_second":1234.0,"loss":1.25,"accuracy":0.5,"absolute_error":0.0,"test_loss":1.75,"test_accuracy":0.4375,"test_absolute_error":0.0,"bytes_per_step":4096})"
    "\n";

}  // namespace tutti::report
