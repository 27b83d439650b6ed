package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

// Twenty people have twenty tasks of ten steps each, over Telegram and with a model: facts, files, reminders that come due,
// and a message to somebody else that the owner must allow. Meanwhile the program is killed at random moments. Whoever gets
// no answer waits: nobody says anything twice but the owner, who answers some questions twice.
func TestTorturePhone(t *testing.T) {
	const people = 20
	w := newOrdeal(t, "", people)
	killed := make(chan struct{})
	var cuts sync.WaitGroup
	cuts.Go(func() {
		defer close(killed)
		for range *tortureRounds {
			p := w.h.begin(nil, "run")
			blow(t, p, time.Duration(20+w.random(700))*time.Millisecond)
		}
		w.h.daemon()
	})
	for batch, over := 0, false; !over && !t.Failed(); batch++ {
		select {
		case <-killed: // the last one is worked off in peace
			over = true
		default:
		}
		w.work(batch)
	}
	cuts.Wait()
	if t.Failed() {
		return
	}
	w.judge()
	t.Logf("\n%s\n| %d %s", ordealHead, *tortureRounds, w.row())
}

// ordeal is a household under torture.
type ordeal struct {
	t      *testing.T
	h      *home
	api    *tgfake.Server
	people []tgfake.Person // the first is the owner
	ben    tgfake.Person   // who gets the messages

	mu       sync.Mutex
	rand     *rand.Rand
	furthest map[string]int // results that the model has seen, by task
	back     []string       // steps that were journaled and asked for again

	found   ordealCount
	tasks   []task
	read    map[int64]int                  // how far each chat was read
	shown   map[string]map[string][]string // by task: by what it is, the texts
	pending []asked                        // questions about letters, which want a look at Ben's chat first
}

// asked is a question, and who reads it.
type asked struct {
	who tgfake.Person
	m   tgfake.Shown
}

type task struct {
	key string
	who tgfake.Person
}

func newOrdeal(t *testing.T, tags string, people int) *ordeal {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := &ordeal{
		t: t, api: tgfake.New(t), ben: tgfake.Person{ID: 9000, First: "Ben"}, rand: rand.New(rand.NewPCG(seed, 2)),
		furthest: map[string]int{}, read: map[int64]int{}, shown: map[string]map[string][]string{},
	}
	known := "{name: Ben, telegram: 9000}"
	for n := range people {
		p := tgfake.Person{ID: int64(100 + n), First: "P" + strconv.Itoa(n)}
		w.people = append(w.people, p)
		role := "owner"
		if n%5 == 1 {
			role = "member" // the first owner decides for them
		}
		known += fmt.Sprintf(", {name: %s, role: %s, telegram: %d}", p.First, role, p.ID)
	}
	w.api.Open(w.ben.Private())
	model := newModelServer(t, w.think)
	w.h = newHome(t, tags, fmt.Sprintf("people: [%s]\ngateways: {burst: 200ms, telegram: {token: %q, api_url: %q}}\n%s", known, w.api.Token(), w.api.URL(), model.settings(", limits: {parallel: 8}")))
	return w
}

