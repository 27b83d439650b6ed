package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hearth/gateways/whatsapp"
)

// What the WhatsApp library has kept of an answer goes when its words are forgotten: at once, also while the agent is off.
func TestMEM07ForgettingReachesTheWhatsAppSession(t *testing.T) {
	for name, daemon := range map[string]bool{"the agent runs": true, "the agent is off": false} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "", "people: [{name: Ana, role: owner}]\n")
			h.ok("chat", "-m", "/remember I live at 5 CANARY Street")
			path := filepath.Join(h.vault(), whatsappFile)
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := whatsapp.Linked(t.Context(), path); err != nil { // which makes its tables
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite3", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.ExecContext(t.Context(), `INSERT INTO whatsmeow_retry_buffer(our_jid, chat_jid, message_id, format, plaintext, timestamp) VALUES('a', 'b', 'c', 'd', 'you live at 5 CANARY Street', 1)`)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if daemon {
				h.daemon()
				h.ok("chat", "-m", "/forget 1")
			} else {
				h.ok("memory", "forget", "1")
			}
			eventually(t, "no word is left", func() bool {
				files, err := filepath.Glob(filepath.Join(h.vault(), "*.db*"))
				if err != nil || len(files) < 2 {
					t.Fatal(files, err)
				}
				for _, file := range files {
					if body, err := os.ReadFile(file); err == nil && strings.Contains(string(body), "CANARY") {
						return false
					}
				}
				return true
			})
		})
	}
}
