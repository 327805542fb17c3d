// SPDX-License-Identifier: Apache-2.0
// oneDNN through its C interface: descriptors are made once, arguments are prepared, scratch memory
// lies in the arena. Outside this folder oneDNN appears only inside opaque layouts.
#pragma once

#include "tutti/kernels/implementation.h"

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <vector>

namespace tutti::onednn {

// Throws Error with the call and the status when a call failed.
void check(dnnl_status_t status, const char* call);

dnnl_engine_t engine();

// Keeps oneDNN to instructions that its version handles, unless the user has set a bound
// (ONEDNN_MAX_CPU_ISA). Called before any primitive is made.
void bound_instructions();

struct Destroy {
  void operator()(dnnl_primitive_desc* handle) const { dnnl_primitive_desc_destroy(handle); }
  void operator()(dnnl_primitive_attr* handle) const { dnnl_primitive_attr_destroy(handle); }
};
using Descriptor = std::unique_ptr<dnnl_primitive_desc, Destroy>;
using Attributes = std::unique_ptr<dnnl_primitive_attr, Destroy>;

// Descriptors with the dimensions of a tensor: plain() is row-major, any() leaves the layout to
// oneDNN, as_it_lies() has the layout of the value.
dnnl_memory_desc_t plain(const Type& type);
dnnl_memory_desc_t any(const Type& type);
dnnl_memory_desc_t any(dnnl_data_type_t type, const Shape& dimensions);
dnnl_memory_desc_t as_it_lies(const Value& value);
// Descriptors with given dimensions (grouped weights), and with given strides.
dnnl_memory_desc_t plain(DType dtype, const Shape& dimensions);
dnnl_memory_desc_t strided(DType dtype, const Shape& dimensions, const Shape& strides);

// The same dimensions, order and blocking with elements of another type.
dnnl_memory_desc_t stored_as(dnnl_data_type_t type, const dnnl_memory_desc_t& descriptor);

// The layout of `like` for a tensor of another shape and type: same dimension order and blocking;
// row-major when `like` does not have one of the layouts of images.
dnnl_memory_desc_t in_layout_of(const Value& like, const Type& type);

// A descriptor as an opaque layout; plain when it is row-major.
Layout layout_of(const dnnl_memory_desc_t& descriptor);

// Whether a tensor is the same bytes in both layouts: channels last and blocked by 16 when there
// are 16 channels, any order of dimensions of extent 1.
bool same_bytes(const Type& type, const Layout& a, const Layout& b);

// Attributes of a primitive: scratch memory is given by the caller, and the fused activation and
// residual of a node are post-operations. `residual` is the descriptor of a tensor added before the
// activation, or nullptr.
Attributes attributes(const Settings* fused = nullptr,
                      const dnnl_memory_desc_t* residual = nullptr);

// The descriptor of an implementation that oneDNN has for the operation, or nullptr when it has
// none.
Descriptor describe(const void* operation, dnnl_primitive_attr* attributes,
                    dnnl_primitive_desc* hint = nullptr);
// The descriptor, or nullptr when it is oneDNN's plain reference: a thousand times slower than its
// fast kernels.
Descriptor unless_reference(Descriptor descriptor);

dnnl_memory_desc_t query(const dnnl_primitive_desc* descriptor, dnnl_query_t what, int index = 0);
std::int64_t scratch_bytes(const dnnl_primitive_desc* descriptor);

// Which input or output of the node an argument of the primitive is.
struct Argument {
  int name = 0;  // DNNL_ARG_…
  enum Source { input, output } source = input;
  int index = 0;
  dnnl_memory_desc_t descriptor = {};
};

// A kernel that executes the primitive on these arguments.
Kernel make_kernel(const dnnl_primitive_desc* descriptor, const std::vector<Argument>& arguments);

// The primitive that copies a tensor from layout `from` to layout `to`, and its kernel, which
// copies the only input of a node to its first output.
Descriptor describe_reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to);
Kernel make_reorder(const Descriptor& descriptor);

}  // namespace tutti::onednn
