package brain

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hearth/vault"

	"hearth/skills"
)

// randomRun makes the messages of a run of any shape.
func randomRun(r *rand.Rand) []Msg {
	text := func() string { return strings.Repeat("wörter ", r.IntN(1<<r.IntN(12))) }
	msgs := []Msg{{Role: "user", Text: "[Now: x]\n\n" + text()}}
	for range r.IntN(12) {
		m := Msg{Role: "assistant", Text: text()}
		var results []Msg
		for i := range r.IntN(3) {
			args, err := json.Marshal(map[string]any{"content": text(), "n": 7})
			if err != nil {
				panic(err)
			}
			m.Calls = append(m.Calls, ToolCall{ID: fmt.Sprint(i), Name: "note", Args: args})
			results = append(results, Msg{Role: "tool", CallID: fmt.Sprint(i), Tool: "note", Text: text()})
		}
		msgs = append(append(msgs, m), results...)
	}
	return msgs
}

// A run that is too long is shortened until it fits, or until nothing is left that could be cut.
func TestFit(t *testing.T) {
	cut, empty := 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		msgs := randomRun(r)
		room := 1500 + r.IntN(20_000)
		before, texts := size(msgs), len(msgs)
		got := fit(msgs, room)
		if len(got) != texts {
			t.Fatalf("seed %d: %d messages became %d", seed, texts, len(got))
		}
		if before <= room && size(got) != before {
			t.Fatalf("seed %d: it fitted and was cut", seed)
		}
		if before > room {
			cut++
		}
		if size(got) <= room {
			continue
		}
		empty++
		for _, m := range got {
			if len(m.Text) > 2*leastText {
				t.Fatalf("seed %d: %d characters for %d, and one text has %d", seed, size(got), room, len(m.Text))
			}
			for _, c := range m.Calls {
				if len(c.Args) > 3*leastText {
					t.Fatalf("seed %d: %d characters for %d, and arguments have %d", seed, size(got), room, len(c.Args))
				}
			}
		}
	}
	if cut < 100 || empty > 100 {
		t.Errorf("%d runs were cut, %d did not fit all the same", cut, empty)
	}
}

// The oldest results go first: what the model has just asked for is worth most.
func TestFitCutsTheOldestResultsFirst(t *testing.T) {
	long := strings.Repeat("x", 1000)
	msgs := []Msg{{Role: "user", Text: long}, {Role: "assistant", Calls: []ToolCall{{ID: "a"}, {ID: "b"}}}, {Role: "tool", Text: long}, {Role: "tool", Text: long}}
	got := fit(msgs, size(msgs)-500)
	if len(got[2].Text) > 400 || got[3].Text != long || got[0].Text != long {
		t.Errorf("left are %d, %d and %d characters", len(got[0].Text), len(got[2].Text), len(got[3].Text))
	}
}

func TestClipNoteKeepsTheFirstLength(t *testing.T) {
	text := strings.Repeat("é", 5000)
	once := clipNote(text, 1000)
	twice := clipNote(once, 200)
	if !strings.HasSuffix(once, "of 10000 characters]") || !strings.HasSuffix(twice, "of 10000 characters]") || strings.Count(twice, "cut here") != 1 {
		t.Errorf("the notes are %q and %q", once[len(once)-70:], twice[len(twice)-70:])
	}
	if len(once) > 1000 || len(twice) > 200 {
		t.Errorf("%d and %d bytes", len(once), len(twice))
	}
}

// LOOP-17: three results of 40 KB are cut with a note, and the conversation goes on within what the model takes.
func TestLOOP17ThreeBigResults(t *testing.T) {
	inBubble(t, func(w *world) {
		big := func(name string) skills.Tool {
			return skills.Tool{
				Name: name, About: "Reads.", Schema: json.RawMessage(textSchema), Effect: skills.Reads, Unknown: "again",
				Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
					return skills.Result{Text: name + " begins " + strings.Repeat("lorem ipsum ", 3400)}, nil
				},
			}
		}
		w.tools.extra = []skills.Tool{big("read1"), big("read2"), big("read3")}
		limit := (8192 - 1024) * charsPerToken
		m := record(func(ctx context.Context, req Request) (Response, error) {
			if n := size(req.Messages) + fixedSize(req); n > limit {
				t.Errorf("a request of %d characters, the limit is %d", n, limit)
				return Response{}, fault(TooLong)
			}
			if strings.Contains(asked(req), "all three") {
				return steps(want("read1", `{"text":"x"}`, "read2", `{"text":"x"}`, "read3", `{"text":"x"}`), say("Read them."))(ctx, req)
			}
			return say("You are welcome."), nil
		})
		w.use(m)
		w.start()
		for i := range 12 {
			w.say(fmt.Sprintf("small talk %d: %s", i, strings.Repeat("words ", 300)))
		}
		for range 3 {
			if got := w.answer(w.say("read all three")); got != "Read them." {
				t.Errorf("the answer is %q", got)
			}
			for i, r := range results(m.last()) {
				if !strings.Contains(r, "cut here") || !strings.HasPrefix(r, fmt.Sprintf("read%d begins", i+1)) {
					t.Errorf("result %d is %q …", i, r[:min(len(r), 60)])
				}
			}
			if got := w.answer(w.say("thanks")); got != "You are welcome." {
				t.Errorf("the answer is %q", got)
			}
		}
		if m.count() != 12+3*3 {
			t.Errorf("%d requests", m.count())
		}
	})
}

// However much one person pastes and one task writes, the request stays within bounds.
func TestLOOP17OneLongTask(t *testing.T) {
	inBubble(t, func(w *world) {
		limit := (8192 - 1024) * charsPerToken
		n := 0
		m := record(func(_ context.Context, req Request) (Response, error) {
			if got := size(req.Messages) + fixedSize(req); got > limit {
				t.Errorf("request %d has %d characters", n, got)
			}
			if err := paired(req); err != nil {
				t.Error(err)
			}
			n++
			return want("note", fmt.Sprintf(`{"text":"%d %s"}`, n, strings.Repeat("line ", 600)), "look", fmt.Sprintf(`{"text":"%d"}`, n)), nil
		})
		w.use(m)
		w.start()
		run := w.say(strings.Repeat("paste ", 20_000))
		if got := w.progress(run).Run; got.Steps != 20 || got.State != vault.Waiting || w.openQuestion().Kind != "budget" {
			t.Errorf("%d steps, it is %s", got.Steps, got.State)
		}
		if got := w.tools.notes["call:1"]; len(got) < 3000 {
			t.Errorf("the tool got %d characters: only the prompt is cut", len(got))
		}
	})
}
