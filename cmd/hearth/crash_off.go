//go:build !crashpoints

package main

import (
	"log/slog"
	"strings"

	"hearth/gateways"
	"hearth/gateways/terminal"
	"hearth/gateways/whatsapp"
	"hearth/vault"
)

// crasher ends the program at a named point, in binaries that are built for that. This one is not.
type crasher struct{}

func newCrasher(env []string, log *slog.Logger) (crasher, error) {
	for _, entry := range env {
		if strings.HasPrefix(entry, crashVariable+"=") {
			log.Warn("ignored: this program was not built with the tag crashpoints", "variable", crashVariable)
		}
	}
	return crasher{}, nil
}

func (crasher) hooks() vault.Hooks { return vault.Hooks{} }

func (crasher) brain() func(string) { return nil }

func (crasher) messenger(g *whatsapp.Gateway) gateways.Gateway { return g }

func (crasher) gateway(t *terminal.Terminal) gateways.Gateway { return t }

func (crasher) phone(g *bot) gateways.Gateway { return g }
