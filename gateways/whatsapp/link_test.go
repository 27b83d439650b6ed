package whatsapp

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hearth/vault"
)

// An account is linked with a code that is typed on the phone.
func TestLinkByPhoneNumber(t *testing.T) {
	w := newWorld(t, Dedicated)
	w.receive()
	w.state(unlinked.words)
	var shown []Code
	account, err := w.gw.Link(t.Context(), "+1 555 000 0001", func(c Code) {
		shown = append(shown, c)
		if err := w.me.EnterCode(c.Text); err != nil {
			t.Error(err)
		}
	})
	if err != nil || account != "+15550000001" {
		t.Fatalf("%q, %v", account, err)
	}
	if len(shown) != 1 || len(shown[0].Text) != 9 || shown[0].QR != "" || shown[0].For < time.Minute {
		t.Errorf("%+v", shown)
	}
	w.says(w.ann, "hello")
	w.inbound(1)
	if _, err := w.gw.Link(t.Context(), "", func(Code) { t.Error("a code was shown") }); !errors.Is(err, ErrLinked) || !strings.Contains(err.Error(), "+15550000001") {
		t.Errorf("a second account: %v", err)
	}
}

// Who gives up, or lets the codes run out, can try again (openclaw#4686).
func TestOpenclaw4686LinkingCanBeTriedAgain(t *testing.T) {
	w := newWorld(t, Dedicated)
	w.receive()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := w.gw.Link(ctx, "", func(Code) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("giving up: %v", err)
	}
	w.server.Down(true)
	if _, err := w.gw.Link(t.Context(), "", func(Code) { t.Error("a code was shown") }); !errors.Is(err, ErrLinking) {
		t.Errorf("without a line: %v", err)
	}
	w.server.Down(false)
	if _, err := w.gw.Link(t.Context(), "+0", func(Code) {}); !errors.Is(err, ErrLinking) {
		t.Errorf("with a bad number: %v", err)
	}
	if e := w.fails(w.part(w.to(w.ann), "hello")); e.Outcome != vault.NotSent {
		t.Errorf("%v", e)
	}
	w.link()
	w.up()
}

// A code is drawn so that it can be read back.
func TestQR(t *testing.T) {
	const content = "https://wa.me/settings/linked_devices#2@abc,def,ghi,jkl,1"
	plain, err := QR(content, false)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(plain, "\n"), "\n")
	width := utf8.RuneCountInString(rows[0])
	if width < 25 || width > 80 || len(rows) != (width+1)/2 || strings.Trim(rows[0], "█") != "" {
		t.Errorf("%d rows of %d, the first is %q", len(rows), width, rows[0])
	}
	for _, row := range rows {
		if utf8.RuneCountInString(row) != width {
			t.Errorf("a row has %d letters", utf8.RuneCountInString(row))
		}
	}
	coloured, err := QR(content, true)
	if err != nil || !strings.Contains(coloured, "\x1b[38;5;231;48;5;16m") || !strings.HasSuffix(coloured, "\x1b[0m\n") {
		t.Errorf("%q, %v", coloured[:40], err)
	}
	b, err := PNG(content)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(b))
	if err != nil || picture.Bounds().Dx() < 6*25 || picture.Bounds().Dx() != picture.Bounds().Dy() {
		t.Errorf("%v, %v", picture.Bounds(), err)
	}
	if _, err := QR(strings.Repeat("x", 5000), false); err == nil {
		t.Error("a text that is too long was drawn")
	}
	if _, err := PNG(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text that is too long was drawn")
	}
}
