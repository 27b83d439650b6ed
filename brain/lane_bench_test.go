package brain

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hearth/vault"
)

// BenchmarkPersonBehindBackground is how long a person's message waits until the model is asked for it, when 20 follow-ups
// are queued for the only place of a model that takes two seconds for each. The second figure is the same for a model whose
// requests are not cut off.
func BenchmarkPersonBehindBackground(b *testing.B) {
	const queued, takes = 20, 2 * time.Second
	for _, home := range []bool{true, false} {
		b.Run(map[bool]string{true: "giving way", false: "in line"}[home], func(b *testing.B) {
			asked := make(chan time.Time, 1)
			model := atHome(script(func(ctx context.Context, req Request) (Response, error) {
				if isWakeUp(req) {
					return slow(takes, steps(say("done")))(ctx, req)
				}
				asked <- time.Now()
				return say("ok"), nil
			}))
			model.Local, model.Context = home, 32_768
			ctx, brain, me := living(b, model)
			v := brain.vault
			people := []vault.Person{}
			for i := range queued {
				people = append(people, vault.Person{Name: fmt.Sprint("P", i), Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: fmt.Sprint(100 + i)}}})
			}
			if err := v.SyncPeople(ctx, people); err != nil {
				b.Fatal(err)
			}
			woken, unsubscribe := v.Subscribe()
			defer unsubscribe()
			// busy keeps 20 follow-ups open and waits until the model has one of them in hand.
			busy := func() {
				for i := range queued {
					p, err := v.PersonNamed(ctx, fmt.Sprint("P", i))
					if err != nil {
						b.Fatal(err)
					}
					c, err := v.PrivateConversation(ctx, p.ID)
					if err != nil {
						b.Fatal(err)
					}
					if open, err := v.OpenRuns(ctx, c.ID); err != nil {
						b.Fatal(err)
					} else if len(open) > 0 {
						continue
					}
					job, err := v.AddJob(ctx, vault.Job{Kind: vault.Do, Person: p.ID, Conversation: c.ID, To: vault.Address{Gateway: "telegram", Account: "bot", Chat: fmt.Sprint(100 + i)}, Text: "look", Zone: "UTC", Next: time.Now()})
					if err == nil {
						err = v.Fire(ctx, job, vault.Firing{Due: job.Next})
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				for brain.lanes.busy("home") == 0 {
					<-woken
				}
			}
			n, total, worst := 0, time.Duration(0), time.Duration(0)
			for b.Loop() {
				busy()
				n++
				in := vault.Inbound{Gateway: "terminal", Account: "local", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: fmt.Sprint(n), Kind: "text", Text: "hello there", Sent: time.Now()}
				began := time.Now()
				acc, err := v.Accept(ctx, in, me, 0)
				if err != nil {
					b.Fatal(err)
				}
				waited := (<-asked).Sub(began)
				total, worst = total+waited, max(worst, waited)
				for words := ""; words == ""; {
					if words, err = v.Reply(ctx, acc.Run); err != nil {
						b.Fatal(err)
					}
					if words == "" {
						<-woken
					}
				}
			}
			b.ReportMetric(float64(total.Microseconds())/1000/float64(n), "ms/begun")
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms/worst")
		})
	}
}

// busy counts the requests a backend has in hand.
func (l *lanes) busy(backend string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by[backend] == nil {
		return 0
	}
	return len(l.by[backend].held)
}
