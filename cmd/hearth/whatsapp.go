package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"hearth/config"
	"hearth/gateways"
	"hearth/gateways/whatsapp"
	"hearth/vault"
)

// whatsappFile is the messenger library's own store, beside the vault.
const whatsappFile = "whatsapp.db"

// whatsappMode is off, dedicated or self.
func whatsappMode(cfg *config.Config) string { return cfg.Gateways.WhatsApp.Mode }

// addWhatsApp makes the gateway to WhatsApp. It needs no network yet.
func (a *agent) addWhatsApp(cfg *config.Config, crash crasher) error {
	hook, err := whatsappHook(a.env, a.log.Logger)
	if err != nil {
		return err
	}
	a.whatsapp = whatsapp.New(whatsapp.Options{
		Vault: a.vault, Path: filepath.Join(cfg.Vault.Dir, whatsappFile), Mode: whatsappMode(cfg), Log: a.log.Logger, Now: a.clock.now, Hook: hook,
		Groups: func() string { return a.cfg.Load().Gateways.WhatsApp.Groups },
		Nudge:  func() { a.outbox.Nudge(whatsapp.Name); go debug.FreeOSMemory() }, // coming to the line takes more than being on it
	})
	a.gateways = append(a.gateways, crash.messenger(a.whatsapp))
	return nil
}

// whatsappRow tells how WhatsApp is.
func whatsappRow(g *whatsapp.Gateway) gatewayRow {
	row := gatewayRow{Name: whatsapp.Name}
	words, ok := g.State()
	if ok {
		row.State = words
	} else {
		row.State, row.Error, row.Mend = "not connected", text(words), text(g.Mend())
	}
	return row
}

// whatsappCheck tells whether an account is linked, when the agent is off and nobody else can.
func whatsappCheck(ctx context.Context, cfg *config.Config) []checkRow {
	if whatsappMode(cfg) == "off" {
		return nil
	}
	account, err := whatsapp.Linked(ctx, filepath.Join(cfg.Vault.Dir, whatsappFile))
	switch {
	case err != nil:
		return []checkRow{{"whatsapp", wrong, fmt.Sprintf("the session cannot be read: %v", err), "Move whatsapp.db away and link again: `hearth whatsapp pair`."}}
	case account == "":
		return []checkRow{{"whatsapp", uneasy, "no account is linked", "`hearth whatsapp pair` links one."}}
	}
	return []checkRow{{"whatsapp", fine, account + " is linked", ""}}
}

// pairing is one line of what is told while an account is linked.
type pairing struct {
	QR      string   `json:"qr,omitempty"`   // the content of a QR code
	Code    string   `json:"code,omitempty"` // what to type on the phone
	Seconds int      `json:"seconds,omitempty"`
	Linked  string   `json:"linked,omitempty"` // the number
	Note    string   `json:"note,omitempty"`   // what else there is to do
	Failed  *trouble `json:"failed,omitempty"`
}

// linkWhatsApp links an account and tells each step of it.
func linkWhatsApp(ctx context.Context, g *whatsapp.Gateway, v *vault.Vault, mode, phone string, emit func(pairing) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var broken error
	account, err := g.Link(ctx, phone, func(c whatsapp.Code) {
		if broken = emit(pairing{QR: c.QR, Code: c.Text, Seconds: int(c.For.Seconds())}); broken != nil {
			cancel() // nobody looks any more
		}
	})
	switch {
	case broken != nil:
		return broken
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return &failure{code: exitFailed, sentence: sentenceStart(err.Error()) + ".", cause: err}
	}
	note, err := whoCanWrite(ctx, v, account, mode)
	if err != nil {
		return err
	}
	return emit(pairing{Linked: account, Note: note})
}

