package when

import "time"

// Quiet is a stretch of every day as wall-clock time since midnight. From may lie after To: then it spans midnight. Equal:
// there is none.
type Quiet struct{ From, To time.Duration }

// Until gives the end of the stretch that t lies in, by the clock in t's zone; zero outside. The beginning belongs to it, the
// end does not. An end in the hour that a clock skips is the moment after it; of one it shows twice, the first.
func (q Quiet) Until(t time.Time) time.Time {
	if q.From == q.To {
		return time.Time{}
	}
	wall := wallOf(t, t.Location())
	day := midnight(wall)
	for _, first := range []time.Time{day.AddDate(0, 0, -1), day} {
		last := first
		if q.To < q.From {
			last = first.AddDate(0, 0, 1)
		}
		from, to := instantOf(first.Add(q.From), t.Location()), instantOf(last.Add(q.To), t.Location())
		if !t.Before(from) && t.Before(to) {
			return to
		}
	}
	return time.Time{}
}
