package when

import "time"

// FollowsClock says whether a stored wake-up would come at another instant on the clock of another zone: "tomorrow at 9" does,
// "in 2 hours", "every 20 minutes" and a stamp with an offset do not. said is when words were said, in the zone they were meant
// in; spec is "" for a one-off.
func FollowsClock(words, spec string, said time.Time, zone *time.Location) bool {
	if spec != "" {
		s, err := read(spec)
		return err == nil && s.every == nil
	}
	here, err := Parse(words, said)
	if err != nil {
		return false
	}
	there, err := Parse(words, said.In(zone))
	return err != nil || !here.At.Equal(there.At) // an error: it has passed there
}

// OnClockOf gives the instant at which the clock in zone shows what t's own clock shows at t.
func OnClockOf(zone *time.Location, t time.Time) time.Time {
	return instantOf(wallOf(t, t.Location()), zone)
}
