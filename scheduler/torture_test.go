package scheduler

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

var tortureKills = flag.Int("torture", 10, "how often TestTorture kills the program; 200 are a month with 1,000 wake-ups")

var errKilled = errors.New("killed")

// killer lets every commit fail from a random one on, as if the process were dead.
type killer struct {
	mu     sync.Mutex
	left   int // commits until then; < 0 = none is planned
	killed chan struct{}
	dead   bool
}

func (k *killer) plan(commits int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left, k.killed, k.dead = commits, make(chan struct{}), false
}

// event stands before and after each commit.
func (k *killer) event(string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return errKilled
	}
	if k.left < 0 {
		return nil
	}
	if k.left--; k.left < 0 {
		k.dead = true
		close(k.killed)
		return errKilled
	}
	return nil
}

// gap is a stretch of the clock in which the program could do nothing: it was dead, asleep, or the clock leapt over it.
type gap struct{ from, to time.Time }

// promised is how late a wake-up may be while the program is up.
const promised = time.Minute

// latest is until when a wake-up must have fired.
func latest(due time.Time, gaps []gap) time.Time {
	limit := due
	for again := true; again; {
		again = false
		for _, g := range gaps {
			if !g.from.After(limit.Add(promised)) && g.to.After(limit) {
				limit, again = g.to, true
			}
		}
	}
	return limit.Add(promised)
}

// TestTortureWakeUps kills the program at random commits while the days go by, with both changes of the clock between summer
// and winter, leaps of an hour and a long sleep: each wake-up fires once, and in time whenever the program is up.
func TestTortureWakeUps(t *testing.T) {
	for season, change := range map[string]string{"spring": "2026-03-29T01:00:00Z", "autumn": "2026-10-25T01:00:00Z"} {
		t.Run(season, func(t *testing.T) { torture(t, at(t, change), max(1, *tortureKills)) })
	}
}

func torture(t *testing.T, change time.Time, kills int) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	length := max(48*time.Hour, time.Duration(kills)*30*24*time.Hour/200)
	start := change.Add(-length / 2)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, start.Format(time.RFC3339), func(w *world) {
		w.must(w.vault.SyncPeople(w.t.Context(), []vault.Person{
			{Name: "Me", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}},
			{Name: "Two", Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: "2"}}},
			{Name: "Three", Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: "3"}}},
		}))
		people, err := w.vault.People(w.t.Context())
		w.must(err)
		var jobs []vault.Job
		w.must(w.vault.Do(w.t.Context(), "plan", func(tx *vault.Tx) error {
			for i := range 5 * kills {
				wall := start.Add(time.Duration(random.Int64N(int64(length - time.Hour)))).Add(time.Minute).Truncate(time.Second).In(berlin)
				j := vault.Job{Kind: []string{vault.Say, vault.Do}[i%2], Person: people[i%len(people)].ID, Conversation: w.talk.ID, To: vault.Address{Gateway: "telegram", Account: "bot", Chat: "1"}, Text: fmt.Sprint("thing ", i), Zone: "Europe/Berlin", Next: wall}
				if i < 4 {
					j.Spec = []string{"cron 30 2 * * *", "cron 0 */6 * * *", "cron 0 0 * * *", "cron 15 3 * * *"}[i]
					j.Next, _, err = when.Next(j.Spec, berlin, start)
				}
				if err == nil {
					j, err = tx.AddJob(j)
				}
				if err != nil {
					return err
				}
				jobs = append(jobs, j)
			}
			return nil
		}))

		k := &killer{left: -1}
		w.hooks = vault.Hooks{Before: k.event, After: k.event}
		w.must(w.vault.Close())
		end, killed := start.Add(length), 0
		var gaps []gap
		leaps := []struct {
			at time.Time
			by time.Duration
		}{{start.Add(length / 5), time.Hour}, {start.Add(length * 2 / 5), -time.Hour}, {start.Add(length * 3 / 5), length / 10}}
		for w.now().Before(end) || killed < kills {
			if killed < kills {
				k.plan(1 + random.IntN(20))
			} else {
				k.plan(1 << 30)
			}
			began := w.now()
			if err := w.live(k.killed, func() time.Time {
				if len(leaps) > 0 && leaps[0].at.Before(end) {
					return leaps[0].at
				}
				return end
			}, func() bool {
				if len(leaps) == 0 {
					return false
				}
				from := w.now()
				w.set(from.Add(leaps[0].by))
				if leaps[0].by > 0 {
					gaps = append(gaps, gap{from, w.now()})
				}
				leaps = leaps[1:]
				return true
			}); err == nil {
				break // the month is over
			}
			killed++
			died := w.now()
			sleep(time.Duration(random.Int64N(int64(10 * time.Minute))))
			gaps = append(gaps, gap{died, w.now()}, gap{began, began})
		}
		k.plan(1 << 30)
		w.open()
		w.start()
		sleep(2 * time.Minute)
		w.work(w.t.Context())
		t.Logf("%d wake-ups, %d kills, %s", len(jobs), killed, length)
		w.verifyWakeUps(jobs, gaps, berlin, start)
	})
}

