package outbox

import "time"

const (
	firstWait = time.Second
	maxWait   = time.Minute
	// maxStored bounds what is believed of a wait that an earlier life wrote down: it was written on the wall clock, which
	// may have jumped since.
	maxStored = 6 * time.Hour
)

// backoff is how long to wait after the n-th failure in a row (from 1): a second, doubled each time up to a minute, and of
// that a random part between a half and the whole, so that many lanes do not come back at the same moment.
func backoff(n int, random float64) time.Duration {
	wait := min(maxWait, firstWait<<min(max(0, n-1), 6))
	return wait/2 + time.Duration(random*float64(wait/2))
}
