package vault

import "sync"

// previews are answers that are being written. They are in memory alone: nothing depends on them, and they end with the
// process, so that no word of an answer that never came stands in the file.
type previews struct {
	mu sync.Mutex
	by map[int64]string
}

// Preview notes what a run's model has written of its present reply; "" = nothing that may be shown. It is no answer: only
// SaveStep makes one.
func (v *Vault) Preview(run int64, words string) {
	v.previews.mu.Lock()
	before := v.previews.by[run]
	switch {
	case words == "":
		delete(v.previews.by, run)
	case v.previews.by == nil:
		v.previews.by = map[int64]string{run: words}
	default:
		v.previews.by[run] = words
	}
	v.previews.mu.Unlock()
	if words != before {
		v.notifier.wake(map[Change]bool{PreviewsChanged: true})
	}
}

// PreviewOf gives what a run's model has written of its present reply, as far as it may be shown; "" = nothing.
func (v *Vault) PreviewOf(run int64) string {
	v.previews.mu.Lock()
	defer v.previews.mu.Unlock()
	return v.previews.by[run]
}
