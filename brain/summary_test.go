package brain

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// summariser answers requests for a summary with one function and the rest with another.
func summariser(summary func(req Request) (Response, error), rest script) script {
	return func(ctx context.Context, req Request) (Response, error) {
		if req.System == strings.TrimSpace(summaryInstructions) {
			return summary(req)
		}
		if forFacts(req) {
			return say(`{"facts":[]}`), nil
		}
		return rest(ctx, req)
	}
}

// background lets waiting background work be done.
func background() { sleep(time.Minute) }

// split tells the requests of the talk from those for summaries.
func split(m *recorder) (talk, summaries []Request) {
	for _, req := range m.requests {
		if req.System == strings.TrimSpace(summaryInstructions) {
			summaries = append(summaries, req)
		} else if !forFacts(req) {
			talk = append(talk, req)
		}
	}
	return talk, summaries
}

// A talk that grows is summed up before anything has to be dropped: each prompt begins with the one before, save once a
// summary; nothing is in no summary and not shown; and a summary holds whole runs.
func TestTheOlderPartIsSummedUpBeforeItIsDropped(t *testing.T) {
	inBubble(t, func(w *world) {
		made := 0
		m := record(summariser(func(Request) (Response, error) {
			made++
			return say(fmt.Sprintf("SUMMARY %d of the talk.", made)), nil
		}, steps(want("look", `{"text":"x"}`), say("The answer is "+strings.Repeat("so ", 40)))))
		w.use(m)
		w.settings.Background = true
		w.remember(w.me, w.private(w.me), "Never write to my boss without asking", true, "")
		w.start()
		const turns = 120
		for i := range turns {
			w.say(fmt.Sprintf("message %d: %s", i, strings.Repeat("words ", 30)))
			sleep(time.Hour)
		}
		w.say("and now?") // a summary may have been made after the last one
		talk, summaries := split(m)
		breaks := 0
		total, shared := 0, 0
		for i := 1; i < len(talk); i++ {
			before, after := flat(talk[i-1]), flat(talk[i])
			total += len(before)
			common := commonPrefix(before, after)
			shared += common
			if float64(common) < 0.95*float64(len(before)) {
				breaks++
			}
			if err := paired(talk[i]); err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		if share := float64(shared) / float64(total); share < 0.95 || breaks != len(summaries) || made < 4 {
			t.Errorf("%.3f of each prompt is that of the one before, %d begin anew, and there are %d summaries", share, breaks, len(summaries))
		}
		for i, req := range summaries {
			words := req.Messages[0].Text
			if len(req.Tools) != 0 || i > 0 && !strings.Contains(words, fmt.Sprintf("SUMMARY %d of", i)) {
				t.Errorf("request %d for a summary is not told the one before: %.200q", i, words)
			}
		}
		seen := 0
		for i := range turns {
			for _, req := range summaries {
				if strings.Contains(req.Messages[0].Text, fmt.Sprintf("Me: message %d:", i)) {
					seen++
				}
			}
		}
		last := flat(m.last())
		shown := strings.Count(last, "message ")
		if seen+shown < turns || seen+shown > turns+1 {
			t.Errorf("%d of %d messages were summed up and %d are shown", seen, turns, shown)
		}
		if !strings.Contains(last, fmt.Sprintf("SUMMARY %d of", made)) || strings.Contains(last, fmt.Sprintf("SUMMARY %d of", made-1)) || !strings.Contains(last, "my boss") {
			t.Errorf("the last prompt begins %.400q", last[len(head(m.last())):])
		}
		for run := int64(1); ; run++ {
			p, err := w.vault.Progress(w.t.Context(), run)
			if err != nil {
				break
			}
			if p.Run.Task != "" && (p.Run.State != vault.Done || p.Run.TokensIn != 100 || len(w.sent(run, vault.Answer)) != 0) {
				t.Errorf("background run %d is %s, %d tokens, and says %q", run, p.Run.State, p.Run.TokensIn, w.sent(run, vault.Answer))
			}
		}
	})
}

// The summariser gives nothing fifty times: all 200 rules, pins, promises and questions are in the prompt, or found.
func TestAnEmptySummaryLosesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		empty := 0
		m := record(summariser(func(Request) (Response, error) { empty++; return say(""), nil }, func(_ context.Context, req Request) (Response, error) {
			if strings.Contains(asked(req), "please send") && replied(req) == 0 {
				return want("send", `{"text":"`+strings.Fields(asked(req))[len(strings.Fields(asked(req)))-1]+`"}`), nil
			}
			return say("ok " + strings.Repeat("so ", 200)), nil
		}))
		w.use(m)
		w.settings.Background = true
		w.start()
		c := w.private(w.me)
		const each = 50
		for i := range each {
			w.remember(w.me, c, fmt.Sprintf("PIN%02d is kept", i), true, "")
			scope := vault.ScopeOf(c, w.me.ID)
			_, _, err := w.vault.Remember(w.t.Context(), vault.Memory{Kind: "rule", Source: "command", Text: fmt.Sprintf("RULE%02d holds", i)}, scope)
			w.must(err)
			_, err = w.vault.AddJob(w.t.Context(), vault.Job{
				Kind: vault.Say, Person: w.me.ID, Conversation: c.ID, To: vault.Address{Gateway: "telegram", Account: "bot", Chat: "1"},
				Text: fmt.Sprintf("JOB%02d is promised", i), Zone: "UTC", Next: time.Now().AddDate(1, 0, i),
			})
			w.must(err)
		}
		for i := range each {
			w.say(fmt.Sprintf("please send ASK%02d", i))
		}
		for empty < 50 {
			w.say("small talk " + strings.Repeat("padding ", 100))
			w.skew.Add(int64(7 * time.Hour)) // it rests longer after each failure
			background()
			if len(m.requests) > 2000 {
				t.Fatalf("only %d empty summaries", empty)
			}
		}
		if s, err := w.vault.Summary(w.t.Context(), c); err != nil || s.ID != 0 {
			t.Errorf("an empty summary is stored: %+v, %v", s, err)
		}
		talk, _ := split(m)
		prompt := everything(talk[len(talk)-1])
		jobs, err := w.vault.Jobs(w.t.Context(), w.me.ID, true, 1000)
		w.must(err)
		found := prompt
		for _, j := range jobs {
			found += j.Text + "\n"
		}
		approvals, err := w.vault.Approvals(w.t.Context(), false, 1000)
		w.must(err)
		for _, a := range approvals {
			found += a.Arguments + "\n"
		}
		lost := 0
		for i := range each {
			for _, what := range []string{"PIN%02d is kept", "RULE%02d holds"} {
				if !strings.Contains(prompt, fmt.Sprintf(what, i)) {
					lost++
					t.Errorf("not in the prompt: "+what, i)
				}
			}
			for _, what := range []string{"JOB%02d is promised", "ASK%02d"} {
				if !strings.Contains(found, fmt.Sprintf(what, i)) {
					lost++
					t.Errorf("lost: "+what, i)
				}
			}
		}
		if lost == 0 && !strings.Contains(prompt, "not shown any more") {
			t.Error("nothing was dropped: the test does not test it")
		}
	})
}