// live is one life of the program. It ends with an error when it is killed, and without when the time is over.
func (w *world) live(killed <-chan struct{}, next func() time.Time, leap func() bool) error {
	v, err := vault.Open(w.t.Context(), w.dir, vault.Options{Now: w.now, Hooks: w.hooks})
	if err != nil {
		return err
	}
	w.vault = v
	w.start()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		woken, end := v.Subscribe()
		defer end()
		for ctx.Err() == nil {
			w.work(ctx)
			select {
			case <-ctx.Done():
			case <-woken:
			}
		}
	}()
	defer func() {
		cancel()
		<-done
		w.stop()
		w.stop = nil
		_ = v.Close() // a dead one cannot even tidy up
	}()
	for {
		timer := time.NewTimer(max(0, next().Sub(w.now())))
		select {
		case <-killed:
			timer.Stop()
			return errKilled
		case <-timer.C:
		}
		if !leap() {
			return nil
		}
	}
}

// work is brain and messenger: every run has its answer, every part arrives. It gives up when a commit fails.
func (w *world) work(ctx context.Context) {
	for {
		p, err := w.vault.Claim(ctx)
		if err != nil {
			break
		}
		if err := w.vault.EndRun(ctx, p.Run.ID, vault.Ending{State: vault.Done, Reply: "done: " + p.Run.Input}); err != nil {
			return
		}
	}
	for {
		heads, err := w.vault.Heads(ctx, "telegram")
		if err != nil || len(heads) == 0 {
			return
		}
		for _, p := range heads {
			if w.vault.Sending(ctx, p) != nil || w.vault.Delivered(ctx, p, "m") != nil {
				return
			}
		}
	}
}

func (w *world) verifyWakeUps(jobs []vault.Job, gaps []gap, zone *time.Location, start time.Time) {
	w.t.Helper()
	runs, err := w.vault.Runs(w.t.Context(), 0, 1_000_000)
	w.must(err)
	of := map[int64][]vault.Run{}
	for _, r := range runs {
		of[r.Job] = append(of[r.Job], r)
		if limit := latest(r.Due, gaps); r.Queued.Before(r.Due) || r.Queued.After(limit) {
			w.t.Errorf("job %d, due %s, fired %s, at the latest %s", r.Job, r.Due, r.Queued, limit)
		}
	}
	for _, j := range jobs {
		now := w.job(j.ID)
		if j.Spec == "" {
			if now.State != vault.JobDone || now.Fired != 1 || len(of[j.ID]) != 1 || now.LastResult != "delivered" {
				w.t.Errorf("job %d (%s), due %s: %s, fired %d times in %d runs, %s", j.ID, j.Kind, j.Next, now.State, now.Fired, len(of[j.ID]), now.LastResult)
			}
			continue
		}
		due, results, err := w.vault.Fires(w.t.Context(), j.ID, 10_000)
		w.must(err)
		fired := 0
		seen := map[int64]bool{}
		for i, d := range due {
			seen[d.UnixMilli()] = true
			if results[i] == "fired" {
				fired++
			}
		}
		if fired != now.Fired || fired != len(of[j.ID]) {
			w.t.Errorf("job %d: %d firings, counted %d, %d runs", j.ID, fired, now.Fired, len(of[j.ID]))
		}
		if !now.Next.After(w.now()) {
			w.t.Errorf("job %d (%s) is %s and stands at %s", j.ID, j.Spec, now.State, now.Next)
		}
		want := 0
		for d, ok, err := when.Next(j.Spec, zone, start); ok && d.Before(now.Next); d, ok, err = when.Next(j.Spec, zone, d) {
			w.must(err)
			if want++; !seen[d.UnixMilli()] {
				w.t.Errorf("job %d (%s): %s neither fired nor is noted as missed", j.ID, j.Spec, d)
			}
		}
		if want != len(due) {
			w.t.Errorf("job %d (%s): %d instants, %d of them known", j.ID, j.Spec, want, len(due))
		}
	}
	synctest.Wait()
}
