package vault

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

var locomo = flag.String("locomo", "", "a file of LoCoMo conversations (CC BY-NC; read from where it lies, never copied): measures how well Find finds the evidence")

// talkOfTwo is a conversation of LoCoMo: sessions of lines, and questions with the numbers of the lines that answer them.
type talkOfTwo struct {
	Questions []struct {
		Question string
		Evidence []string
	} `json:"qa"`
	Conversation map[string]json.RawMessage
}

type lineOfTwo struct {
	Speaker string
	ID      string `json:"dia_id"`
	Text    string
}

func (c talkOfTwo) word(t testing.TB, key string) (s string) {
	t.Helper()
	check(t, json.Unmarshal(c.Conversation[key], &s))
	return s
}

// liveThrough has two people of a household say all of it in a group, at the times at which it was said. It gives the group,
// and which line each message is.
func (c talkOfTwo) liveThrough(t testing.TB) (*home, Scope, map[int64]string) {
	t.Helper()
	h := newEmpty(t, Options{})
	people := map[string]Person{}
	for i, key := range []string{"speaker_a", "speaker_b"} {
		p := Person{Name: c.word(t, key), Role: Owner, Identities: []Identity{{"telegram", strconv.Itoa(i + 1)}}}
		people[p.Name] = p
	}
	var all []Person
	for _, p := range people {
		all = append(all, p)
	}
	check(t, h.SyncPeople(t.Context(), all))
	for name := range people {
		people[name] = must(h.PersonNamed(t.Context(), name))(t)
	}
	at := map[int64]string{}
	var in Scope
	for n := 1; n < 100; n++ {
		raw, ok := c.Conversation[fmt.Sprintf("session_%d", n)]
		if !ok {
			continue
		}
		var lines []lineOfTwo
		check(t, json.Unmarshal(raw, &lines))
		began := must(time.Parse("3:04 pm on 2 January, 2006", c.word(t, fmt.Sprintf("session_%d_date_time", n))))(t)
		for i, l := range lines {
			h.clock.mu.Lock()
			h.clock.t = began.Add(time.Duration(i) * time.Minute)
			h.clock.mu.Unlock()
			p := people[l.Speaker]
			check(t, h.write(t.Context(), "say", relaxed, func(tx *Tx) error {
				msg := h.saysIn("-1", p, l.Text)
				conv, err := tx.conversationOf(msg, p.ID)
				if err != nil {
					return err
				}
				number, err := tx.storeInbound(msg, p, conv, 0)
				at[number], in = l.ID, ScopeOf(conv, p.ID)
				return err
			}))
		}
	}
	return h, in, at
}

// LoCoMo without a model: the share of questions of whose evidence at least one line, or every line, is among the first ten.
// make bench-memory DATA=path. A plain FTS5 query (porter, each line joined with the one before, an OR of what are no stop
// words) finds 0.794 and 0.694.
func TestLoCoMo(t *testing.T) {
	if *locomo == "" {
		t.Skip("needs -locomo FILE: make bench-memory DATA=FILE")
	}
	var talks []talkOfTwo
	check(t, json.Unmarshal(must(os.ReadFile(*locomo))(t), &talks))
	evidence := regexp.MustCompile(`D\d+:\d+`)
	asked, some, all := 0, 0, 0
	var took []time.Duration
	for _, c := range talks {
		h, in, at := c.liveThrough(t)
		for _, q := range c.Questions {
			var wanted []string
			for _, e := range q.Evidence {
				wanted = append(wanted, evidence.FindAllString(e, -1)...)
			}
			if len(wanted) == 0 {
				continue
			}
			began := time.Now()
			hits := must(h.Find(t.Context(), in, Query{Text: q.Question, Limit: 10}))(t)
			took = append(took, time.Since(began))
			var got []string
			for _, hit := range hits {
				got = append(got, at[hit.Message.ID])
			}
			asked++
			there := 0
			for _, w := range wanted {
				if slices.Contains(got, w) {
					there++
				}
			}
			if there > 0 {
				some++
			}
			if there == len(wanted) {
				all++
			}
		}
	}
	slices.Sort(took)
	anyTen, allTen := float64(some)/float64(asked), float64(all)/float64(asked)
	fmt.Printf("%d questions: any@10 %.3f, all@10 %.3f; median %v, p95 %v\n", asked, anyTen, allTen, took[len(took)/2].Round(time.Microsecond), took[len(took)*95/100].Round(time.Microsecond))
	if anyTen < 0.83 || allTen < 0.74 {
		t.Errorf("the marks are 0.83 and 0.74")
	}
}
