package vault

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var million = flag.Bool("million", false, "BenchmarkFindMillion: a vault of a million messages, which takes minutes to fill")

// language makes words, of which the n-th is n times rarer than the first, as in those that people speak.
type language struct {
	random *rand.Rand
	ranks  *rand.Zipf
}

func newLanguage() language {
	r := rand.New(rand.NewPCG(1, 2))
	return language{r, rand.NewZipf(r, 1.05, 8, 60_000)}
}

func (l language) word() (string, uint64) {
	n := l.ranks.Uint64()
	var b strings.Builder
	for k := n + 20; k > 0; k /= 20 {
		b.WriteString([]string{"ba", "ko", "lu", "mi", "ne", "ra", "to", "sa", "vi", "du", "fe", "gor", "hal", "jin", "kem", "lor", "mos", "nar", "pel", "tuk"}[k%20])
	}
	return b.String(), n
}

func (l language) line(words int) string {
	out := make([]string, words)
	for i := range out {
		out[i], _ = l.word()
	}
	return strings.Join(out, " ")
}

// question has words that somebody would ask with: not the hundred commonest.
func (l language) question(words int) string {
	var out []string
	for len(out) < words {
		if w, n := l.word(); n > 100 {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// manyMessages fills a vault with messages of three people, in private and in two groups, or only in one place, and with
// memories.
func manyMessages(b testing.TB, h *home, messages, memories int, only ...Scope) Scope {
	b.Helper()
	l := newLanguage()
	people := []Person{h.ann, h.bob, h.cem}
	var scopes []Scope
	for _, p := range people {
		scopes = append(scopes, h.private(p), h.inGroup("-1", p), h.inGroup("-2", p))
	}
	if len(only) > 0 {
		scopes = only
	}
	const batch = 20_000
	for done := 0; done < messages; done += batch {
		h.do(func(tx *Tx) error {
			for i := done; i < min(messages, done+batch); i++ {
				// Of each conversation some thousands in a row: the index takes them faster so.
				s := scopes[i*len(scopes)/batch%len(scopes)]
				role, who := "user", any(s.Person)
				if i%2 == 1 && !s.Group {
					role, who = "assistant", nil
				}
				at := h.clock.now().Add(-time.Duration(messages-i) * time.Minute).UnixMilli()
				if _, err := tx.exec(`INSERT INTO message(conversation_id, pos, role, person_id, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
					VALUES(?,?,?,?,'telegram','bot','1','','1',?,'text',?,?,?)`, s.Conversation, 100+i, role, who, "x"+strconv.Itoa(i), l.line(4+l.random.IntN(20)), at, at); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for done := 0; done < memories; done += batch {
		h.do(func(tx *Tx) error {
			for i := done; i < min(memories, done+batch); i++ {
				words := l.line(4 + l.random.IntN(8))
				number, err := tx.insert(`INSERT INTO memory(person_id, scope, kind, text, norm, source, created, updated) VALUES(?,'person','fact',?,?,'command',0,0)`, people[i%3].ID, words, words)
				if err == nil {
					_, err = tx.exec(`INSERT INTO memory_fts(rowid, tokens) VALUES(?,?)`, number, words)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return scopes[0]
}

// BenchmarkFindMillion is one search over memories and messages, by questions of two to twelve words: the median, the
// slowest of twenty, the most memory the process had, and how the file grows. Without -million in a fiftieth of that vault.
func BenchmarkFindMillion(b *testing.B) {
	h := newHome(b)
	messages, memories := 20_000, 2_000
	if *million {
		messages, memories = 1_000_000, 100_000
	}
	size := func() int64 {
		check(b, h.emptyLog(b.Context()))
		return must(os.Stat(h.Path()))(b).Size()
	}
	in := manyMessages(b, h, messages, 0)
	after := size()
	manyMessages(b, h, 0, memories)
	l := newLanguage()
	for range 5 {
		must(h.Find(b.Context(), in, Query{Text: l.question(5), Limit: 10}))(b)
	}
	for _, words := range []int{2, 5, 12} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			var took []time.Duration
			worked := processor(b)
			for b.Loop() {
				q := l.question(words)
				began := time.Now()
				must(h.Find(b.Context(), in, Query{Text: q, Limit: 10}))(b)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric((processor(b)-worked).Seconds()*1000/float64(len(took)), "cpu-ms")
			b.ReportMetric(resident(b), "rss-MB")
			b.ReportMetric(float64(after)/float64(messages)*1000/1024, "KB/1000-messages")
		})
	}
}

// BenchmarkFindByMeaning is a search by five words and their meaning: 100,000 messages of the conversation and 20,000 memories of
// the person have vectors of 384 numbers. Without -million a tenth of them.
func BenchmarkFindByMeaning(b *testing.B) {
	h := newHome(b)
	messages, memories := 10_000, 2_000
	if *million {
		messages, memories = 100_000, 20_000
	}
	in := manyMessages(b, h, messages, 3*memories, h.private(h.ann)) // of three people
	r := rand.New(rand.NewPCG(5, 6))
	values := func(string) []float32 {
		out := make([]float32, 384)
		for i := range out {
			out[i] = float32(r.NormFloat64())
		}
		return out
	}
	before := must(os.Stat(h.Path()))(b).Size()
	check(b, h.write(b.Context(), "test", relaxed, func(tx *Tx) error {
		number, err := tx.embeddingOf(EmbeddingBatch{model: "m"}, 384)
		for _, of := range []struct{ reach, ids string }{{"said", `SELECT id FROM message WHERE conversation_id = ?2`}, {"person", `SELECT id FROM memory WHERE person_id = ?1`}} {
			ids, readErr := collect(b.Context(), tx.tx, scanInt, of.ids, in.Person, in.Conversation)
			place := in.Person
			if of.reach == "said" {
				place = in.Conversation
			}
			for _, n := range ids {
				if err == nil {
					v := ofLengthOne(values(""))
					scale, whole := bytesOf(v)
					_, err = tx.exec(`INSERT INTO vector(reach, place, item, embedding_id, sign, scale, whole) VALUES(?,?,?,?,?,?,?)`, of.reach, place, n, number, signsOf(v), scale, whole)
				}
			}
			err = errors.Join(err, readErr)
		}
		return err
	}))
	check(b, h.emptyLog(b.Context()))
	rows := h.count(`SELECT count(*) FROM vector`)
	grown := must(os.Stat(h.Path()))(b).Size() - before
	l := newLanguage()
	var took []time.Duration
	worked := processor(b)
	for b.Loop() {
		q := Query{Text: l.question(5), Limit: 10, Meaning: Vector{"m", values("")}}
		began := time.Now()
		must(h.Find(b.Context(), in, q))(b)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(rows), "vectors")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric((processor(b)-worked).Seconds()*1000/float64(len(took)), "cpu-ms")
	b.ReportMetric(resident(b), "rss-MB")
	b.ReportMetric(float64(grown)/float64(rows)*1000/1024, "KB/1000-vectors")
}

// processor is the time that the process has had of the processors: it is the same on a busy machine.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	check(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the memory of the process, in MB.
func resident(t testing.TB) float64 {
	t.Helper()
	for line := range strings.Lines(string(must(os.ReadFile("/proc/self/status"))(t))) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return must(strconv.ParseFloat(strings.Fields(rest)[0], 64))(t) / 1024
		}
	}
	return 0
}
