package brain

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// writer is a model that writes its reply a word a second. What it streams may differ from what it replies in the end.
type writer struct {
	streams []string // by request; the last is repeated
	replies []Response
	errs    map[int]error
	asked   int
	seen    func()
}

func (m *writer) Generate(ctx context.Context, _ Request, onDelta func(string)) (Response, error) {
	n := m.asked
	m.asked++
	for word := range strings.FieldsSeq(m.streams[min(n, len(m.streams)-1)]) {
		if err := waitFor(ctx, time.Second); err != nil {
			return Response{}, err
		}
		onDelta(word + " ")
		if m.seen != nil {
			m.seen()
		}
	}
	return m.replies[min(n, len(m.replies)-1)], m.errs[n]
}

// shown is every preview that a run had.
type shown struct {
	mu    sync.Mutex
	words []string
}

func (s *shown) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.words)
}

func (s *shown) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = nil
}

// previews notes what is shown of the newest run.
func (w *world) previews(m *writer) *shown {
	s := &shown{}
	m.seen = func() {
		runs, err := w.vault.Runs(w.t.Context(), 0, 1)
		w.must(err)
		s.mu.Lock()
		defer s.mu.Unlock()
		if now := w.vault.PreviewOf(runs[0].ID); now != "" && (len(s.words) == 0 || s.words[len(s.words)-1] != now) {
			s.words = append(s.words, now)
		}
	}
	return s
}

const story = "Once upon a time there was a pond with three frogs in it"

// The first answer of a model is not shown while it is written; from the second on it is, after some seconds and no oftener
// than every two. What is shown is gone when the answer is there.
func TestLOOP22ALongAnswerIsShownWhileItIsWritten(t *testing.T) {
	inBubble(t, func(w *world) {
		m := &writer{streams: []string{"Good morning", story}, replies: []Response{say("Good morning"), say(story)}}
		seen := w.previews(m)
		w.use(m)
		w.start()
		w.say("hello")
		sleep(time.Minute)
		run := w.say("tell me a story")
		sleep(4500 * time.Millisecond)
		if len(seen.all()) != 0 {
			t.Errorf("too soon: %q", seen.all())
		}
		sleep(time.Minute)
		want := []string{"Once upon a time there", "Once upon a time there was a", "Once upon a time there was a pond with", "Once upon a time there was a pond with three frogs", story}
		if !slices.Equal(seen.all(), want) {
			t.Errorf("shown: %q", seen.all())
		}
		if got := w.vault.PreviewOf(run); got != "" {
			t.Errorf("left behind: %q", got)
		}
		if got := w.sent(run, vault.Answer); len(got) != 1 || got[0] != story {
			t.Errorf("the answer is %q", got)
		}
	})
}

// Nothing is shown of a model that ever had to take something back, nor of the first answer, nor in a group, nor to nobody.
func TestWhoseAnswersAreNotShown(t *testing.T) {
	thought := "They want a story so I think about frogs </think> " + story
	for name, tt := range map[string]struct {
		streams []string
		replies []Response
		begin   func(w *world, seen *shown)
	}{
		"the first": {[]string{story}, []Response{say(story)}, func(w *world, _ *shown) { w.say("tell me a story") }},
		"one that thinks": {[]string{thought}, []Response{say(story)}, func(w *world, _ *shown) {
			w.say("a")
			sleep(time.Minute)
			w.say("b")
			sleep(time.Minute)
			w.say("c")
		}},
		"one that begins to think": {[]string{"Good morning", thought, story}, []Response{say("Good morning"), say(story)}, func(w *world, seen *shown) {
			w.say("a")
			sleep(time.Minute)
			w.say("b")
			sleep(time.Minute)
			seen.forget() // it was trusted until then
			w.say("c")
		}},
		"a group": {[]string{story}, []Response{say(story)}, func(w *world, _ *shown) {
			w.say("a")
			sleep(time.Minute)
			w.accept(w.inGroup(w.me, "b"), w.me, 0)
		}},
		"a wake-up":   {[]string{story}, []Response{say(story)}, func(w *world, _ *shown) { w.say("a"); sleep(time.Minute); w.followUp(w.me) }},
		"a new model": {[]string{story}, []Response{say(story)}, func(w *world, _ *shown) { w.say("a"); sleep(time.Minute); w.brain.Configure(w.settings); w.say("b") }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := &writer{streams: tt.streams, replies: tt.replies}
				seen := w.previews(m)
				w.use(m)
				w.start()
				tt.begin(w, seen)
				sleep(time.Minute)
				if len(seen.all()) != 0 {
					t.Errorf("shown: %q", seen.all())
				}
			})
		})
	}
}

