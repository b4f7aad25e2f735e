#include "sim/programs/flows/binary_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace headway {
namespace {

struct Tree {
  std::vector<int> parent;
  std::vector<int> children;  ///< how many
};

Tree tree_of(int nodes, bool mirrored) {
  Tree tree;
  tree.children.resize(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node) {
    tree.parent.push_back(double_tree_parent(node, nodes, mirrored));
    if (tree.parent.back() >= 0) ++tree.children[static_cast<std::size_t>(tree.parent.back())];
  }
  return tree;
}

/// Levels below the root.
int depth_of(int nodes) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1)));
}

TEST(BinaryTree, FourNodesByHand) {
  // 2 stands under the root 0 and above 1 and 3; mirrored, 1 stands under 3 and above 2 and 0.
  EXPECT_EQ(tree_of(4, false).parent, (std::vector<int>{-1, 2, 0, 2}));
  EXPECT_EQ(tree_of(4, true).parent, (std::vector<int>{1, 3, 1, -1}));
}

TEST(BinaryTree, BothTreesSpanAllNodesInLogarithmicDepth) {
  for (int nodes = 1; nodes <= 300; ++nodes) {
    for (const bool mirrored : {false, true}) {
      const Tree tree = tree_of(nodes, mirrored);
      int roots = 0;
      int deepest = 0;
      for (int node = 0; node < nodes; ++node) {
        int steps = 0;
        int at = node;
        while (tree.parent[static_cast<std::size_t>(at)] >= 0 && steps <= nodes) {
          at = tree.parent[static_cast<std::size_t>(at)];
          ++steps;
        }
        deepest = std::max(deepest, steps);
        roots += at == node ? 1 : 0;
      }
      ASSERT_EQ(roots, 1) << nodes;
      ASSERT_EQ(deepest, depth_of(nodes)) << nodes;
    }
  }
}

TEST(BinaryTree, NoNodeHasMoreThanTwoChildren) {
  for (int nodes = 1; nodes <= 300; ++nodes) {
    for (const bool mirrored : {false, true}) {
      for (const int children : tree_of(nodes, mirrored).children) ASSERT_LE(children, 2) << nodes;
    }
  }
}

TEST(BinaryTree, ANodeHasChildrenInOneTreeOnly) {
  for (int nodes = 2; nodes <= 300; ++nodes) {
    const Tree one = tree_of(nodes, false);
    const Tree other = tree_of(nodes, true);
    for (std::size_t node = 0; node < one.children.size(); ++node) {
      const bool in_both = one.children[node] > 0 && other.children[node] > 0;
      // Shifting an odd tree brings its last node, which is inside, onto the root of the first.
      ASSERT_EQ(in_both, nodes % 2 == 1 && node == 0) << nodes << " nodes, node " << node;
    }
  }
}

TEST(BinaryTree, NoNodeSendsMoreThanTwiceTheMessage) {
  // Half a message up in each tree that has a parent, half a message down to each child.
  for (int nodes = 2; nodes <= 300; ++nodes) {
    const Tree one = tree_of(nodes, false);
    const Tree other = tree_of(nodes, true);
    int most = 0;
    for (std::size_t node = 0; node < one.children.size(); ++node) {
      most = std::max(most, (one.parent[node] >= 0 ? 1 : 0) + one.children[node] +
                                (other.parent[node] >= 0 ? 1 : 0) + other.children[node]);
    }
    ASSERT_EQ(most, std::min(4, nodes)) << nodes << " nodes: halves of the message";
  }
}

}  // namespace
}  // namespace headway
