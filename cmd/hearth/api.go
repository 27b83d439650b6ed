package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// api is the local HTTP interface of a running agent.
type api struct {
	service *service
	agent   *agent
	talks   talks
	metrics http.Handler
	log     *slog.Logger
}

// maxBody bounds what a request may bring.
const maxBody = 1 << 20

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", a.metrics)
	mux.HandleFunc("GET /api/export", a.export)
	show(mux, a, viewStatus)
	show(mux, a, viewJobs)
	show(mux, a, viewMemory)
	show(mux, a, viewMemorySearch)
	show(mux, a, viewRuns)
	show(mux, a, viewRunsShow)
	show(mux, a, viewApprovals)
	show(mux, a, viewRules)
	show(mux, a, viewOutbox)
	show(mux, a, viewPeople)
	show(mux, a, viewHealth)
	take(mux, a, changeJobsAdd)
	take(mux, a, changeJobsCancel)
	take(mux, a, changeJobsSnooze)
	take(mux, a, changeMemoryPin)
	take(mux, a, changeMemoryForget)
	take(mux, a, changeRunsStop)
	take(mux, a, changeRunsResume)
	take(mux, a, changeApprovalsDecide)
	take(mux, a, changeRulesDrop)
	take(mux, a, changeOutboxRetry)
	take(mux, a, changeOutboxDrop)
	take(mux, a, changePeopleRemove)
	take(mux, a, changePair)
	take(mux, a, changeAcceptClock)
	mux.HandleFunc("GET /api/backup", a.backup)
	mux.HandleFunc("POST /api/whatsapp/pair", a.pairWhatsApp)
	mux.HandleFunc("GET /api/chat", a.chat)
	mux.HandleFunc("POST /api/chat", a.say)
	mux.HandleFunc("POST /api/chat/ack", a.acknowledge)
	return mux
}

// show serves a view.
func show[A any](mux *http.ServeMux, a *api, v view[A]) {
	mux.HandleFunc("GET /api/"+v.path, func(w http.ResponseWriter, r *http.Request) {
		q, err := readQuery(r.URL.Query())
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		found, err := v.do(a.service, r.Context(), q)
		a.answer(w, r, found, err)
	})
}

// take serves a change.
func take[Q any](mux *http.ServeMux, a *api, c change[Q]) {
	mux.HandleFunc("POST /api/"+c.path, func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := readBody(w, r, &q); err != nil {
			a.refuse(w, r, err)
			return
		}
		done, err := c.do(a.service, r.Context(), q)
		a.answer(w, r, done, err)
	})
}

func readBody(w http.ResponseWriter, r *http.Request, to any) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return &failure{code: exitUsage, sentence: "The request is not the JSON object that is expected here.", cause: err}
	}
	return nil
}

func (a *api) answer(w http.ResponseWriter, r *http.Request, found any, err error) {
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	body, err := marshal(found)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // a client that has gone needs no answer
}

// refuse tells an error as the command line would. What is not the asker's doing is logged.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, err error) {
	code, sentence := explain(err)
	status := http.StatusInternalServerError
	var known *failure
	switch {
	case code == exitUsage:
		status = http.StatusBadRequest
	case errors.As(err, &known):
		status = http.StatusConflict
	case r.Context().Err() != nil:
		return
	default:
		a.log.Error("a request failed", "path", r.URL.Path, "error", err)
	}
	body, err := marshal(trouble{Error: a.agent.redact(sentence), Exit: code})
	if err != nil {
		a.log.Error("cannot write an answer", "path", r.URL.Path, "error", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that has gone needs no answer
}

// ready tells whether all parts have been started, and how they are.
func (a *api) ready(w http.ResponseWriter, _ *http.Request) {
	states, ready := a.agent.partStates()
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	for _, s := range states {
		fmt.Fprintf(w, "%s: %s\n", s.name, s.state)
	}
}

// serve answers on a listener until ctx ends, and then closes it at once, so that who comes next can see that nobody is
// here.
func (a *api) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           a.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		return server.Close()
	}
	return nil
}
