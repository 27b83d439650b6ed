package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/vault"
)

var tortureRounds = flag.Int("torture", 10, "how often TestTorture kills the program")

// Under load from several people the program is killed at random moments, again and again. Nothing that was said is lost,
// nothing is done twice, and no answer comes twice without a mark.
func TestTorture(t *testing.T) {
	people := []string{"Ana", "Ben", "Cleo", "Dan"}
	h := newHome(t, "", "people: [{name: Ana, role: owner}, {name: Ben}, {name: Cleo}, {name: Dan}]\ngateways: {burst: 0s}\n")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))

	chatters := map[string]*chatter{}
	type saying struct{ who, key, id, words, proof string }
	var said []saying
	daemon := h.daemon()
	for _, name := range people {
		chatters[name] = h.open(name)
	}
	for round := range *tortureRounds {
		var fresh []saying
		for i, name := range people {
			key := fmt.Sprintf("K%dx%d", round, i)
			fresh = append(fresh, saying{name, key, key + "m", "remember that the box " + key + " is full", "Noted"},
				saying{name, key, key + "j", "remind me tomorrow at 9 to empty " + key, "Reminder"},
				saying{name, key, key + "f", "save " + key + " to " + key + ".txt", "Wrote"})
		}
		random.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
		said = append(said, fresh...)
		var talking sync.WaitGroup
		for _, s := range fresh {
			talking.Go(func() { _ = chatters[s.who].say(s.words, s.id) }) // the daemon may die under it
		}
		blow(t, daemon, time.Duration(random.IntN(250))*time.Millisecond)
		talking.Wait()
		if random.IntN(3) == 0 { // once more, while it puts itself in order
			blow(t, h.begin(nil, "run"), time.Duration(random.IntN(100))*time.Millisecond)
		}
		daemon = h.daemon()
		for _, name := range people {
			<-chatters[name].gone
			chatters[name].reopen()
		}
		for _, s := range fresh { // who got no answer says it again
			if err := chatters[s.who].say(s.words, s.id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range said[max(0, len(said)-3*len(people)):] {
		chatters[s.who].await(s.id)
	}
	eventually(t, "all runs have ended", func() bool {
		status := ask(h, viewStatus, query{})
		return status.Queue+len(status.Runs)+status.Outbox.Waiting == 0
	})

	facts, jobs := map[string]int{}, map[string]int{}
	for _, m := range ask(h, viewMemory, query{}) {
		facts[strings.Fields(m.Text)[2]]++
	}
	for _, j := range ask(h, viewJobs, query{}) {
		jobs[strings.Fields(j.Text)[1]]++
	}
	marks := 0
	for _, s := range said {
		all, marked := 0, 0
		for _, p := range chatters[s.who].all() {
			if answers(p, s.proof, s.key) {
				all++
				if strings.HasPrefix(p, "↻") {
					marked++
				}
			}
		}
		marks += marked
		if all == 0 || all-marked > 1 {
			t.Errorf("%q of %s: %d answers, %d of them marked", s.words, s.who, all, marked)
		}
		if facts[s.key] != 1 || jobs[s.key] != 1 || h.read(filepath.Join("ws", s.key+".txt")) != s.key {
			t.Errorf("%s: %d memories, %d reminders, file %q", s.key, facts[s.key], jobs[s.key], h.read(filepath.Join("ws", s.key+".txt")))
		}
	}
	for _, r := range ask(h, viewRuns, query{Limit: everything}) {
		if r.State != string(vault.Done) {
			t.Errorf("run %d is %s: %s", r.ID, r.State, r.Reason)
		}
	}
	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d", code)
	}
	if err := vault.VerifyFile(t.Context(), filepath.Join(h.vault(), "vault.db")); err != nil {
		t.Error(err)
	}
	t.Logf("%d cuts, %d messages, %d answers marked as possible repeats", *tortureRounds, len(said), marks)
}

// answers reports whether a part has a line that answers a saying.
func answers(part, proof, key string) bool {
	for line := range strings.SplitSeq(part, "\n") {
		if strings.HasPrefix(line, proof) && strings.Contains(line, key) {
			return true
		}
	}
	return false
}

// blow kills a process after a while.
func blow(t *testing.T, p *process, after time.Duration) {
	t.Helper()
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ended:
		t.Errorf("the process ended by itself:\n%s", p.log)
	}
	p.kill()
}