// What is promised and asked is listed from the rows once its talk is shown no more, in one block.
func TestWhatIsOpenIsListedOnceItsTalkIsDropped(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(func(_ context.Context, req Request) (Response, error) {
			if strings.Contains(asked(req), "please send") && replied(req) == 0 {
				return want("send", `{"text":"hello"}`), nil
			}
			return say("chat " + strings.Repeat("so ", 300)), nil
		})
		w.use(m)
		w.start()
		c := w.private(w.me)
		_, err := w.vault.AddJob(w.t.Context(), vault.Job{
			Kind: vault.Say, Person: w.me.ID, Conversation: c.ID, To: vault.Address{Gateway: "telegram", Account: "bot", Chat: "1"},
			Text: "call the plumber", Zone: "UTC", Next: time.Now().AddDate(0, 2, 0),
		})
		w.must(err)
		w.say("please send it")
		for range 30 {
			w.say("small talk " + strings.Repeat("padding ", 60))
		}
		prompt := everything(m.last())
		if n := strings.Count(prompt, "call the plumber"); n != 1 || !strings.Contains(prompt, "- number 1, Wed 1 Mar, 00:00: call the plumber\n- question 1 waits for an answer: May I do this?") {
			t.Errorf("the reminder stands %d times in %s", n, prompt)
		}
		first := m.requests[3]
		if strings.Contains(everything(first), "call the plumber") {
			t.Error("it is listed while nothing was dropped")
		}
	})
}

