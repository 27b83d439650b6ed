package vault

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var odd = []string{
	"what's up?", "C++", "name@example.org", "AND", `"`, "'", "NEAR(", "a*", "*", "-x", "怀孕", "끝말잇기", "ガ", "🏳️‍🌈", "3.5", "#tag", "caf\xe9", "\x00", "a\u0300", "½", "İ", "ẞ", "𝚨", "ꟙ", "\U00030000", "\U0001E2C0", "0x41",
	"x++y", "ﬁne", "\u200d", "\ufe0f", "NOT", "OR", "col:x", "{a}", "^a", "\u1039", "\u0e31", "\u3099", "ー", "\uff9e", "Ⅷ", "①", "\xf2ć", "\u0345", "ΌΣΟΣ",
}

// FuzzTokens: what is indexed is what a query looks for, and none of it is search syntax.
func FuzzTokens(f *testing.F) {
	for _, s := range odd {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := tokens(s)
		for _, tok := range all {
			if tok == "" || strings.ContainsAny(tok, "\"'*()^:+-{} \x00") {
				t.Errorf("token %q of %q", tok, s)
			}
			if again := strings.Join(tokens(tok), " "); again != tok && !strings.HasPrefix(tok, "0x") {
				t.Errorf("token %q of %q is split again into %q", tok, s, again)
			}
		}
		for _, q := range queryTokens(s) {
			if strings.Trim(q, `("`) == q || strings.Count(q, `"`)%2 != 0 || strings.Trim(q, `"*() OR`) == "" {
				t.Errorf("term %s of %q", q, s)
			}
		}
		if (len(all) == 0) != (len(queryTokens(s)) == 0) {
			t.Errorf("%q has tokens %q and terms %q", s, all, queryTokens(s))
		}
		if strings.Join(tokens(strings.ToUpper(s)), " ") == "" && len(all) > 0 {
			t.Errorf("%q has no tokens in capitals", s)
		}
	})
}

// FuzzRecall: no query is an error, and a fact is found by itself and by any of its own words.
func FuzzRecall(f *testing.F) {
	for _, s := range odd {
		f.Add("my sister "+s+" nuts", s)
		f.Add(s, s+" nuts")
	}
	h := newHome(f)
	in := h.private(h.ann)
	h.remember(h.private(h.bob), "Bob's own fact about nuts")
	f.Fuzz(func(t *testing.T, fact, query string) {
		found, err := h.Recall(t.Context(), in, query, 10)
		if err != nil {
			t.Fatalf("recall %q: %v", query, err)
		}
		for _, m := range found {
			if m.Person != h.ann.ID {
				t.Errorf("%q finds another's %q", query, m.Text)
			}
		}
		if len(fact) > 1000 || len(tokens(fact)) == 0 {
			return
		}
		var m Memory
		check(t, h.write(t.Context(), "one fact", relaxed, func(tx *Tx) error { // the only one, so that no better match hides it
			if _, err := tx.exec(`DELETE FROM memory_fts WHERE rowid IN (SELECT id FROM memory WHERE person_id = ?)`, h.ann.ID); err != nil {
				return err
			}
			if _, err := tx.exec(`DELETE FROM memory WHERE person_id = ?`, h.ann.ID); err != nil {
				return err
			}
			m, _, err = tx.Remember(Memory{Text: fact, Source: "command"}, in)
			return err
		}))
		if !utf8.ValidString(m.Text) {
			t.Errorf("%q is stored as %q", fact, m.Text)
		}
		for _, word := range append(strings.Fields(m.Text), m.Text) {
			if len(tokens(word)) > 0 && len(must(h.Recall(t.Context(), in, word, 1))(t)) == 0 {
				t.Errorf("%q is not found by its word %q: %q in %q", fact, word, queryTokens(word), tokens(fact))
			}
		}
		if again := needleOf(m.Text).blank("say " + m.Text + " again"); again != "say "+blank+" again" && !strings.Contains(again, blank) {
			t.Errorf("%q is not blanked in %q", m.Text, again)
		}
	})
}
