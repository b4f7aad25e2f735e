#include "calibrate/block/block_device.h"

namespace headway {

BlockProduct whole_product(const GemmShape& shape, GemmLayout layout) {
  const long m = static_cast<long>(shape.m);
  const long n = static_cast<long>(shape.n);
  const long k = static_cast<long>(shape.k);
  BlockProduct product{.shape = shape, .layout = layout};
  product.a.leading = layout == GemmLayout::tn ? m : k;
  product.b.leading = layout == GemmLayout::nt ? k : n;
  product.c.leading = n;
  return product;
}

}  // namespace headway
