// SPDX-License-Identifier: Apache-2.0
// Training images changed at random: mirrored, shifted, partly hidden. What happens to a sample is
// a pure function of (seed, epoch, sample index), never of threads, ranks or its place in the
// batch. Pixels that are shifted in or hidden become 0, the mean colour of scaled pixels.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/settings.h"
#include "tutti/core/shape.h"

#include <cstdint>
#include <vector>

namespace tutti::data {

struct Augmentation {
  bool flip = false;        // left and right change places in half of the samples
  std::int64_t crop = 0;    // most pixels by which a sample is shifted along height and width
  std::int64_t cutout = 0;  // side of the hidden square, which may lie partly outside

  bool any() const { return flip || crop > 0 || cutout > 0; }
  // Throws Error when samples of this shape can't be augmented this way.
  void require_fit(const Shape& sample) const;
};

// The settings 'flip', 'crop' and 'cutout' of data sets of images.
std::vector<Setting> augmentation_settings();

// The augmentation that the settings ask for; none where a data set does not declare them.
Augmentation augmentation_of(const Settings& settings);

// The key of an epoch's random draws.
std::uint64_t augmentation_key(std::uint64_t seed, std::int64_t epoch);

// Changes the sample `index`, channels × height × width at `x`, in place.
void augment(const Augmentation& augmentation, std::uint64_t key, std::int64_t index,
             const Shape& sample, DType dtype, void* x);

}  // namespace tutti::data
