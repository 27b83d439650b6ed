package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
)

// The same over Telegram: a Bot API server and a model on this machine, which take their share of its cores.

func phoneBench(b *testing.B, m *instant, brain string) (*phone, *home) {
	b.Helper()
	ana := newPhone(b)
	return ana, newHome(b, "", ana.settings(fmt.Sprintf("brain: {model: home, models: {home: {provider: ollama, url: %q, model: instant}}%s}\n", m.URL, brain)))
}

// BenchmarkFirstPoll is the time from the start of the process to the first request for messages.
func BenchmarkFirstPoll(b *testing.B) {
	ana, h := phoneBench(b, newInstant(b), "")
	var took []time.Duration
	for b.Loop() {
		polls := len(ana.api.Calls("getUpdates"))
		began := time.Now()
		p := h.begin(nil, "run")
		ana.api.WaitFor("the first poll", func() bool { return len(ana.api.Calls("getUpdates")) > polls })
		took = append(took, ana.api.Calls("getUpdates")[polls].At.Sub(began))
		p.kill()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-to-first-poll")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPhoneMemory is the resident memory with Telegram connected: idle for 3 s, and 30 s after 200 answers.
func BenchmarkPhoneMemory(b *testing.B) {
	ana, h := phoneBench(b, newInstant(b), "")
	p := h.daemon()
	ana.api.WaitFor("the first poll", func() bool { return len(ana.api.Calls("getUpdates")) > 0 })
	<-time.NewTimer(3 * time.Second).C
	idle, _ := memoryMB(b, p.cmd.Process.Pid)
	for n := range 200 {
		ana.ask("question " + strconv.Itoa(n))
	}
	<-time.NewTimer(30 * time.Second).C
	for b.Loop() {
	}
	after, private := memoryMB(b, p.cmd.Process.Pid)
	b.ReportMetric(idle, "MB-idle")
	b.ReportMetric(after, "MB-after-200")
	b.ReportMetric(private, "MB-anonymous-after-200")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPhoneAnswer is the time from the message in Telegram's queue to the answer in the chat, with a model that answers
// at once; what of that is ours: the same servers serve a bot that stores nothing and asks the model the bare question; how
// much of each prompt is the one before it, the block that changes left out; and the size of the first.
func BenchmarkPhoneAnswer(b *testing.B) {
	bare := newPhone(b)
	end := bareBot(b, bare.api, newInstant(b))
	least := medianAnswer(b, bare, 200)
	end()

	m := newInstant(b)
	ana, h := phoneBench(b, m, "")
	p := h.daemon()
	ana.ask("hello")
	var took time.Duration
	worked, answers := workedMS(b, p.cmd.Process.Pid), 0
	for b.Loop() {
		took = medianAnswer(b, ana, 200)
		answers += 200
	}
	b.ReportMetric((workedMS(b, p.cmd.Process.Pid)-worked)/float64(answers), "ms-cpu")
	b.ReportMetric(float64(took.Microseconds())/1000, "ms-median")
	b.ReportMetric(float64((took-least).Microseconds())/1000, "ms-overhead")
	b.ReportMetric(float64(m.first), "chars-first-request")
	b.ReportMetric(m.reused(), "prefix-reused")
	b.ReportMetric(0, "ns/op")
}

// medianAnswer asks so many questions, one after the other.
func medianAnswer(b *testing.B, who *phone, questions int) time.Duration {
	b.Helper()
	took := make([]time.Duration, questions)
	for n := range took {
		began := time.Now()
		before := len(who.shown())
		who.say("question " + strconv.Itoa(n))
		who.api.WaitFor("the answer", func() bool { return len(who.shown()) > before })
		took[n] = time.Since(began)
	}
	slices.Sort(took)
	return took[questions/2]
}

// bareBot answers from within this process, by bare requests, until the function it gives is called.
func bareBot(b *testing.B, api *tgfake.Server, m *instant) (end func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	post := func(url string, body, answer any) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return errors.Join(json.NewDecoder(res.Body).Decode(answer), res.Body.Close())
	}
	type object map[string]any
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for offset := int64(0); ctx.Err() == nil; {
			var got struct {
				Result []struct {
					ID      int64 `json:"update_id"`
					Message struct {
						Text string
						Chat struct{ ID int64 }
					}
				}
			}
			err := post(api.URL()+"/bot"+api.Token()+"/getUpdates", object{"offset": offset, "timeout": 50}, &got)
			for _, u := range got.Result {
				offset = u.ID + 1
				var said struct{ Message struct{ Content string } }
				question := object{"model": "instant", "messages": []object{{"role": "user", "content": u.Message.Text}}}
				err = errors.Join(err, post(m.URL+"/api/chat", question, &said),
					post(api.URL()+"/bot"+api.Token()+"/sendMessage", object{"chat_id": u.Message.Chat.ID, "text": said.Message.Content}, &struct{}{}))
			}
			if err != nil && ctx.Err() == nil {
				b.Error(err)
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// BenchmarkEightChats is how many answers a second eight people get from a model that takes 100 ms.
func BenchmarkEightChats(b *testing.B) {
	const each = 40
	m := newInstant(b)
	m.delay = 100 * time.Millisecond
	ana, h := phoneBench(b, m, ", limits: {parallel: 8}")
	people, members := []tgfake.Person{ana.who}, ""
	for n := range 7 {
		p := tgfake.Person{ID: int64(5000 + n), First: "Member" + strconv.Itoa(n)}
		people = append(people, p)
		members += fmt.Sprintf(", {name: %s, telegram: %d}", p.First, p.ID)
	}
	h.edit("role: owner, telegram: 4242}", "role: owner, telegram: 4242}"+members)
	h.daemon()
	lost := 0
	began := time.Now()
	for b.Loop() {
		began = time.Now()
		var talk sync.WaitGroup
		for _, who := range people {
			talk.Go(func() {
				for n := range each {
					before := len(ana.api.Shown(who.ID))
					ana.api.Say(who, "question "+strconv.Itoa(n))
					ana.api.WaitFor("the answer", func() bool { return len(ana.api.Shown(who.ID)) > before })
				}
			})
		}
		talk.Wait()
	}
	rate := float64(len(people)*each) / time.Since(began).Seconds()
	for _, who := range people {
		lost += each*b.N - len(ana.api.Shown(who.ID))
	}
	b.ReportMetric(rate, "answers/s")
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(0, "ns/op")
}

// reused is the mean share of a prompt that stands at the head of the prompt before it. The changing block, which is the
// newest user message of the earlier prompt together with what follows it, is new by design.
func (m *instant) reused() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum, n := 0.0, 0
	for i := 1; i < len(m.bodies); i++ {
		was, is := promptText(m.bodies[i-1]), promptText(m.bodies[i])
		same := 0
		for same < len(was) && same < len(is) && was[same] == is[same] {
			same++
		}
		sum += float64(same) / float64(len(is))
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// promptText is what a model reads, in its order.
func promptText(body []byte) string {
	var req struct {
		Messages []struct {
			Role, Content string
			ToolCalls     json.RawMessage `json:"tool_calls"`
		}
		Tools json.RawMessage
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return string(body)
	}
	var out strings.Builder
	out.Write(req.Tools)
	for _, msg := range req.Messages {
		fmt.Fprintf(&out, "\n%s:%s%s", msg.Role, msg.Content, msg.ToolCalls)
	}
	return out.String()
}
