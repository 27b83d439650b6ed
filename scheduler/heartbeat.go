package scheduler

import (
	"context"
	"errors"
	"strings"
	"time"

	"hearth/vault"
)

// afterFailure is how long the heartbeat rests when its last run failed: whoever is told of it is not told again at every beat.
const afterFailure = 24 * time.Hour

// beat wakes a run for each owner who wrote rules, when the heartbeat is on and its time has come. It gives the next instant
// at which it may come; zero when there is none to wait for.
func (s *Scheduler) beat(ctx context.Context) (next time.Time, err error) {
	every := time.Duration(0)
	if s.heartbeat != nil {
		every = s.heartbeat()
	}
	if every <= 0 {
		return next, nil
	}
	people, err := s.vault.People(ctx)
	for _, p := range people {
		if !p.IsOwner() {
			continue
		}
		at, failed := s.beatFor(ctx, p, every)
		err = errors.Join(err, failed)
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, err
}

func (s *Scheduler) beatFor(ctx context.Context, p vault.Person, every time.Duration) (time.Time, error) {
	rules, err := s.vault.RulesOf(ctx, p.ID)
	if err != nil || len(rules) == 0 {
		return time.Time{}, err
	}
	last, failed, err := s.vault.LastBeat(ctx, p.ID)
	if err != nil {
		return time.Time{}, err
	}
	now := s.now()
	if last.IsZero() || last.After(now.Add(late)) { // the first time, or noted by a clock that stood in the future
		return now.Add(every), s.vault.Beat(ctx, p.ID, "")
	}
	if failed {
		every = max(every, afterFailure)
	}
	if due := last.Add(every); due.After(now) {
		return due, nil
	}
	until, err := s.vault.QuietUntil(ctx, p.ID)
	if err != nil || !until.IsZero() {
		return until, err
	}
	return now.Add(every), s.vault.Beat(ctx, p.ID, "- "+strings.Join(rules, "\n- "))
}
