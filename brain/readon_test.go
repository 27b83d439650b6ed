package brain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"hearth/skills"
	"hearth/vault"
)

// LOOP-17: a result that was cut is read on from the place its note names, to its end; one of another conversation, or of
// before /new, does not exist.
func TestLOOP17AResultIsReadOn(t *testing.T) {
	inBubble(t, func(w *world) {
		whole := "begins " + strings.Repeat("é lorem ", 1500) + " ends"
		path := ""
		files := 0
		w.tools.extra = []skills.Tool{
			{
				Name: "page", About: "Reads.", Schema: json.RawMessage(textSchema), Effect: skills.Reads, Unknown: "again", Group: true,
				Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
					return skills.Result{Text: whole}, nil
				},
			},
			{
				Name: readFile, About: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`), Effect: skills.Reads, Unknown: "again",
				Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
					files++
					return skills.Result{Text: "a file"}, nil
				},
			},
		}
		m := record(func(_ context.Context, req Request) (Response, error) {
			last := req.Messages[len(req.Messages)-1]
			switch {
			case strings.Contains(asked(req), "the page") && replied(req) == 0:
				return want("page", `{"text":"x"}`), nil
			case strings.Contains(asked(req), "open ") && replied(req) == 0:
				return want(readFile, fmt.Sprintf(`{"path":%q}`, path)), nil
			case last.Role == "tool" && strings.Contains(last.Text, "; read_file "):
				_, rest, _ := strings.Cut(last.Text, "; read_file ")
				next, _, _ := strings.Cut(rest, " ")
				return want(readFile, fmt.Sprintf(`{"path":%q}`, next)), nil
			}
			return say("ok"), nil
		})
		w.use(m)
		w.start()
		p := w.progress(w.say("the page"))
		// What the prompts have shown, piece by piece.
		got := ""
		for _, r := range results(m.last()) {
			at := strings.LastIndex(r, "\n[")
			got += r[:at]
		}
		if got != whole || len(p.Calls) < 4 || files != 0 {
			t.Errorf("%d calls gave %d of %d characters", len(p.Calls), len(got), len(whole))
		}
		mine := p.Calls[0].ID
		open := func(from vault.Person, to string) string {
			path = to
			run := w.accept(w.inbound(from, "open it"), from, 0)
			synctest.Wait()
			return w.progress(run).Calls[0].Result
		}
		if got := open(w.me, fmt.Sprintf("result-%d#9000000", mine)); !strings.Contains(got, "nothing comes after") {
			t.Errorf("behind the end is %.80q", got)
		}
		if got := open(w.me, "notes/result-1"); got != "a file" {
			t.Errorf("a file is %.80q", got)
		}
		if got := open(w.ben, fmt.Sprintf("result-%d", mine)); !strings.Contains(got, "there is no result-") {
			t.Errorf("Ben reads %.80q", got)
		}
		w.must(w.vault.Do(w.t.Context(), "new", func(tx *vault.Tx) error { return tx.NewTalk(w.private(w.me).ID) }))
		if got := open(w.me, fmt.Sprintf("result-%d", mine)); !strings.Contains(got, "there is no result-") {
			t.Errorf("after /new it is %.80q", got)
		}
	})
}
