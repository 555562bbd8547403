package evidence_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/evidence"
)

// Roots and proofs over stored tiles and recomputed leaves are those of RFC 6962, at the borders of
// tiles and beyond two levels of tiles.
func TestTheTreeIsThatOfTheRFC(t *testing.T) {
	t.Parallel()
	const most = 65_536 + 700
	leaves := make([][]byte, most)
	for i := range leaves {
		leaves[i] = leafOf(fmt.Append(nil, i))
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		read := 0
		all := func(from, to int64) ([][]byte, error) {
			read += int(to - from + 1)
			return leaves[from-1 : to], nil
		}
		sizes := []int64{1, 2, 3, 7, 255, 256, 257, 511, 512, 513, 4_095, 4_097, 65_535, 65_536, 65_537, most}
		before := int64(0)
		for _, size := range sizes {
			tree := evidence.TreeOf(t.Context(), d, "acme", size, all)
			if err := tree.Grow(); err != nil {
				t.Fatal(err)
			}
			read = 0
			root, err := tree.Root(size)
			if err != nil || !bytes.Equal(root, rootOf(leaves[:size])) {
				t.Fatalf("the root of %d leaves: %x %v", size, root, err)
			}
			for _, index := range []int64{0, size / 3, size / 2, max(0, size-257), size - 1} {
				path, err := tree.Inclusion(index, size)
				if err != nil || !isIncluded(uint64(index), uint64(size), leaves[index], path, root) {
					t.Errorf("leaf %d of %d is not proven: %v", index, size, err)
				}
			}
			if before > 0 {
				path, err := tree.Consistency(before, size)
				if err != nil || !isPrefix(uint64(before), uint64(size), path, rootOf(leaves[:before]), root) {
					t.Errorf("%d is not the beginning of %d: %v", before, size, err)
				}
			}
			if read > 256 {
				t.Errorf("%d leaves were read for a tree of %d", read, size)
			}
			before = size
		}
	})
}