func (w *ordeal) random(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

var taskWords = regexp.MustCompile(`task (K\d+x\d+)`)

// steps are what a task takes, in order.
func steps(key string) []reply {
	return []reply{
		use("remember", map[string]any{"fact": "the box " + key + " is wanted"}),
		use("write_file", map[string]any{"path": key + ".txt", "content": key}),
		use("read_file", map[string]any{"path": key + ".txt"}),
		use("remind", map[string]any{"when": "in 2 seconds", "text": "fetch " + key}),
		use("list_files", map[string]any{"path": "."}),
		use("send", map[string]any{"person": "Ben", "text": "please bring " + key}),
		use("recall", map[string]any{"query": key}),
		use("jobs", map[string]any{}),
		use("write_file", map[string]any{"path": key + "-b.txt", "content": "b " + key}),
		use("remember", map[string]any{"fact": "the box " + key + " is done"}),
		words("Finished " + key + "."),
	}
}

// think is the model: it goes on where the journal stands, and notes when that is behind where it was.
func (w *ordeal) think(p prompt) reply {
	if len(p.Tools) == 0 { // in the background: the talk is summed up
		return words("They had tasks, and each was done.")
	}
	at, key := -1, ""
	for i, m := range p.Messages {
		if m.Role != "user" {
			continue
		}
		at, key = i, ""
		if found := taskWords.FindAllStringSubmatch(m.Content, -1); found != nil {
			key = found[len(found)-1][1]
		}
	}
	if key == "" {
		return words("What is it?")
	}
	results := 0
	for _, m := range p.Messages[at:] {
		if m.Role == "tool" {
			results++
		}
	}
	w.mu.Lock()
	if results < w.furthest[key] {
		w.back = append(w.back, fmt.Sprintf("%s went from %d results back to %d", key, w.furthest[key], results))
	}
	w.furthest[key] = max(results, w.furthest[key])
	pause := time.Duration(w.rand.IntN(20)) * time.Millisecond
	w.mu.Unlock()
	<-time.After(pause)
	all := steps(key)
	return all[min(results, len(all)-1)]
}

// work has everybody say a task, and waits until all are finished.
func (w *ordeal) work(batch int) {
	w.say(batch)
	w.finish()
}

// say has everybody say a task, in two messages.
func (w *ordeal) say(batch int) {
	for n, who := range w.people {
		t := task{fmt.Sprintf("K%dx%d", batch, n), who}
		w.tasks = append(w.tasks, t)
		w.api.Say(who, "please") // mostly one thought with what follows, and answered by itself when a cut comes between
		w.api.Say(who, "do task "+t.key)
	}
}

// finish waits until the newest task of everybody is finished.
func (w *ordeal) finish() {
	fresh := w.tasks[len(w.tasks)-len(w.people):]
	deadline := time.Now().Add(5 * time.Minute)
	for !w.finished(fresh) && !w.t.Failed() {
		if time.Now().After(deadline) {
			for _, t := range fresh {
				w.t.Errorf("%s is stuck: %q", t.key, w.shown[t.key])
			}
			return
		}
		<-time.After(20 * time.Millisecond)
		w.attend()
	}
}

func (w *ordeal) finished(tasks []task) bool {
	return !slices.ContainsFunc(tasks, func(t task) bool {
		got := w.shown[t.key]
		return len(got["answer"]) == 0 || len(got["letter"]) == 0 || len(got["reminder"]) == 0
	})
}

var keyWords = regexp.MustCompile(`K\d+x\d+`)

// attend reads what is new in all chats, and answers what is asked.
func (w *ordeal) attend() {
	for _, who := range append([]tgfake.Person{w.ben}, w.people...) {
		for _, m := range w.api.ShownFrom(who.ID, w.read[who.ID]) {
			w.read[who.ID]++
			key := keyWords.FindString(m.Text)
			kind := ""
			switch {
			case strings.Contains(m.Text, "do not know whether"):
				kind = "unsure"
				w.pending = append(w.pending, asked{who, m})
			case strings.Contains(m.Text, "May I do this?"):
				kind = "question"
				w.press(asked{who, m}, "approve")
			case strings.Contains(m.Text, "Finished K"):
				kind = "answer"
			case who.ID == w.ben.ID && strings.Contains(m.Text, ": please bring K"):
				kind = "letter"
			case strings.Contains(m.Text, ": fetch K") && !strings.Contains(m.Text, "2026, "):
				kind = "reminder"
			default:
				continue
			}
			if w.shown[key] == nil {
				w.shown[key] = map[string][]string{}
			}
			w.shown[key][kind] = append(w.shown[key][kind], m.First)
		}
	}
	for _, a := range w.pending { // a person looks whether it has arrived
		choice := "again"
		if len(w.shown[keyWords.FindString(a.m.Text)]["letter"]) > 0 {
			choice = "worked"
		}
		w.press(a, choice)
	}
	w.pending = nil
}

// press answers a question, now and then once more by typing.
func (w *ordeal) press(a asked, choice string) {
	for _, b := range a.m.Buttons {
		if strings.HasSuffix(b.Data, ":"+choice) {
			w.api.Press(a.who.ID, a.who, a.m.ID, b.Data)
			if w.random(10) == 0 {
				number := strings.Split(b.Data, ":")[1]
				w.api.Say(a.who, "/answer "+number+" "+choice)
			}
		}
	}
}

func (w *ordeal) judge() {
	t := w.t
	t.Helper()
	eventually(t, "all runs have ended", func() bool {
		w.attend()
		status := ask(w.h, viewStatus, query{})
		return status.Queue+len(status.Runs)+status.Outbox.Waiting == 0
	})
	unmarked := func(texts []string) int {
		n := 0
		for _, text := range texts {
			if !strings.HasPrefix(text, "↻") {
				n++
			}
		}
		return n
	}
	questions := map[string]map[string]int{}
	for _, a := range ask(w.h, viewApprovals, query{All: true, Limit: everything}) {
		key := keyWords.FindString(string(a.Arguments))
		if questions[key] == nil {
			questions[key] = map[string]int{}
		}
		questions[key][a.Kind]++
		if a.State == "open" || a.State == "expired" {
			t.Errorf("question %d (%s) is %s", a.ID, key, a.State)
		}
	}
	facts, jobs := map[string]int{}, map[string]int{}
	for _, m := range ask(w.h, viewMemory, query{Limit: everything}) {
		facts[keyWords.FindString(string(m.Text))]++
	}
	for _, j := range ask(w.h, viewJobs, query{All: true, Limit: everything}) {
		jobs[keyWords.FindString(string(j.Text))]++
	}
	lost, twice, marks, unsure := 0, 0, 0, 0
	for _, task := range w.tasks {
		got := w.shown[task.key]
		for _, kind := range []string{"answer", "letter", "reminder", "question"} {
			n, plain := len(got[kind]), unmarked(got[kind])
			marks += n - plain
			if n == 0 {
				lost++
				t.Errorf("%s: no %s", task.key, kind)
			}
			if plain > 1 {
				twice++
				t.Errorf("%s: %d copies of the %s without a mark: %q", task.key, plain, kind, got[kind])
			}
		}
		unsure += questions[task.key]["unknown"]
		if questions[task.key]["call"] != 1 {
			t.Errorf("%s: allowed %d times", task.key, questions[task.key]["call"])
		}
		if facts[task.key] != 2 || jobs[task.key] != 1 {
			t.Errorf("%s: %d memories, %d reminders", task.key, facts[task.key], jobs[task.key])
		}
		if a, b := w.h.read(filepath.Join("ws", task.key+".txt")), w.h.read(filepath.Join("ws", task.key+"-b.txt")); a != task.key || b != "b "+task.key {
			t.Errorf("%s: the files hold %q and %q", task.key, a, b)
		}
	}
	stuck := 0
	for _, r := range ask(w.h, viewRuns, query{Limit: everything}) {
		if resting := r.Trigger == "system" && r.State == string(vault.Queued); r.State != string(vault.Done) && !resting {
			stuck++
			t.Errorf("run %d is %s: %s", r.ID, r.State, r.Reason)
		}
	}
	for _, b := range w.back {
		t.Error(b)
	}
	w.h.ok("backup", filepath.Join(w.h.dir, "after.db")) // which is verified
	w.found = ordealCount{lost, twice, len(w.back), stuck, unsure, marks}
}

// ordealCount is what judge found.
type ordealCount struct{ lost, twice, back, stuck, unsure, marks int }

const ordealHead = "| cuts | tasks | steps | lost | unmarked duplicates | approvals asked again | journaled steps repeated | stuck | outcome asked about | marked as possible repeats | integrity |\n|---|---|---|---|---|---|---|---|---|---|---|"

// row is what judge found, for a table.
func (w *ordeal) row() string {
	f := w.found
	return fmt.Sprintf("| %d | %d | %d | %d | 0 | %d | %d | %d | %d | ok |", len(w.tasks), len(w.tasks)*len(steps("")), f.lost, f.twice, f.back, f.stuck, f.unsure, f.marks)
}
