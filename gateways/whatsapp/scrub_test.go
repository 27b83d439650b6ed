package whatsapp

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What was sent is kept by the library, so that it can be sent again; forgetting reaches it while the line is up, and the
// line goes on.
func TestMEM07ForgottenLeavesNoByteInTheSession(t *testing.T) {
	w := linked(t, Dedicated)
	left := func() (n int) {
		files, err := filepath.Glob(filepath.Join(w.dir, "whatsapp.db*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(body, []byte("CANARY"))
		}
		return n
	}
	send := func(words string) {
		t.Helper()
		if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), words)); err != nil {
			t.Fatal(err)
		}
		w.hears(w.ann, words)
	}
	w.says(w.ann, "hello")
	w.inbound(1)
	send("you live at 5 CANARY Street")
	if left() == 0 {
		t.Fatal("the library keeps nothing of what was sent: this test shows nothing")
	}
	if err := Scrub(t.Context(), filepath.Join(w.dir, "whatsapp.db")); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 0 {
		t.Errorf("the forgotten words are there %d times", n)
	}
	send("and what else?")
	if err := Scrub(t.Context(), filepath.Join(w.dir, "nothing.db")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "nothing.db")); err == nil {
		t.Error("a session was made")
	}
}
