//go:build testserver

package main

import (
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"

	"hearth/gateways/whatsapp/wafake"
)

// whatsappHook leads every WhatsApp client to the test server.
func whatsappHook(env []string, log *slog.Logger) (func(*whatsmeow.Client), error) {
	for _, entry := range env {
		value, ok := strings.CutPrefix(entry, testServerVariable+"=")
		if !ok || value == "" {
			continue
		}
		fields := strings.Split(value, ",")
		root, err := hex.DecodeString(fields[min(1, len(fields)-1)])
		if err != nil || len(fields) < 2 || len(root) != 32 {
			return nil, usage("%s is ADDRESS,ROOTKEY[,hasty].", testServerVariable)
		}
		log.Warn("THIS PROGRAM TALKS TO A TEST SERVER INSTEAD OF WHATSAPP", "address", fields[0])
		whatsmeow.WACertPubKey = [32]byte(root)
		if len(fields) > 2 && fields[2] == "hasty" {
			whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = 500*time.Millisecond, 510*time.Millisecond
			whatsmeow.KeepAliveResponseDeadline = time.Second
		}
		return func(c *whatsmeow.Client) { wafake.Redirect(c, fields[0]) }, nil
	}
	return nil, nil
}
