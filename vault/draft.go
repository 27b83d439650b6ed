package vault

import "sync"

// drafts are answers that are being written. They are in memory alone: nothing depends on them, and they end with the
// process, so that no word of an answer that never came stands in the file.
type drafts struct {
	mu sync.Mutex
	by map[int64]string
}

// Draft notes what a run's model has written of its present reply; "" = nothing that may be shown. It is no answer: only
// SaveStep makes one.
func (v *Vault) Draft(run int64, words string) {
	v.drafts.mu.Lock()
	before := v.drafts.by[run]
	switch {
	case words == "":
		delete(v.drafts.by, run)
	case v.drafts.by == nil:
		v.drafts.by = map[int64]string{run: words}
	default:
		v.drafts.by[run] = words
	}
	v.drafts.mu.Unlock()
	if words != before {
		v.notifier.wake()
	}
}

// DraftOf gives what a run's model has written of its present reply, as far as it may be shown; "" = nothing.
func (v *Vault) DraftOf(run int64) string {
	v.drafts.mu.Lock()
	defer v.drafts.mu.Unlock()
	return v.drafts.by[run]
}
