//go:build !testserver

package main

import (
	"log/slog"
	"strings"

	"go.mau.fi/whatsmeow"
)

// whatsappHook is what every WhatsApp client is given before it connects. In this binary nothing can set it.
func whatsappHook(env []string, log *slog.Logger) (func(*whatsmeow.Client), error) {
	for _, entry := range env {
		if strings.HasPrefix(entry, testServerVariable+"=") {
			log.Warn("ignored: this program was not built with the tag testserver", "variable", testServerVariable)
		}
	}
	return nil, nil
}
