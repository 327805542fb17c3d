// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/primitive.h"

#include "tutti/core/memory.h"
#include "tutti/ops/shared/activation.h"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

namespace tutti::onednn {
namespace {

dnnl_data_type_t data_type(DType type) {
  switch (type) {
    case DType::f32:
      return dnnl_f32;
    case DType::i32:
      return dnnl_s32;
    case DType::u8:
      return dnnl_u8;
    case DType::i8:
      return dnnl_s8;
    case DType::f64:
    case DType::i64:
    case DType::bf16:  // a layout of floats here, not a type
      break;
  }
  tutti::check(false, "oneDNN is given none of these: supports() must say so");
  return dnnl_data_type_undef;
}

Shape row_major_strides(const Shape& dimensions) {
  Shape strides(dimensions.size(), 1);
  for (std::size_t d = dimensions.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<std::int64_t>(dimensions[d], 1);
  return strides;
}

std::string name_of_layout(const dnnl_memory_desc_t& md) {
  struct Tag {
    int rank;
    dnnl_format_tag_t tag;
    const char* name;
  };
  constexpr Tag tags[] = {{4, dnnl_nhwc, "nhwc"},
                          {4, dnnl_chwn, "chwn"},
                          {4, dnnl_nChw16c, "nChw16c"},
                          {4, dnnl_nChw8c, "nChw8c"},
                          {4, dnnl_OIhw16i16o, "OIhw16i16o"},
                          {4, dnnl_OIhw16o16i, "OIhw16o16i"},
                          {4, dnnl_Ohwi16o, "Ohwi16o"},
                          {4, dnnl_Oihw16o, "Oihw16o"},
                          {3, dnnl_nwc, "nwc"},
                          {3, dnnl_nCw16c, "nCw16c"},
                          {5, dnnl_ndhwc, "ndhwc"},
                          {5, dnnl_nCdhw16c, "nCdhw16c"},
                          {2, dnnl_ba, "ba"}};
  for (const Tag& tag : tags) {
    dnnl_memory_desc_t candidate;
    if (tag.rank == md.ndims &&
        dnnl_memory_desc_init_by_tag(&candidate, md.ndims, md.dims, md.data_type, tag.tag) ==
            dnnl_success &&
        dnnl_memory_desc_equal(&candidate, &md))
      return tag.name;
  }
  return md.format_kind == dnnl_format_kind_wino ? "winograd" : "blocked";
}

// The stride of every dimension of more than one element (others 0), when each dimension has a
// stride: in layouts without blocks, or with one block that is exactly the extent of a dimension.
// Else nothing.
std::optional<Shape> strides_of(const dnnl_memory_desc_t& md) {
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  if (md.format_kind != dnnl_blocked || blocking.inner_nblks > 1) return std::nullopt;
  Shape strides(blocking.strides, blocking.strides + md.ndims);
  if (blocking.inner_nblks == 1) {
    const auto blocked = static_cast<std::size_t>(blocking.inner_idxs[0]);
    if (md.dims[blocked] != blocking.inner_blks[0]) return std::nullopt;
    strides[blocked] = 1;
  }
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (md.dims[d] == 1) strides[d] = 0;
  return strides;
}

// Bytes of address space that must be free before a primitive is made: without memory for its code,
// oneDNN would end the process.
constexpr std::int64_t enough_to_compile = std::int64_t{1} << 25;

class Primitive {
 public:
  Primitive(const dnnl_primitive_desc* descriptor, const std::vector<Argument>& arguments) {
    require_address_space(enough_to_compile, "compiling a kernel");
    check(dnnl_primitive_create(&primitive_, descriptor), "dnnl_primitive_create");
    check(dnnl_stream_create(&stream_, engine(), dnnl_stream_default_flags), "dnnl_stream_create");
    for (const Argument& argument : arguments)
      add(argument.name, argument.descriptor,
          {argument.source == Argument::output, argument.index});
    if (onednn::scratch_bytes(descriptor) > 0)
      add(DNNL_ARG_SCRATCHPAD, query(descriptor, dnnl_query_scratchpad_md), {false, -1});
  }
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;
  ~Primitive() {
    for (dnnl_exec_arg_t& argument : arguments_) dnnl_memory_destroy(argument.memory);
    dnnl_primitive_destroy(primitive_);
    dnnl_stream_destroy(stream_);
  }

  void run(const KernelArguments& arguments) {
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
      const Slot& slot = slots_[k];
      void* pointer = slot.index < 0 ? arguments.scratch
                                     : (slot.output ? arguments.out : arguments.in)[slot.index];
      if (pointer == handles_[k]) continue;
      dnnl_memory_set_data_handle(arguments_[k].memory, pointer);
      handles_[k] = pointer;
    }
    check(dnnl_primitive_execute(primitive_, stream_, static_cast<int>(arguments_.size()),
                                 arguments_.data()),
          "dnnl_primitive_execute");
  }

 private:
  struct Slot {
    bool output;
    int index;  // -1: scratch
  };

  void add(int name, const dnnl_memory_desc_t& descriptor, Slot slot) {
    dnnl_memory_t memory = nullptr;
    check(dnnl_memory_create(&memory, &descriptor, engine(), DNNL_MEMORY_NONE),
          "dnnl_memory_create");
    arguments_.push_back({name, memory});
    slots_.push_back(slot);
    handles_.push_back(nullptr);
  }

  dnnl_primitive_t primitive_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::vector<Slot> slots_;
  std::vector<void*> handles_;
};

}  // namespace

void check(dnnl_status_t status, const char* call) {
  if (status == dnnl_success) return;
  constexpr const char* texts[] = {"success",       "out of memory",    "invalid arguments",
                                   "unimplemented", "end of iteration", "runtime error",
                                   "not required"};
  const auto code = static_cast<std::size_t>(status);
  throw Error("oneDNN: {} failed: {} (status {}); smaller sizes may help, {}", call,
              code < std::size(texts) ? texts[code] : "unknown", code, memory_bound().text);
}

// oneDNN 2.6 crashes with an illegal instruction at the first product where it uses AMX.
void bound_instructions() {
  [[maybe_unused]] static const bool once = [] {
    if (dnnl_version()->major < 3 && std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr &&
        std::getenv("DNNL_MAX_CPU_ISA") == nullptr)
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
    return true;
  }();
}

dnnl_engine_t engine() {
  static const dnnl_engine_t made = [] {
    dnnl_engine_t handle = nullptr;
    check(dnnl_engine_create(&handle, dnnl_cpu, 0), "dnnl_engine_create");
    return handle;
  }();
  return made;
}

dnnl_memory_desc_t strided(DType dtype, const Shape& dimensions, const Shape& strides) {
  dnnl_memory_desc_t md{};
  check(dnnl_memory_desc_init_by_strides(&md, static_cast<int>(dimensions.size()),
                                         dimensions.data(), data_type(dtype), strides.data()),
        "dnnl_memory_desc_init_by_strides");
  return md;
}

dnnl_memory_desc_t plain(DType dtype, const Shape& dimensions) {
  return strided(dtype, dimensions, row_major_strides(dimensions));
}

dnnl_memory_desc_t plain(const Type& type) { return plain(type.dtype, type.shape); }

dnnl_memory_desc_t any(dnnl_data_type_t type, const Shape& dimensions) {
  dnnl_memory_desc_t md{};
  check(dnnl_memory_desc_init_by_tag(&md, static_cast<int>(dimensions.size()), dimensions.data(),
                                     type, dnnl_format_tag_any),
        "dnnl_memory_desc_init_by_tag");
  return md;
}

dnnl_memory_desc_t any(const Type& type) { return any(data_type(type.dtype), type.shape); }

dnnl_memory_desc_t stored_as(dnnl_data_type_t type, const dnnl_memory_desc_t& descriptor) {
  dnnl_memory_desc_t md = descriptor;
  md.data_type = type;
  return md;
}

dnnl_memory_desc_t as_it_lies(const Value& value) {
  if (value.layout.plain()) return plain(value.type);
  dnnl_memory_desc_t md{};
  tutti::check(value.layout.description.size() == sizeof md, "the layout is one of oneDNN's");
  std::memcpy(&md, value.layout.description.data(), sizeof md);
  return md;
}

dnnl_memory_desc_t in_layout_of(const Value& like, const Type& type) {
  if (like.layout.plain()) return plain(type);
  constexpr dnnl_format_tag_t tags[] = {dnnl_nhwc,   dnnl_nChw16c, dnnl_nChw8c,  dnnl_nwc,
                                        dnnl_nCw16c, dnnl_ndhwc,   dnnl_nCdhw16c};
  const dnnl_memory_desc_t shaped = as_it_lies(like);
  const auto rank = static_cast<int>(type.shape.size());
  for (dnnl_format_tag_t tag : tags) {
    dnnl_memory_desc_t same, result;
    if (dnnl_memory_desc_init_by_tag(&same, rank, shaped.dims, shaped.data_type, tag) !=
            dnnl_success ||
        !dnnl_memory_desc_equal(&same, &shaped))
      continue;
    const dnnl_data_type_t dtype = type.dtype == DType::u8 ? dnnl_u8 : dnnl_f32;
    check(dnnl_memory_desc_init_by_tag(&result, rank, type.shape.data(), dtype, tag),
          "dnnl_memory_desc_init_by_tag");
    return result;
  }
  return plain(type);
}

Layout layout_of(const dnnl_memory_desc_t& md) {
  const Shape dimensions(md.dims, md.dims + md.ndims);
  dnnl_memory_desc_t row_major{};
  const Shape strides = row_major_strides(dimensions);
  check(
      dnnl_memory_desc_init_by_strides(&row_major, md.ndims, md.dims, md.data_type, strides.data()),
      "dnnl_memory_desc_init_by_strides");
  const char* half = md.data_type == dnnl_bf16 ? "bf16" : md.data_type == dnnl_f16 ? "fp16" : "";
  const bool is_row_major = dnnl_memory_desc_equal(&row_major, &md) != 0;
  if (is_row_major && *half == '\0') return {};
  Layout layout;
  layout.name = is_row_major ? "" : name_of_layout(md);
  if (*half != '\0') layout.name += is_row_major ? half : std::string(" ") + half;
  layout.bytes = static_cast<std::int64_t>(dnnl_memory_desc_get_size(&md));
  layout.description.resize(sizeof md);
  std::memcpy(layout.description.data(), &md, sizeof md);
  return layout;
}

bool same_bytes(const Type& type, const Layout& a, const Layout& b) {
  if (type.dtype == DType::f64) return false;
  const auto lies = [&](const Layout& layout) {
    return as_it_lies({.name = "", .type = type, .layout = layout});
  };
  const dnnl_memory_desc_t first = lies(a), second = lies(b);
  const auto strides = strides_of(first);
  return first.data_type == second.data_type && strides && strides == strides_of(second);
}

Attributes attributes(const Settings* fused, const dnnl_memory_desc_t* residual) {
  dnnl_primitive_attr_t handle = nullptr;
  check(dnnl_primitive_attr_create(&handle), "dnnl_primitive_attr_create");
  Attributes attributes(handle);
  check(dnnl_primitive_attr_set_scratchpad_mode(handle, dnnl_scratchpad_mode_user),
        "dnnl_primitive_attr_set_scratchpad_mode");
  if (fused == nullptr) return attributes;
  dnnl_post_ops_t post = nullptr;
  check(dnnl_post_ops_create(&post), "dnnl_post_ops_create");
  if (residual != nullptr)
    check(dnnl_post_ops_append_binary(post, dnnl_binary_add, residual),
          "dnnl_post_ops_append_binary");
  const auto eltwise = [&](dnnl_alg_kind_t kind, float alpha) {
    check(dnnl_post_ops_append_eltwise(post, 1.0f, kind, alpha, 0.0f),
          "dnnl_post_ops_append_eltwise");
  };
  switch (ops::activation_of(*fused)) {
    case ops::Activation::none:
      break;
    case ops::Activation::relu:
      eltwise(dnnl_eltwise_relu, 0.0f);
      break;
    case ops::Activation::leaky_relu:
      eltwise(dnnl_eltwise_relu, static_cast<float>(fused->real("slope")));
      break;
    case ops::Activation::sigmoid:
      eltwise(dnnl_eltwise_logistic, 0.0f);
      break;
    case ops::Activation::tanh:
      eltwise(dnnl_eltwise_tanh, 0.0f);
      break;
    case ops::Activation::gelu:
      eltwise(dnnl_eltwise_gelu_erf, 0.0f);
      break;
  }
  check(dnnl_primitive_attr_set_post_ops(handle, post), "dnnl_primitive_attr_set_post_ops");
  dnnl_post_ops_destroy(post);
  return attributes;
}

Descriptor describe(const void* operation, dnnl_primitive_attr* attributes,
                    dnnl_primitive_desc* hint) {
  require_address_space(enough_to_compile, "compiling a kernel");
  dnnl_primitive_desc_t handle = nullptr;
  if (dnnl_primitive_desc_create(&handle, operation, attributes, engine(), hint) != dnnl_success)
    return nullptr;
  return Descriptor(handle);
}

Descriptor unless_reference(Descriptor descriptor) {
  if (descriptor == nullptr) return nullptr;
  const char* implementation = nullptr;
  check(dnnl_primitive_desc_query(descriptor.get(), dnnl_query_impl_info_str, 0, &implementation),
        "dnnl_primitive_desc_query");
  return std::string_view(implementation).starts_with("ref") ? nullptr : std::move(descriptor);
}

dnnl_memory_desc_t query(const dnnl_primitive_desc* descriptor, dnnl_query_t what, int index) {
  const dnnl_memory_desc_t* md = dnnl_primitive_desc_query_md(descriptor, what, index);
  tutti::check(md != nullptr, "the primitive has this operand");
  return *md;
}

std::int64_t scratch_bytes(const dnnl_primitive_desc* descriptor) {
  const dnnl_memory_desc_t* md =
      dnnl_primitive_desc_query_md(descriptor, dnnl_query_scratchpad_md, 0);
  return md == nullptr ? 0 : static_cast<std::int64_t>(dnnl_memory_desc_get_size(md));
}

Kernel make_kernel(const dnnl_primitive_desc* descriptor, const std::vector<Argument>& arguments) {
  auto primitive = std::make_shared<Primitive>(descriptor, arguments);
  return [primitive](const KernelArguments& given) { primitive->run(given); };
}

Descriptor describe_reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  const auto with = attributes();
  dnnl_primitive_desc_t handle = nullptr;
  check(dnnl_reorder_primitive_desc_create(&handle, &from, engine(), &to, engine(), with.get()),
        "dnnl_reorder_primitive_desc_create");
  return Descriptor(handle);
}

Kernel make_reorder(const Descriptor& descriptor) {
  return make_kernel(
      descriptor.get(),
      {{DNNL_ARG_FROM, Argument::input, 0, query(descriptor.get(), dnnl_query_src_md)},
       {DNNL_ARG_TO, Argument::output, 0, query(descriptor.get(), dnnl_query_dst_md)}});
}

}  // namespace tutti::onednn
