package vault

import "testing"

func TestWhatAStatementChanges(t *testing.T) {
	for query, want := range map[string]Change{
		"SELECT 1":                                    "",
		"UPDATE run SET state = 'done'":               "run",
		"UPDATE OR IGNORE identity SET ext = ?":       "identity",
		"DELETE FROM outbox WHERE id = ?":             "outbox",
		"INSERT INTO job(key, kind) VALUES(?,?)":      "job",
		"\n\t\tINSERT INTO setting (name) VALUES(?)":  "setting",
		"INSERT OR REPLACE INTO setting(name) VALUES": "setting",
		"REPLACE INTO counter(name) VALUES(1)":        "counter",
		"WITH x AS (SELECT 1) DELETE FROM run":        anything,
		"PRAGMA optimize":                             anything,
		"":                                            anything,
	} {
		equal(t, query, changes(query), want)
	}
}

// Nobody is woken by what he does not wait for, and everybody by what he does.
func TestWhoWaitsIsWokenByWhatConcernsHim(t *testing.T) {
	h := newHome(t)
	woken := map[string]<-chan struct{}{}
	for name, about := range map[string][]Change{
		"courier": {OutboxChanged}, "line": {RunsChanged, ClaimsChanged, SendsChanged}, "brain": {RunsChanged}, "jobs": {JobsChanged}, "people": {PeopleChanged}, "messages": {MessagesChanged}, "all": nil,
	} {
		ch, cancel := h.Subscribe(about...)
		defer cancel()
		woken[name] = ch
	}
	var p Progress
	for _, c := range []struct {
		event string
		do    func()
		want  string
	}{
		{"a message comes", func() { h.accept(h.ann, "hello") }, "all brain line messages"},
		{"it is taken up", func() { p = h.claim() }, "all line"},
		{"its context is kept", func() { must(h.SaveContext(t.Context(), p.Run.ID, "block"))(t) }, "all"},
		{"it is answered", func() { h.step(p, StepDone{Step: Step{Text: "hello"}, End: &Ending{State: Done, Reply: "hello"}}) }, "all brain courier line messages"},
		{"the answer is sent", func() { h.send() }, "all line"},
		{"something outside has changed", h.Wake, "all brain courier jobs line messages people"},
	} {
		c.do()
		got := ""
		for _, name := range []string{"all", "brain", "courier", "jobs", "line", "messages", "people"} {
			select {
			case <-woken[name]:
				got += " " + name
			default:
			}
		}
		equal(t, c.event, got, " "+c.want)
	}
}