// What was shown of an attempt that fails, or that a person stops, is taken back at once.
func TestADraftOfNothingIsTakenBack(t *testing.T) {
	inBubble(t, func(w *world) {
		m := &writer{streams: []string{"Good morning", story}, replies: []Response{say("Good morning"), say(story)}, errs: map[int]error{1: fault(Transient)}}
		seen := w.previews(m)
		w.use(m)
		w.start()
		w.say("hello")
		sleep(time.Minute)
		run := w.say("tell me a story")
		sleep(13100 * time.Millisecond)
		if len(seen.all()) == 0 || w.vault.PreviewOf(run) != "" {
			t.Errorf("shown: %q, and after the failure %q", seen.all(), w.vault.PreviewOf(run))
		}
		sleep(10 * time.Second)
		if w.vault.PreviewOf(run) == "" {
			t.Error("nothing is shown of the next try")
		}
		w.stopTalk()
		synctest.Wait()
		if got := w.vault.PreviewOf(run); got != "" {
			t.Errorf("after the stop: %q", got)
		}
	})
}

// A draft shows no call written as text, no thinking, no template's mark, and no claim that would be corrected.
func TestPresentable(t *testing.T) {
	known := func(name string) bool { return name == "remind" }
	for text, want := range map[string]string{
		"The pond is fine (I looked).":            "The pond is fine (I looked).",
		"Here: 3 < 4, and a_b [1] too":            "Here: 3 < 4, and a_b [1] too",
		"Look:\n- one\n- two":                     "Look:\n- one\n- two",
		`{"name": "rem`:                           "",
		"{":                                       "",
		"Sure.\n{\"na":                            "Sure.",
		"Sure. {\"name\": \"remind\"":             "Sure.",
		"Sure. <tool_call>{":                      "Sure.",
		"Sure. <tool":                             "Sure.",
		"Sure. <":                                 "Sure.",
		"Sure. <|im":                              "Sure.",
		"Sure.\n```json\n{":                       "Sure.",
		"Sure.\n```":                              "Sure.",
		"Sure. remind(when=\"tomorrow\"":          "Sure.",
		"Sure. reminds (a word) of it":            "Sure. reminds (a word) of it",
		"<think>They want":                        "",
		"They want a story</think>Once":           "Once",
		"Sure. <thinking>They":                    "Sure.",
		"[TOOL_CALLS] [{":                         "",
		"I don't have any tools, but":             "",
		"I've set a reminder for nine.":           "",
		"Fine.\nReminder 7: Fri 4 Dec 2026: call": "",
		"  \n": "",
	} {
		if got := presentable(text, nil, known); got != want {
			t.Errorf("%q shows as %q, want %q", text, got, want)
		}
	}
	done := []vault.Call{{Tool: "remind", State: vault.Finished, Receipt: "Reminder 7: Fri 4 Dec 2026"}}
	if got := presentable("I've set a reminder for nine.", done, known); got == "" {
		t.Error("a claim that holds is hidden")
	}
}

// Whatever is written, a draft of any beginning of it holds no call that a judge would see in it.
func FuzzPresentable(f *testing.F) {
	f.Add("Sure. <tool_call>{\"name\":\"remind\",\"arguments\":{}}</tool_call> and more")
	f.Add("```json\n{\"name\":\"remind\",\"arguments\":{}}\n```")
	f.Add("a\n[{\"tool\":\"remind\"")
	f.Fuzz(func(t *testing.T, text string) {
		known := func(name string) bool { return name == "remind" }
		got := presentable(text, nil, known)
		if calls, _, ok := writtenCalls(got, known); ok {
			t.Errorf("%q shows the calls %v", got, calls)
		}
		if looksRaw(got, known) || unsupported(got, nil) != "" {
			t.Errorf("%q is shown", got)
		}
		if len(got) > len(text) {
			t.Errorf("%q has become more: %q", text, got)
		}
	})
}
