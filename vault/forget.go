package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// blank stands where forgotten words stood.
const blank = "[forgotten]"

// Forgotten is what Forget removed: the memory, and how far that went.
type Forgotten struct {
	Memory
	Also    []int64   // memories that were taken from the same words of the same message
	Lines   int       // messages that lost words
	Again   int64     // the memory whose place it had taken, and which holds again; 0 = none
	Gone    time.Time // until when the snapshots lose the words; zero = there are none
	KeptDBs []string  // vaults that a restore put aside: they keep the words until a person deletes them
}

// Forget deletes a memory and its words wherever the vault holds them: the turn that taught it is blanked as a whole, and
// in everything else of the same person or conversation the words of the fact are. After the commit no byte of them is
// left in the file or its log. What is still open, a call or a question, keeps its words until it has ended: a person
// decides about exactly these. Other memories stay as they are, but those that say the same and come from the same message. A
// keyed hash stays, so that nothing but the person's word brings the fact back; see ErrForgotten. ErrNotFound: not in this
// scope.
func (t *Tx) Forget(in Scope, number int64) (f Forgotten, err error) {
	f.Memory, err = memoryIn(t.ctx, t.tx, in, number)
	if err != nil {
		return f, err
	}
	if f.Scope == "household" && f.Person != in.Person {
		return f, ErrNotFound // shared by another: theirs to take back
	}
	t.scrub = true
	if err := errors.Join(t.Set(settingSweep, "yes"), t.Set(settingElsewhere, fmt.Sprintf("%d at %d", f.ID, t.now.UnixMilli())), t.forgottenSince(), t.forgetSummaries(f.Memory)); err != nil {
		return f, err
	}
	twins, err := t.twins(in, f.Memory)
	if err != nil {
		return f, err
	}
	if f.Again, err = t.unsupersede(f.Memory); err != nil {
		return f, err
	}
	for i, m := range append([]Memory{f.Memory}, twins...) {
		if i > 0 {
			f.Also = append(f.Also, m.ID)
			if _, err := t.unsupersede(m); err != nil {
				return f, err
			}
		}
		for _, query := range []string{`DELETE FROM memory_fts WHERE rowid = ?`, `DELETE FROM memory WHERE id = ?`} {
			if _, err := t.exec(query, m.ID); err != nil {
				return f, err
			}
		}
		if err := t.bury(m); err != nil {
			return f, fmt.Errorf("mark what is forgotten: %w", err)
		}
		if err := t.blankQuotes(m); err != nil {
			return f, err
		}
		turn, err := t.blankTurn(m)
		if err != nil {
			return f, fmt.Errorf("blank the turn that taught it: %w", err)
		}
		elsewhere, err := t.blankWords(m)
		if err != nil {
			return f, err
		}
		f.Lines += turn + elsewhere
	}
	return f, t.outside(&f)
}

// Forget is Tx.Forget in an event of its own.
func (v *Vault) Forget(ctx context.Context, in Scope, number int64) (f Forgotten, err error) {
	err = v.write(ctx, "forget", durable, func(t *Tx) error {
		f, err = t.Forget(in, number)
		return err
	})
	return f, err
}

