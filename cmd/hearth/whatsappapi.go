package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// pairOrder asks for an account to be linked.
type pairOrder struct {
	Phone string `json:"phone"`
}

// pairWhatsApp streams the steps of linking an account, one JSON object a line.
func (a *api) pairWhatsApp(w http.ResponseWriter, r *http.Request) {
	var q pairOrder
	if err := readBody(w, r, &q); err != nil {
		a.refuse(w, r, err)
		return
	}
	if a.agent.whatsapp == nil {
		a.refuse(w, r, noWhatsApp())
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	emit := func(p pairing) error {
		line, err := marshal(p)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	err := linkWhatsApp(r.Context(), a.agent.whatsapp, a.service.vault, whatsappMode(a.agent.cfg.Load()), q.Phone, emit)
	if err == nil || r.Context().Err() != nil {
		return
	}
	code, sentence := explain(err)
	_ = emit(pairing{Failed: &trouble{Error: a.agent.redact(sentence), Exit: code}}) // who has gone needs no answer
}

// pairWhatsApp links an account through the daemon.
func (c *client) pairWhatsApp(ctx context.Context, phone string, show func(pairing) error) error {
	body, err := marshal(pairOrder{Phone: phone})
	if err != nil {
		return err
	}
	answer, err := c.do(ctx, http.MethodPost, "/api/whatsapp/pair", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return readAnswer(answer, nil)
	}
	for lines := json.NewDecoder(answer.Body); ; {
		var p pairing
		if err := lines.Decode(&p); err != nil {
			return &failure{code: exitFailed, sentence: "The daemon broke off before an account was linked: look at its log, and try again.", cause: err}
		}
		if p.Failed != nil {
			return &failure{code: p.Failed.Exit, sentence: p.Failed.Error}
		}
		if err := show(p); err != nil || p.Linked != "" {
			return err
		}
	}
}