// Rules and pins that do not fit: the newest stay, the model and the owner are told, and the talk goes on.
func TestWhenNotEvenTheRulesFit(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("ok")))
		w.use(m)
		home := w.settings.Backends["home"]
		home.Context = 4096
		w.settings.Backends["home"] = home
		for i := range 60 {
			w.remember(w.me, w.private(w.me), fmt.Sprintf("Pin %02d: %s", i, strings.Repeat("long ", 30)), true, "")
		}
		w.start()
		for range 3 {
			if got := w.answer(w.say("hello")); got != "ok" {
				t.Errorf("the answer is %q", got)
			}
		}
		last := everything(m.last())
		if strings.Contains(last, "Pin 00") || !strings.Contains(last, "Pin 59") || !strings.Contains(last, "older pinned facts do not fit here") {
			t.Errorf("the prompt holds %.600q", last)
		}
		notices := w.notices()
		if len(notices) != 1 || !strings.Contains(notices[0], "do not fit into what the model \"home\" can read at once") {
			t.Errorf("the owner is told %q", notices)
		}
		if n := size(m.last().Messages) + fixedSize(m.last()); n > (4096-1024)*charsPerToken {
			t.Errorf("%d characters", n)
		}
	})
}

// Nobody waits for background work: it begins when nothing else is done, survives the program's death, and is put off
// while the model is away.
func TestBackgroundWorkWaitsAndOutlivesTheProgram(t *testing.T) {
	inBubble(t, func(w *world) {
		var asked atomic.Int32
		m := record(summariser(func(Request) (Response, error) {
			if asked.Add(1) == 1 {
				return Response{}, fault(Transient)
			}
			return say("All of it."), nil
		}, slow(10*time.Second, steps(say("so "+strings.Repeat("so ", 300))))))
		w.use(m)
		w.settings.Background = true
		w.start()
		c := w.private(w.me)
		for i := range 40 {
			w.accept(w.inbound(w.me, fmt.Sprint("small talk ", i, strings.Repeat(" padding", 100))), w.me, 0)
			sleep(8 * time.Second) // the one before is still being answered, so that somebody always waits
		}
		if n := asked.Load(); n != 0 {
			t.Fatalf("asked %d times while people talk", n)
		}
		sleep(3 * time.Minute) // the rest is answered
		if n := asked.Load(); n != 1 {
			t.Fatalf("asked %d times", n)
		}
		w.crash()
		w.open()
		w.start()
		sleep(taskAgain + time.Minute)
		s, err := w.vault.Summary(w.t.Context(), c)
		if err != nil || s.Text != "All of it." || asked.Load() != 2 {
			t.Errorf("asked %d times, %+v, %v", asked.Load(), s, err)
		}
	})
}

// The built-in model sums nothing up.
func TestTheBuiltInModelIsAskedForNoSummary(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("so " + strings.Repeat("so ", 300))))
		w.use(m)
		home := w.settings.Backends["home"]
		home.Offline = true
		w.settings.Backends["home"] = home
		w.settings.Background = true
		w.start()
		for range 40 {
			w.say("small talk " + strings.Repeat("padding ", 100))
		}
		background()
		if _, summaries := split(m); len(summaries) != 0 {
			t.Errorf("it is asked %d times", len(summaries))
		}
	})
}

// After /new no summary of before is shown.
func TestNewEndsTheSummary(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(summariser(func(Request) (Response, error) { return say("OLDTALK."), nil }, steps(say("so "+strings.Repeat("so ", 300)))))
		w.use(m)
		w.settings.Background = true
		w.start()
		for range 20 {
			w.say("small talk " + strings.Repeat("padding ", 100))
			background()
		}
		if !strings.Contains(everything(m.last()), "OLDTALK") {
			t.Fatal("there is no summary")
		}
		w.must(w.vault.Do(w.t.Context(), "new", func(tx *vault.Tx) error { return tx.NewTalk(w.private(w.me).ID) }))
		w.say("afresh")
		if all := everything(m.last()); strings.Contains(all, "OLDTALK") || strings.Contains(all, "not shown any more") {
			t.Errorf("the prompt is %s", all)
		}
		synctest.Wait()
	})
}