// whoCanWrite says what is missing before anybody is answered; "" when nothing is.
func whoCanWrite(ctx context.Context, v *vault.Vault, account, mode string) (string, error) {
	people, err := v.People(ctx)
	if err != nil {
		return "", err
	}
	known := false
	for _, p := range people {
		for _, i := range p.Identities {
			known = known || i.Gateway == whatsapp.Name && (mode != whatsapp.Self || i.Ext == account)
		}
	}
	switch {
	case known:
		return "", nil
	case mode == whatsapp.Self:
		return fmt.Sprintf("Nobody in the configuration has this number, so nobody is answered yet: add `whatsapp: %q` to yourself, or send the /pair CODE of `hearth pair` to yourself.", account), nil
	}
	return "Nobody is known on WhatsApp yet, so nobody is answered: add `whatsapp: \"+NUMBER\"` to people, or send this number the /pair CODE of `hearth pair`.", nil
}

// cmdWhatsAppPair links an account, through the daemon if it runs.
func cmdWhatsAppPair(ctx context.Context, in *invocation) (err error) {
	phone, err := phoneOf(in.flags["phone"])
	if err != nil {
		return err
	}
	s, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.remote != nil {
		return s.remote.pairWhatsApp(ctx, phone, in.showPairing)
	}
	if whatsappMode(s.cfg) == "off" {
		return noWhatsApp()
	}
	return in.pairHere(ctx, s, phone)
}

func noWhatsApp() error {
	return failed("WhatsApp is off: set gateways.whatsapp.mode to dedicated (a number for the agent) or self (your own), restart the daemon if it runs, and pair again.")
}

// phoneOf tidies a number as people write it.
func phoneOf(given string) (string, error) {
	if given == "" {
		return "", nil
	}
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "").Replace(given)
	digits = strings.TrimPrefix(digits, "+")
	if strings.Trim(digits, "0123456789") != "" || len(digits) < 7 || len(digits) > 15 || digits[0] == '0' {
		return "", usage("--phone takes a number with its country code, such as +351912345678, not %q.", given)
	}
	return "+" + digits, nil
}

// pairHere links with a gateway of its own, as the daemon does not run. What people write meanwhile stays with WhatsApp
// until the daemon takes it.
func (in *invocation) pairHere(ctx context.Context, s *session, phone string) error {
	quiet := *s.cfg
	quiet.Log.Level = "warn"
	log := newLogger(in.err, &quiet)
	hook, err := whatsappHook(in.env, log.Logger)
	if err != nil {
		return err
	}
	g := whatsapp.New(whatsapp.Options{
		Vault: s.local.vault, Path: filepath.Join(s.cfg.Vault.Dir, whatsappFile), Mode: whatsappMode(s.cfg), Log: log.Logger, Now: s.clock.now, Hook: hook,
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- g.Receive(ctx, later) }()
	linked := make(chan error, 1)
	go func() { linked <- linkWhatsApp(ctx, g, s.local.vault, whatsappMode(s.cfg), phone, in.showPairing) }()
	select {
	case err = <-linked:
	case err = <-ended:
		ended <- nil
	}
	cancel()
	return errors.Join(err, <-ended)
}

// later takes nothing.
func later(context.Context, vault.Inbound) error {
	return errors.New("messages are taken when the daemon runs")
}

// showPairing prints one step.
func (in *invocation) showPairing(p pairing) error {
	switch {
	case p.QR != "":
		drawn, err := whatsapp.QR(p.QR, isTerminal(in.out))
		if err != nil {
			return err
		}
		return in.print(fmt.Sprintf("\nOn the phone: WhatsApp, Settings, Linked devices, Link a device. Scan this within %d seconds; then a new one follows.\n\n%s", p.Seconds, drawn))
	case p.Code != "":
		return in.print(fmt.Sprintf("On the phone: WhatsApp, Settings, Linked devices, Link a device, Link with phone number. Type this within %d seconds:\n\n    %s\n\n", p.Seconds, p.Code))
	}
	return in.print(strings.TrimSpace(fmt.Sprintf("%s is linked to %s. %s", gateways.Title(whatsapp.Name), p.Linked, p.Note)) + "\n")
}