// twins gives the other memories that were taken from the message of one and share its words. A rule is no twin of a fact: it
// ends by its own number alone.
func (t *Tx) twins(in Scope, m Memory) (out []Memory, err error) {
	if m.SourceMessage == 0 {
		return nil, nil
	}
	teller, err := t.tellerOf(m)
	if err != nil {
		return nil, err
	}
	where, args := in.where()
	found, err := collect(t.ctx, t.tx, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.source_message = ? AND m.id != ? AND m.person_id IS ? AND m.scope = ? AND `+where+` ORDER BY m.id`,
		append([]any{m.SourceMessage, m.ID, id(m.Person), m.Scope}, args...)...)
	for _, other := range found {
		if other.Kind == "rule" && m.Kind != "rule" {
			continue
		}
		if backs(m.Text, other.Text, teller) || backs(other.Text, m.Text, teller) {
			out = append(out, other)
		}
	}
	return out, err
}

// unsupersede hands the place of a memory that goes to what stands behind it: what it replaced is replaced by its successor,
// or holds again; the latest such one is given.
func (t *Tx) unsupersede(m Memory) (again int64, err error) {
	if m.SupersededBy == 0 {
		again, err = one(t.ctx, t.tx, scanInt, `SELECT coalesce(max(id), 0) FROM memory WHERE superseded_by = ?`, m.ID)
		if err != nil {
			return 0, err
		}
	}
	_, err = t.exec(`UPDATE memory SET superseded_by = ? WHERE superseded_by = ?`, id(m.SupersededBy), m.ID)
	return again, err
}

// outside looks for copies of the vault that hold what is forgotten.
func (t *Tx) outside(f *Forgotten) error {
	all, err := Snapshots(t.v.dir)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		f.Gone = t.now.Add(24 * time.Hour)
	}
	f.KeptDBs, err = filepath.Glob(filepath.Join(t.v.dir, "vault.db.before-restore-*"))
	f.KeptDBs = slices.DeleteFunc(f.KeptDBs, func(path string) bool { return strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm") })
	return err
}

// blankTurn blanks the run and the message that taught a fact, and what quotes them.
func (t *Tx) blankTurn(m Memory) (lines int, err error) {
	if m.SourceRun == 0 && m.SourceMessage == 0 {
		return 0, nil
	}
	lost, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM message WHERE (run_id = ? OR id = ?) AND text != '`+blank+`'`, m.SourceRun, m.SourceMessage)
	if err != nil {
		return 0, err
	}
	for _, query := range []string{
		`UPDATE message SET quoted = '` + blank + `' WHERE quoted != '' AND EXISTS (SELECT 1 FROM message s WHERE (s.run_id = ?1 OR s.id = ?2) AND s.conversation_id = message.conversation_id AND instr(s.text, message.quoted) > 0)`,
		`UPDATE message SET text = '` + blank + `', quoted = '', raw = NULL WHERE run_id = ?1 OR id = ?2`,
		`UPDATE step SET text = '` + blank + `' WHERE run_id = ?1 AND text != ''`,
		`UPDATE call SET result = '` + blank + `', args = '{}', receipt = '' WHERE run_id = ?1 AND state NOT IN (` + openCalls + `)`,
		`UPDATE outbox SET text = '` + blank + `', entities = '' WHERE run_id = ?1 AND state NOT IN ('waiting','sending')`,
		`UPDATE approval SET arguments = '` + blank + `', question = '' WHERE run_id = ?1 AND state != 'open'`,
		`UPDATE run SET context = '' WHERE id = ?1 AND state IN ('done','failed','stopped')`,
	} {
		if _, err := t.exec(query, m.SourceRun, m.SourceMessage); err != nil {
			return 0, err
		}
	}
	return int(lost), nil
}

const openCalls = `'proposed','waiting','approved','started','unknown'`

// blankWords replaces the fact's words in every text that could have repeated them: of the person's runs and messages, of
// their own conversation, and of the group a fact was told in. What the household shares may have gone anywhere.
func (t *Tx) blankWords(m Memory) (lines int, err error) {
	runs := fmt.Sprintf(`SELECT id FROM run WHERE person_id = %d OR conversation_id = %d`, m.Person, m.Conversation)
	talks := fmt.Sprintf(`SELECT id FROM conversation WHERE kind = 'private' AND person_id = %d OR id = %d`, m.Person, m.Conversation)
	if m.Scope == "household" {
		runs, talks = `SELECT id FROM run`, `SELECT id FROM conversation`
	}
	said := fmt.Sprintf(`(person_id = %d OR conversation_id IN (%s) OR run_id IN (%s))`, m.Person, talks, runs)
	sent := fmt.Sprintf(`(run_id IN (%s) OR conversation_id IN (%s) OR class = 'notice')`, runs, talks)
	needle := needleOf(m.Text)
	for _, c := range []struct{ table, column, key, more, where string }{
		{"message", "text", "id", ", raw = NULL", said},
		{"message", "quoted", "id", "", said},
		{"step", "text", "run_id, n", "", `run_id IN (` + runs + `)`},
		{"call", "args", "id", "", `run_id IN (` + runs + `) AND state NOT IN (` + openCalls + `)`},
		{"call", "result", "id", "", `run_id IN (` + runs + `)`},
		{"call", "receipt", "id", "", `run_id IN (` + runs + `)`},
		{"run", "context", "id", "", `id IN (` + runs + `)`},
		{"run", "input", "id", "", `id IN (` + runs + `)`},
		{"outbox", "text", "id", ", entities = ''", sent},
		{"approval", "arguments", "id", "", `run_id IN (` + runs + `) AND state != 'open'`},
		{"approval", "question", "id", "", `run_id IN (` + runs + `) AND state != 'open'`},
	} {
		found, err := collect(t.ctx, t.tx, func(s scanner) (r [3]any, err error) {
			var words string
			if c.table == "step" {
				err = s.Scan(&words, &r[1], &r[2])
			} else {
				err = s.Scan(&words, &r[1])
			}
			r[0] = needle.blank(words)
			if r[0] == words {
				r[0] = nil
			}
			return r, err
		}, fmt.Sprintf(`SELECT %s, %s FROM %s WHERE %s AND instr(lower(%s), ?) > 0`, c.column, c.key, c.table, c.where, c.column), needle.hint)
		for _, row := range found {
			if err != nil || row[0] == nil {
				continue
			}
			query, args := fmt.Sprintf(`UPDATE %s SET %s = ?%s WHERE id = ?`, c.table, c.column, c.more), row[:2]
			if c.table == "step" {
				query, args = `UPDATE step SET text = ? WHERE run_id = ? AND n = ?`, row[:]
			}
			_, err = t.exec(query, args...)
			if c.table == "message" && c.column == "text" {
				lines++
			}
		}
		if err != nil {
			return 0, fmt.Errorf("blank words in %s.%s: %w", c.table, c.column, err)
		}
	}
	_, err = t.exec(`UPDATE message SET raw = NULL WHERE raw IS NOT NULL AND ` + said)
	return lines, err
}

