#include "reports/document/markdown_document.h"

#include <gtest/gtest.h>

#include "tests/reports/document/sample_document.h"

namespace headway {
namespace {

TEST(MarkdownDocument, HasEveryBlock) {
  EXPECT_EQ(markdown_of(sample_document()), R"(# A \*title\*

a lead

## First

5 \< 6

> careful

- x
- y\_

- a|b: c\<d

## Second

| number | median | 5th to 95th percentile |
| --- | ---: | ---: |
| time | 6.9 s | 6 .. 7 s |

| name | n |
| --- | ---: |
| a\*b | -1 |

| name | n |
| --- | ---: |
| a\*b | -1 |

| tp by pp | 1 | 2 |
| --- | ---: | ---: |
| 8 | 5.0 s | no |

- tp 8, pp 2: short by 2 GiB

```sh
a < b
c
```

<details>
<summary>all of it</summary>

```json
{}
```

</details>
)");
}

}  // namespace
}  // namespace headway
