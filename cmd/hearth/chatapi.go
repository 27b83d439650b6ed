package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
)

// talks are the chats that are open through the socket.
type talks struct {
	mu   sync.Mutex
	open map[string]*served
}

// served is a talk and how long it lasts.
type served struct {
	*talk
	ctx context.Context
}

func (t *talks) add(s *served) (name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]*served{}
	}
	name = rand.Text()
	t.open[name] = s
	return name
}

func (t *talks) get(name string) (*served, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.open[name]
	if !ok {
		return nil, failed("There is no such chat any more: open it again.")
	}
	return s, nil
}

func (t *talks) remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, name)
}

// typed is what a client sends: words, or the number of a part that it has printed.
type typed struct {
	Talk string `json:"talk"`
	ID   string `json:"id"`
	Text string `json:"text"`
	Part int64  `json:"part"`
}

// chat streams the events of a chat, one JSON object a line, until the client goes.
func (a *api) chat(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t, err := a.agent.talk(ctx, r.URL.Query().Get("person"))
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	defer t.client.Close()
	name := a.talks.add(&served{t, ctx})
	defer a.talks.remove(name)
	w.Header().Set("Content-Type", "application/x-ndjson")
	emit := func(e event) error {
		line, err := marshal(e)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	if err := emit(event{Hello: &hello{Talk: name, Person: t.person.Name}}); err != nil {
		return
	}
	if err := t.run(ctx, emit); err != nil && ctx.Err() == nil {
		a.log.Info("a chat broke off", "error", err)
	}
}

// say takes a message of a chat. 200 means that it is safe.
func (a *api) say(w http.ResponseWriter, r *http.Request) {
	var in typed
	err := readBody(w, r, &in)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	t, err := a.talks.get(in.Talk)
	if err == nil {
		err = t.say(r.Context(), in.Text, in.ID)
	}
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	go t.await(t.ctx, in.ID)
	a.answer(w, r, told{}, nil)
}

// acknowledge notes that a part was printed.
func (a *api) acknowledge(w http.ResponseWriter, r *http.Request) {
	var in typed
	err := readBody(w, r, &in)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	t, err := a.talks.get(in.Talk)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	t.client.Ack(in.Part)
	a.answer(w, r, told{}, nil)
}

// remoteLine is a chat through the socket.
type remoteLine struct {
	client *client
	name   string
	stream *json.Decoder
	body   interface{ Close() error }
}

// chat opens a chat through the socket.
func (c *client) chat(ctx context.Context, person string) (*remoteLine, error) {
	answer, err := c.do(ctx, http.MethodGet, "/api/chat?"+query{Person: person}.values().Encode(), nil)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer func() { _ = answer.Body.Close() }()
		return nil, readAnswer(answer, nil)
	}
	l := &remoteLine{client: c, stream: json.NewDecoder(answer.Body), body: answer.Body}
	first, err := l.next()
	if err != nil {
		_ = answer.Body.Close()
		return nil, err
	}
	if first.Hello == nil {
		_ = answer.Body.Close()
		return nil, failed("The daemon answered something that this program does not understand: are both of the same version?")
	}
	l.name = first.Hello.Talk
	return l, nil
}

// next waits for the next event.
func (l *remoteLine) next() (e event, err error) {
	if err := l.stream.Decode(&e); err != nil {
		return e, &failure{code: exitFailed, sentence: "The daemon has ended this chat: it may have been stopped. What was said is kept and answered when it runs again.", cause: err}
	}
	return e, nil
}

func (l *remoteLine) say(ctx context.Context, words, id string) error {
	return l.client.post(ctx, "chat", typed{Talk: l.name, ID: id, Text: words}, nil)
}

func (l *remoteLine) ack(ctx context.Context, part int64) error {
	return l.client.post(ctx, "chat/ack", typed{Talk: l.name, Part: part}, nil)
}

func (l *remoteLine) close() { _ = l.body.Close() }
