#include "sim/programs/flows/binary_tree.h"

namespace headway {
namespace {

/// In the tree over [0, nodes) with root 0, a node's lowest set bit is its height: its parent is
/// reached by clearing that bit and setting the next one, or by clearing alone where that falls
/// outside.
int tree_parent(int node, int nodes) {
  if (node == 0) return -1;
  const int bit = node & -node;
  const int up = (node ^ bit) | (bit << 1);
  return up < nodes ? up : node ^ bit;
}

}  // namespace

int double_tree_parent(int node, int nodes, bool mirrored) {
  if (!mirrored) return tree_parent(node, nodes);
  if (nodes % 2 == 0) {
    const int parent = tree_parent(nodes - 1 - node, nodes);
    return parent < 0 ? -1 : nodes - 1 - parent;
  }
  const int parent = tree_parent((node + nodes - 1) % nodes, nodes);
  return parent < 0 ? -1 : (parent + 1) % nodes;
}

}  // namespace headway
