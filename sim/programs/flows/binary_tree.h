#pragma once

namespace headway {

/// NCCL's double binary tree (Sanders, Speck, Traeff 2009; NCCL src/graph/trees.cc): two trees over
/// the same nodes, such that no node has children in both; of an odd number only node 0 has one in
/// each. So no node sends more than twice the message. `mirrored` names the second one: for an even
/// number of nodes the first with its order reversed, for an odd number shifted by one.
/// The parent of `node` in [0, nodes), or -1 for the root.
[[nodiscard]] int double_tree_parent(int node, int nodes, bool mirrored);

}  // namespace headway
