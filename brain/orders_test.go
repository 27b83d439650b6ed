package brain

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// told keeps what a person said with /remember.
func (w *world) told(p vault.Person, text string) vault.Memory {
	w.t.Helper()
	m, _, err := w.vault.Remember(w.t.Context(), vault.Memory{Kind: vault.KindOf(text), Source: "command", Text: text}, vault.ScopeOf(w.private(p), p.ID))
	w.must(err)
	return m
}

// A rule of the first day stands in the prompt and still asks after 50 summaries, empty ones, failed ones and good ones, and
// after /new, also against an "always" from before it.
func TestLOOP23ARuleOutlivesSummaries(t *testing.T) {
	inBubble(t, func(w *world) {
		made := 0
		m := record(summariser(func(Request) (Response, error) {
			made++
			switch made % 3 {
			case 0:
				return say(""), nil
			case 1:
				return Response{}, fault(Permanent)
			}
			return say("They talked about the weather."), nil
		}, steps(want("send", `{"text":"hi boss"}`), say("Well. "+strings.Repeat("so ", 300)))))
		w.use(m)
		w.settings.Background = true
		w.start()
		w.say("write to Ben")
		w.must(w.decide(w.openQuestion().ID, vault.ChooseAlways))
		w.say("write to Ben")
		if len(w.tools.acted) != 2 {
			t.Fatalf("with always it acted %d times", len(w.tools.acted))
		}
		const rule = "Never write to my boss without asking"
		kept := w.told(w.me, rule)
		for turn := 0; made < 50; turn++ {
			if turn > 1000 {
				t.Fatalf("only %d summaries", made)
			}
			run := w.say("chat " + strings.Repeat("padding ", 100))
			if w.state(run) != vault.Waiting {
				t.Fatalf("turn %d is %s: it was not asked", turn, w.state(run))
			}
			w.must(w.decide(w.openQuestion().ID, vault.ChooseDeny))
			w.skew.Add(int64(7 * time.Hour))
			background()
		}
		w.must(w.vault.Do(t.Context(), "new", func(tx *vault.Tx) error { return tx.NewTalk(w.private(w.me).ID) }))
		run := w.say("write to Ben")
		q := w.openQuestion()
		if w.state(run) != vault.Waiting || q.Tool != "send" || len(w.tools.acted) != 2 {
			t.Errorf("the run is %s, %d acts, the question %+v", w.state(run), len(w.tools.acted), q)
		}
		if strings.Contains(strings.Join(q.Choices, " "), vault.ChooseAlways) || !strings.Contains(q.Question, "The standing rule in memory 1 says to ask each time.") {
			t.Errorf("the question offers %q: %q", q.Choices, q.Question)
		}
		if prompt := everything(m.last()); strings.Count(prompt, "- "+rule) != 1 || !strings.Contains(prompt, "Standing rules of Me") {
			t.Errorf("the rule does not stand in the prompt: %.800s", prompt)
		}
		w.must(w.decide(q.ID, vault.ChooseDeny))
		if _, err := w.vault.Forget(t.Context(), vault.ScopeOf(w.private(w.me), w.me.ID), kept.ID); err != nil {
			t.Fatal(err)
		}
		w.say("write to Ben")
		if len(w.tools.acted) != 3 {
			t.Errorf("after /forget it acted %d times", len(w.tools.acted))
		}
	})
}

// A rule that forbids is obeyed in code, for the runs of who told it and nobody else's.
func TestARuleForbids(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("send", `{"text":"hi"}`), say("I did not send it.")))
		w.use(m)
		w.settings.Permissions = Permissions{Tools: map[string]Permission{"send": Allow}}
		w.told(w.me, "never send messages")
		w.start()
		if got := w.answer(w.say("write to Ben")); got != "I did not send it." || len(w.tools.acted) != 0 {
			t.Errorf("it answers %q, %d acts", got, len(w.tools.acted))
		}
		if got := results(m.last()); len(got) != 1 || !strings.Contains(got[0], "a standing rule of the person (memory 1) forbids it") {
			t.Errorf("the model reads %q", got)
		}
		w.accept(w.inbound(w.ben, "write to Me"), w.ben, 0)
		synctest.Wait()
		if len(w.tools.acted) != 1 {
			t.Error("it holds for another person too")
		}
	})
}

// A private rule holds in a group as well, where its words are not shown.
func TestARuleHoldsInGroups(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("send", `{"text":"hi"}`), say("No.")))
		w.use(m)
		w.settings.Permissions = Permissions{For: []PermissionsFor{{Chat: "group", Tools: map[string]Permission{"send": Allow}}}}
		w.told(w.me, "never send messages, for Ada knows")
		w.told(w.me, "never send messages")
		w.start()
		w.accept(w.inGroup(w.me, "write to Ben"), w.me, 0)
		synctest.Wait()
		if len(w.tools.acted) != 0 || strings.Contains(everything(m.last()), "Ada") {
			t.Errorf("%d acts; the group's prompt: %s", len(w.tools.acted), everything(m.last()))
		}
	})
}

// A tool that a rule switches off is not shown, and not run for a model that calls it all the same.
func TestARuleSwitchesCommandsOff(t *testing.T) {
	inBubble(t, func(w *world) {
		ran := failing("run_command", func(int) string { return "it ran" })
		w.tools.extra = []skills.Tool{ran}
		m := record(steps(want("run_command", `{"text":"ls"}`), say("No.")))
		w.use(m)
		w.settings.Permissions = Permissions{Tools: map[string]Permission{"run_command": Allow}}
		w.told(w.me, "never run commands")
		w.start()
		w.say("run ls")
		for _, tool := range m.last().Tools {
			if tool.Name == "run_command" {
				t.Error("the model sees the tool")
			}
		}
		if got := fmt.Sprint(results(m.last())); strings.Contains(got, "it ran") || !strings.Contains(got, "There is no tool called") {
			t.Errorf("the model reads %q", got)
		}
	})
}

// Whatever a rule says and the settings allow, the outcome is never looser than the settings.
func TestARuleNeverLoosens(t *testing.T) {
	all := []Permission{Off, Deny, Ask, Allow}
	for _, perm := range all {
		for _, do := range []string{vault.OrderAsk, vault.OrderDeny, vault.OrderOff, "allow", ""} {
			got, order := tightened(perm, []vault.Order{{Memory: 3, Do: do, Tools: []string{"send"}}}, "send", nil)
			if stricter(perm, got) || got == "" {
				t.Errorf("%s becomes %q by %q", perm, got, do)
			}
			if got != perm && order != 3 {
				t.Errorf("%s becomes %s by memory %d", perm, got, order)
			}
		}
	}
	bob := vault.Order{Memory: 1, Do: vault.OrderAsk, Tools: []string{"send"}, People: []string{"Bob"}}
	for args, want := range map[string]Permission{`{"person":"bob"}`: Ask, `{"person":"Eve"}`: Allow} {
		if got, _ := tightened(Allow, []vault.Order{bob}, "send", []byte(args)); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
}
