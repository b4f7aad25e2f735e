#include "sim/network/fabrics/clos_paths.h"

namespace headway {

void ClosPaths::first_links(VertexId at, VertexId destination, std::vector<LinkId>& links) const {
  links.clear();
  if (at < shape_.endpoints()) {
    links.push_back(shape_.endpoint_link(at));
  } else if (at < shape_.spine_vertex(0, 0)) {
    from_leaf(at - shape_.leaf_vertex(0), destination, links);
  } else if (at < shape_.core_vertex(0, 0)) {
    from_spine(at - shape_.spine_vertex(0, 0), destination, links);
  } else {
    from_core(at - shape_.core_vertex(0, 0), destination, links);
  }
}

void ClosPaths::from_leaf(int leaf, VertexId destination, std::vector<LinkId>& links) const {
  const int last = shape_.leaf_of(destination);
  if (leaf == last) {
    links.push_back(Topology::reverse(shape_.endpoint_link(destination)));
    return;
  }
  if (shape_.group_of(leaf) != shape_.group_of(last) && !shape_.has_core) return;
  for (int spine = 0; spine < shape_.spines; ++spine) {
    for (int cable = 0; cable < shape_.leaf_cables; ++cable) {
      links.push_back(shape_.leaf_link(leaf, spine, cable));
    }
  }
}

void ClosPaths::from_spine(int number, VertexId destination, std::vector<LinkId>& links) const {
  const int group = number / shape_.spines;
  const int spine = number % shape_.spines;
  const int leaf = shape_.leaf_of(destination);
  if (shape_.group_of(leaf) == group) {
    for (int cable = 0; cable < shape_.leaf_cables; ++cable) {
      links.push_back(Topology::reverse(shape_.leaf_link(leaf, spine, cable)));
    }
    return;
  }
  for (int core = 0; core < shape_.cores; ++core) {
    for (int cable = 0; cable < shape_.core_cables; ++cable) {
      links.push_back(shape_.spine_link(group, spine, core, cable));
    }
  }
}

void ClosPaths::from_core(int number, VertexId destination, std::vector<LinkId>& links) const {
  const int plane = number / shape_.cores;
  const int core = number % shape_.cores;
  const int group = shape_.group_of(shape_.leaf_of(destination));
  for (int spine = plane; spine < shape_.spines; spine += shape_.planes) {
    for (int cable = 0; cable < shape_.core_cables; ++cable) {
      links.push_back(Topology::reverse(shape_.spine_link(group, spine, core, cable)));
    }
  }
}

}  // namespace headway
