package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways"
	"hearth/vault"
)

// words are the letters and digits of a text, which no markup may lose.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func arrive(t *testing.T, h Harness) {
	var refs, texts []string
	for i := range 5 {
		texts = append(texts, fmt.Sprint("message ", i))
		refs = append(refs, send(t, h, h.To(0), texts[i]))
	}
	for i, got := range shown(t, h, 0, 5) {
		if got.Text != texts[i] || got.Ref != refs[i] || got.Ref == "" {
			t.Errorf("message %d shows %q under %q, want %q under %q", i, got.Text, got.Ref, texts[i], refs[i])
		}
	}
	slices.Sort(refs)
	if len(slices.Compact(refs)) != 5 {
		t.Error("two messages have one ref")
	}
}

func sideBySide(t *testing.T, h Harness) {
	const each = 5
	var all sync.WaitGroup
	for chat := range Chats {
		all.Go(func() {
			for i := range each {
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				if _, err := h.Gateway().Send(ctx, part(h, h.To(chat), fmt.Sprint("chat ", chat, " text ", i))); err != nil {
					t.Errorf("Send: %v", err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	for chat := range Chats {
		for i, got := range shown(t, h, chat, each) {
			if want := fmt.Sprint("chat ", chat, " text ", i); got.Text != want {
				t.Errorf("chat %d shows %q, want %q", chat, got.Text, want)
			}
		}
	}
}

// fault sends a text that must fail, and gives what is said about it.
func fault(t *testing.T, h Harness, to vault.Address, text string) *gateways.SendError {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ref, err := h.Gateway().Send(ctx, part(h, to, text))
	var known *gateways.SendError
	if !errors.As(err, &known) {
		t.Fatalf("Send returned %q, %v; want a *gateways.SendError", ref, err)
	}
	if known.Human == "" || strings.Contains(known.Human, "://") {
		t.Errorf("what a person is told: %q", known.Human)
	}
	return known
}

func lineDown(t *testing.T, h Harness) {
	h.Fail(LineDown)
	if e := fault(t, h, h.To(0), "lost"); e.Outcome != vault.NotSent {
		t.Errorf("the outcome is %q, want %q: it would be marked as a repeat, or never tried again", e.Outcome, vault.NotSent)
	}
	send(t, h, h.To(0), "found")
	if got := shown(t, h, 0, 1); got[0].Text != "found" {
		t.Errorf("shown: %v", got)
	}
}

func lineCut(t *testing.T, h Harness) {
	h.Fail(LineCut)
	if e := fault(t, h, h.To(0), "taken"); e.Outcome != vault.MayHaveSent {
		t.Errorf("the outcome is %q, want %q: it would come twice without a mark, or not at all", e.Outcome, vault.MayHaveSent)
	}
	send(t, h, h.To(0), "after it")
	if got := shown(t, h, 0, 2); got[0].Text != "taken" || got[1].Text != "after it" {
		t.Errorf("shown: %v", got)
	}
}

func refused(t *testing.T, h Harness) {
	if e := fault(t, h, h.Nowhere(), "hello"); e.Outcome != vault.Refused {
		t.Errorf("the outcome is %q, want %q: it would be tried for ever", e.Outcome, vault.Refused)
	}
	send(t, h, h.To(0), "elsewhere")
	shown(t, h, 0, 1)
}

func hostileTexts(t *testing.T, h Harness) {
	texts := []string{
		"start\x00\x1b[2J\x07end", "start\u202eend", "bad \xff\xfe utf8 end", "**bold with _inner_ italics** and *more_ end", "```\nnever closed end", "<b>open & <script>end</script>",
		"a_b_c http://x.example/a_b_(c) end", "[](end", "> quote\n>> deeper\n# Head end", "| a | b |\n|---|---|\n| 1 | end |", strings.Repeat("*", 50) + "end", "😀😀😀end",
	}
	for _, text := range texts {
		send(t, h, h.To(0), text)
	}
	for i, got := range shown(t, h, 0, len(texts)) {
		if !strings.Contains(got.Text, "end") {
			t.Errorf("%q arrived as %q", texts[i], got.Text)
		}
	}
}

func long(t *testing.T, h Harness) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "w%d🙂 ", i)
	}
	long := strings.TrimSpace(text.String())
	g, ok := h.Gateway().(gateways.Splitter)
	if !ok {
		send(t, h, h.To(0), long)
		if diff := cmp.Diff(words(long), words(shown(t, h, 0, 1)[0].Text)); diff != "" {
			t.Error(diff)
		}
		return
	}
	pieces := g.Split(part(h, h.To(0), long))
	if len(pieces) < 2 {
		t.Fatalf("a text of %d letters makes %d pieces", len(long), len(pieces))
	}
	for _, piece := range pieces {
		whole := part(h, h.To(0), piece.Text)
		whole.Entities = piece.Entities
		if again := g.Split(whole); len(again) != 1 {
			t.Errorf("a piece of %d bytes is split again", len(piece.Text))
		}
		full(t, h, whole)
	}
	var got []string
	for _, s := range shown(t, h, 0, len(pieces)) {
		got = append(got, words(s.Text)...)
	}
	if diff := cmp.Diff(words(long), got); diff != "" {
		t.Error(diff)
	}
	if short := g.Split(part(h, h.To(0), "hello")); len(short) != 1 {
		t.Errorf("a short text makes %d pieces", len(short))
	}
	if none := g.Split(part(h, h.To(0), "")); len(none) > 1 {
		t.Errorf("no text makes %d pieces", len(none))
	}
	for _, odd := range []string{strings.Repeat("x", 20_000), strings.Repeat("🙂", 5000) + "x", "x" + strings.Repeat("\n", 9000) + "y", "```\n" + strings.Repeat("line\n", 3000), strings.Repeat("e\u0301", 9000)} {
		letters := ""
		for _, piece := range g.Split(part(h, h.To(1), odd)) {
			letters += strings.Join(words(piece.Text), "")
			whole := part(h, h.To(1), piece.Text)
			whole.Entities = piece.Entities
			full(t, h, whole)
		}
		if want := strings.Join(words(odd), ""); letters != want {
			t.Errorf("of %d bytes of letters %d are left", len(want), len(letters))
		}
	}
}

// full sends a piece with as much added as the outbox may add.
func full(t *testing.T, h Harness, p vault.Part) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	p.Text += strings.Repeat(".", gateways.Room)
	if _, err := h.Gateway().Send(ctx, p); err != nil {
		t.Fatalf("Send of a piece of %d bytes: %v", len(p.Text), err)
	}
}

func ids(t *testing.T, h Harness) {
	g, ok := h.Gateway().(gateways.StableIDs)
	if !ok {
		t.Skip("this messenger chooses the ids itself")
	}
	seen := map[string]bool{}
	for range 1000 {
		id := g.NewID()
		if id == "" || seen[id] {
			t.Fatalf("id %q is empty or was given before", id)
		}
		seen[id] = true
	}
	p := part(h, h.To(0), "hello")
	for range 2 {
		if _, err := g.(gateways.Gateway).Send(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	send(t, h, h.To(0), "after it")
	if got := shown(t, h, 0, 2); got[0].Text != "hello" || got[1].Text != "after it" {
		t.Errorf("the same bytes under the same id: %v", got)
	}
}

func sendEnds(t *testing.T, h Harness) {
	p := part(h, h.To(0), "hello")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	// It may have been quick enough to arrive; what counts is that it ends, and that an error says what is known.
	_, err := h.Gateway().Send(ctx, p)
	var known *gateways.SendError
	if err != nil && !errors.As(err, &known) {
		t.Errorf("Send returned %v; want a *gateways.SendError", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("Send took %v after its context had ended", took)
	}
}
