package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/vault"
)

// biller is a provider that speaks like OpenAI, and writes down what it bills: every request that it takes on, whether its
// answer arrives or not. No two requests take the same tokens.
type biller struct {
	mu    sync.Mutex
	rand  *rand.Rand
	bill  map[vault.Usage]bool
	order int
}

func (b *biller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r) // or the program was killed while it asked
		return
	}
	var p prompt
	if json.Unmarshal(body, &p) != nil || len(p.Messages) == 0 {
		http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	used := vault.Usage{In: 100 + b.order%500, Out: 1 + b.order/500}
	b.order++
	b.bill[used] = true
	pause := time.Duration(b.rand.IntN(60)) * time.Millisecond
	b.mu.Unlock()
	<-time.After(pause)

	results := 0
	for i := len(p.Messages) - 1; i >= 0 && p.Messages[i].Role != "user"; i-- {
		if p.Messages[i].Role == "tool" {
			results++
		}
	}
	delta := map[string]any{"content": "Finished " + p.key() + "."}
	if results < 2 {
		call := map[string]any{"name": "remember", "arguments": fmt.Sprintf(`{"fact":"box %d-%d"}`, used.In, used.Out)}
		delta = map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "c", "type": "function", "function": call}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(chunk map[string]any) {
		data, _ := json.Marshal(chunk)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data) // the program may be dead
	}
	say(map[string]any{"model": "m", "choices": []any{map[string]any{"index": 0, "delta": delta}}})
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	<-time.After(pause / 2)
	say(map[string]any{"model": "m", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}}})
	say(map[string]any{"model": "m", "choices": []any{}, "usage": map[string]any{"prompt_tokens": used.In, "completion_tokens": used.Out}})
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// key is what the newest task is called.
func (p prompt) key() string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if found := taskWords.FindStringSubmatch(p.Messages[i].Content); p.Messages[i].Role == "user" && found != nil {
			return found[1]
		}
	}
	return ""
}

// Six people have tasks while the program is killed at random moments; a provider bills every request that it takes on. Then
// each answer that the vault has stands in its ledger with the very tokens that were billed for it, once, and nothing else
// is settled there. What was billed and is not, because the program was killed before the answer was saved, stands there as
// cut, one row a request, with no less than what was billed.
func TestTortureBill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 5))
	provider := &biller{bill: map[vault.Usage]bool{}, rand: rand.New(rand.NewPCG(seed, 6))}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	people := []string{"Ana", "Ben", "Cleo", "Dan", "Eva", "Fin"}
	h := newHome(t, "", "people: [{name: Ana, role: owner}, {name: Ben}, {name: Cleo}, {name: Dan}, {name: Eva}, {name: Fin}]\ngateways: {burst: 0s}\n"+
		fmt.Sprintf("brain: {model: cloud, models: {cloud: {provider: openai, url: %q, model: m, price: {input: 3, output: 15}}}, limits: {steps: 1000, tokens_per_run: 100000000, minutes: 100, usd_per_day: 1000000, parallel: 8}}\n", server.URL+"/v1"))
	chatters := map[string]*chatter{}
	daemon := h.daemon()
	for _, name := range people {
		chatters[name] = h.open(name)
	}
	runs := 0
	for round := range *tortureRounds {
		var talking sync.WaitGroup
		say := func(name string) error {
			key := fmt.Sprintf("K%dx%d", round, len(name)*100+int(name[0]))
			return chatters[name].say("do task "+key, key)
		}
		for _, name := range people {
			runs++
			talking.Go(func() { _ = say(name) }) // the daemon may die under it
		}
		blow(t, daemon, time.Duration(20+random.IntN(300))*time.Millisecond)
		talking.Wait()
		if random.IntN(2) == 0 { // and once more, with all of them at work
			blow(t, h.daemon(), time.Duration(random.IntN(200))*time.Millisecond)
		}
		daemon = h.daemon()
		for _, name := range people {
			<-chatters[name].gone
			chatters[name].reopen()
			if err := say(name); err != nil { // the same message again: it is taken once
				t.Fatal(err)
			}
		}
	}
	eventually(t, "all runs have ended", func() bool {
		status := ask(h, viewStatus, query{})
		return status.Queue+len(status.Runs)+status.Outbox.Waiting == 0
	})
	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d", code)
	}
	v, err := vault.Open(t.Context(), h.vault(), vault.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	provider.judge(t, v, runs)
}

// judge holds the ledger against the bill.
func (b *biller) judge(t *testing.T, v *vault.Vault, runs int) {
	t.Helper()
	ledger, err := v.Ledger(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const input, output = 3, 15
	left := map[vault.Usage]bool{}
	var billed float64
	for u := range b.bill {
		left[u] = true
		billed += float64(u.In*input+u.Out*output) / 1e6
	}
	var settled, atMost, least float64
	cut, floor := 0, vault.Usage{In: math.MaxInt, Out: math.MaxInt}
	for _, e := range ledger {
		switch {
		case e.State == "cut":
			cut, atMost = cut+1, atMost+e.USD
			floor.In, floor.Out = min(floor.In, e.In), min(floor.Out, e.Out)
		case e.State != "settled" || !left[e.Usage]:
			t.Errorf("row %d is %s, and nobody billed %d and %d tokens, or did so for another one", e.ID, e.State, e.In, e.Out)
		default:
			delete(left, e.Usage)
			settled += e.USD
		}
	}
	for u := range left {
		least += float64(u.In*input+u.Out*output) / 1e6
		if u.In > floor.In || u.Out > floor.Out {
			t.Errorf("%d and %d tokens were billed, and less is reserved", u.In, u.Out)
		}
	}
	if len(left) > cut {
		t.Errorf("%d requests were billed whose answers are lost, and only %d are known to be cut", len(left), cut)
	}
	if math.Abs(settled+least-billed) > 1e-9 || settled > billed+1e-9 || billed > settled+atMost+1e-9 {
		t.Errorf("billed $%.6f; settled $%.6f, and at most $%.6f that was cut", billed, settled, atMost)
	}
	spent, err := v.Spent(t.Context(), time.Time{})
	if err != nil || math.Abs(spent-settled-atMost) > 1e-9 {
		t.Errorf("spent is $%.6f, of the ledger $%.6f: %v", spent, settled+atMost, err)
	}
	all, err := v.Runs(t.Context(), 0, everything)
	if err != nil {
		t.Fatal(err)
	}
	var steps, calls int
	var usd float64
	for _, r := range all {
		steps, calls, usd = steps+r.Steps, calls+r.Calls, usd+r.USD
		if r.State != vault.Done {
			t.Errorf("run %d is %s: %s", r.ID, r.State, r.Reason)
		}
	}
	if math.Abs(usd-settled) > 1e-9 {
		t.Errorf("the runs have $%.6f, the ledger $%.6f", usd, settled)
	}
	t.Logf("%d messages, %d kills and more, %d steps, %d requests billed: $%.6f to the last token for %d answers, and $%.6f (at most $%.6f) for %d that were cut (%d of them billed)",
		runs, *tortureRounds, steps, len(b.bill), settled, len(ledger)-cut, least, atMost, cut, len(left))
}