// needle finds the words of a fact however they are spaced, in whatever case, and as they stand inside JSON.
type needle struct {
	pattern     *regexp.Regexp
	hint        string // what each such text holds in lower case; "" = no such thing
	first, last rune
}

func needleOf(fact string) needle {
	if core := strings.TrimFunc(fact, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }); core != "" {
		fact = core // it may be repeated without its full stop
	}
	words := strings.Fields(strings.ToValidUTF8(fact, "\ufffd"))
	n := needle{}
	n.first, _ = utf8.DecodeRuneInString(words[0])
	n.last, _ = utf8.DecodeLastRuneInString(words[len(words)-1])
	var parts []string
	for _, w := range words {
		forms := regexp.QuoteMeta(w)
		for _, html := range []bool{false, true} {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			_ = enc.Encode(w) // a string always has a JSON form
			if inner := strings.TrimSpace(b.String()); inner[1:len(inner)-1] != w {
				forms += "|" + regexp.QuoteMeta(inner[1:len(inner)-1])
			}
		}
		parts = append(parts, "(?:"+forms+")")
		if plain := strings.IndexFunc(w, func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune(`"\<>&`, r) }) < 0; plain && len(w) > len(n.hint) {
			n.hint = strings.ToLower(w)
		}
	}
	n.pattern = regexp.MustCompile(`(?i)` + strings.Join(parts, `(?:\s|\\[nrt])+`))
	return n
}

// escape is a JSON escape at the end of a text: its last letter is no part of a word.
var escape = regexp.MustCompile(`\\(?:[nrtbf]|u[0-9a-fA-F]{4})$`)

// blank replaces whole words only: who forgets "tea" has not forgotten "team".
func (n needle) blank(s string) string {
	var out strings.Builder
	done := 0
	for _, at := range n.pattern.FindAllStringIndex(s, -1) {
		before, _ := utf8.DecodeLastRuneInString(s[:at[0]])
		after, _ := utf8.DecodeRuneInString(s[at[1]:])
		if letters(before, n.first) && !escape.MatchString(s[:at[0]]) || letters(n.last, after) {
			continue
		}
		out.WriteString(s[done:at[0]])
		out.WriteString(blank)
		done = at[1]
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// letters reports whether two neighbours belong to one word.
func letters(a, b rune) bool {
	in := func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !cjk(r)
	}
	return in(a) && in(b)
}

// sweep leaves no copy of deleted words. secure_delete zeroes a row where it last stood, but SQLite leaves bytes of rows
// that it moved to another page in the free space of the old one: only building the file anew is sure to drop those. It
// takes about 10 ms a megabyte on a PC. The setting that asks for it is committed with the deletion, so that a sweep
// that is cut short is made up for at the next start.
func (v *Vault) sweep(ctx context.Context) error {
	defer v.leisure.hush()()
	if _, err := v.writer.ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("sweep deleted words out of the file: %w", err)
	}
	if err := v.emptyLog(ctx); err != nil {
		return err
	}
	_, err := v.writer.ExecContext(ctx, `DELETE FROM setting WHERE name = ?`, settingSweep)
	return err
}

// sweepLeft makes up for a sweep that was cut short. Nobody else writes meanwhile.
func (v *Vault) sweepLeft(ctx context.Context) error {
	unswept, err := v.Setting(ctx, settingSweep)
	if err != nil || unswept == "" || v.writer == nil {
		return err
	}
	return v.sweep(ctx)
}

// Elsewhere has sweep clear the files beside the vault of words, when some were forgotten since it last did so. A failure is
// made up for by the next call, also of another life.
func (v *Vault) Elsewhere(ctx context.Context, sweep func(context.Context) error) error {
	mark, err := v.Setting(ctx, settingElsewhere)
	if err != nil || mark == "" {
		return err
	}
	if err := sweep(ctx); err != nil {
		return err
	}
	return v.write(ctx, "elsewhere", durable, func(t *Tx) error {
		_, err := t.exec(`DELETE FROM setting WHERE name = ? AND value = ?`, settingElsewhere, mark) // more may be forgotten by now
		return err
	})
}

// emptyLog moves the log into the file and empties it.
func (v *Vault) emptyLog(ctx context.Context) error {
	var busy, log, done int
	if err := v.writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done); err != nil {
		return fmt.Errorf("empty the log: %w", err)
	}
	if busy != 0 {
		return errors.New("empty the log: somebody has been reading the vault for too long")
	}
	return nil
}
