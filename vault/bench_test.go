package vault

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func BenchmarkAccept(b *testing.B) {
	h := newHome(b)
	for b.Loop() {
		h.accept(h.ann, "remind me to stretch")
	}
}

// A plain answer: accepted, claimed, thought, ended, sent.
func BenchmarkPlainAnswer(b *testing.B) {
	h := newHome(b)
	for b.Loop() {
		h.talk(h.ann, "hello", "hello")
		h.send()
	}
}

// manyMemories fills the memory with 100,000 facts of 2,000 words, the commonest of which stands in half of them.
func manyMemories(b *testing.B, h *home) Scope {
	b.Helper()
	in := h.private(h.bob)
	h.do(func(tx *Tx) error {
		if _, err := tx.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 100000)
			INSERT INTO memory(person_id, scope, kind, text, norm, source, created, updated)
			SELECT ?, 'person', 'fact', t, t, 'command', 0, 0 FROM (SELECT CASE i % 2 WHEN 0 THEN 'the ' ELSE 'a ' END || 'word' || (i * 7919 % 2000) || ' number' || i || ' thing' || (i % 500) AS t FROM n)`, h.bob.ID); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO memory_fts(rowid, tokens) SELECT id, norm FROM memory`)
		return err
	})
	return in
}

func BenchmarkRecall100k(b *testing.B) {
	h := newHome(b)
	in := manyMemories(b, h)
	for name, query := range map[string]string{"one": "number4711", "two": "word42 thing42", "common": "the word42", "none": "quetzal canary", "newest": ""} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(h.Recall(b.Context(), in, query, 5))(b)
			}
		})
	}
	b.Run("remember", func(b *testing.B) {
		ann := h.private(h.ann)
		for i := 0; b.Loop(); i++ {
			h.remember(ann, fmt.Sprint("fact ", i))
		}
	})
	b.Run("pinned", func(b *testing.B) {
		for b.Loop() {
			must(h.Pinned(b.Context(), in))(b)
		}
	})
}

func BenchmarkDue100kJobs(b *testing.B) {
	h := newHome(b)
	c := must(h.PrivateConversation(b.Context(), h.bob.ID))(b)
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 100000)
			INSERT INTO job(kind, person_id, conversation_id, gateway, account, chat, thread, text, zone, next, state, created, changed)
			SELECT 'say', ?, ?, 'telegram', 'bot', '2', '', 'x', 'UTC', ? + i * 60000, 'waiting', 0, 0 FROM n`, h.bob.ID, c.ID, h.clock.now().UnixMilli())
		return err
	})
	h.clock.add(time.Minute)
	b.Run("next", func(b *testing.B) {
		for b.Loop() {
			must(h.NextDue(b.Context()))(b)
		}
	})
	b.Run("due", func(b *testing.B) {
		for b.Loop() {
			if due := must(h.DueJobs(b.Context(), 10))(b); len(due) != 1 {
				b.Fatal(len(due))
			}
		}
	})
}

// A year later: 10,000 runs have ended in the same conversation.
func BenchmarkAfterAYear(b *testing.B) {
	h := newHome(b)
	p := h.talk(h.ann, "hello", strings.Repeat("words ", 50))
	h.do(func(tx *Tx) error {
		for _, query := range []string{
			`UPDATE counter SET value = 30000 WHERE name = 'pos'`,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 10000)
				INSERT INTO run(conversation_id, person_id, trigger, gateway, account, chat, thread, sender, state, priority, pos, ready_at, steps, queued, started, ended)
				SELECT conversation_id, person_id, 'message', gateway, account, chat, thread, sender, 'done', 10, 3 * i, 0, 1, 0, 0, 0 FROM n, run WHERE id = ?1`,
			`INSERT INTO message(conversation_id, run_id, step, pos, role, person_id, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
				SELECT conversation_id, id, 0, pos - 1, 'user', person_id, gateway, account, chat, thread, sender, 'old' || id, 'text', 'hello', 0, 0 FROM run WHERE id != ?1`,
			`INSERT INTO step(run_id, n, kind, text, started, ended) SELECT id, 0, 'model', 'words', 0, 0 FROM run WHERE id != ?1`,
		} {
			if _, err := tx.exec(query, p.Run.ID); err != nil {
				return err
			}
		}
		return nil
	})
	b.Run("answer", func(b *testing.B) {
		for b.Loop() {
			h.talk(h.ann, "hello", "hello")
			h.send()
		}
	})
	b.Run("burst", func(b *testing.B) {
		for b.Loop() {
			must(h.Accept(b.Context(), h.says(h.ann, "more"), h.ann, time.Second))(b)
			h.clock.add(200 * time.Millisecond)
		}
	})
	b.Run("history", func(b *testing.B) {
		for b.Loop() {
			if got := must(h.History(b.Context(), p.Conversation, 1<<60, 20))(b); len(got) != 20 {
				b.Fatal(len(got))
			}
		}
	})
	b.Run("idle", func(b *testing.B) {
		h.do(func(tx *Tx) error { return tx.Pause(true) })
		for b.Loop() {
			if _, err := h.nextRun(b.Context(), h.rdb, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkForget(b *testing.B) {
	h := newHome(b)
	in := h.private(h.ann)
	for range 200 {
		h.talk(h.ann, "hello", strings.Repeat("words ", 50))
	}
	for i := 0; b.Loop(); i++ {
		m := h.remember(in, fmt.Sprint("fact ", i))
		must(h.Forget(b.Context(), in, m.ID))(b)
	}
}
