package vault

import "testing"

func TestShrinkLeavesTheVaultAtWork(t *testing.T) {
	h := newHome(t)
	h.accept(h.ann, "one")
	for range 3 {
		check(t, h.Shrink(t.Context()))
	}
	h.accept(h.ann, "two")
	equal(t, "runs", len(must(h.Runs(t.Context(), 0, 10))(t)), 2)
}
