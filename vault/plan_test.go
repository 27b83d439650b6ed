package vault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// planner opens connections that note how SQLite goes about each statement.
type planner struct {
	dsn   string
	mu    sync.Mutex
	plans map[string][]string
}

func (p *planner) Driver() driver.Driver { return newDriver() }

func (p *planner) Connect(context.Context) (driver.Conn, error) {
	c, err := p.Driver().Open(p.dsn)
	if err != nil {
		return nil, err
	}
	return planConn{c.(*sqlite3.SQLiteConn), p}, nil
}

type planConn struct {
	*sqlite3.SQLiteConn
	p *planner
}

func (c planConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.note(ctx, query, args)
	return c.SQLiteConn.QueryContext(ctx, query, args)
}

func (c planConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.note(ctx, query, args)
	return c.SQLiteConn.ExecContext(ctx, query, args)
}

func (c planConn) note(ctx context.Context, query string, args []driver.NamedValue) {
	rows, err := c.SQLiteConn.QueryContext(ctx, `EXPLAIN QUERY PLAN `+query, args)
	if err != nil {
		return // a PRAGMA has no plan
	}
	defer func() { _ = rows.Close() }()
	var plan []string
	for {
		row := make([]driver.Value, 4)
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return
		}
		plan = append(plan, fmt.Sprint(row[3]))
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.plans[query] = plan
}

// watched gives the vault connections that note their plans.
func watched(h *home) *planner {
	h.t.Helper()
	p := &planner{dsn: dsn(h.Path(), "rw", "&_txlock=immediate&_foreign_keys=on"), plans: map[string][]string{}}
	db := sql.OpenDB(p)
	h.t.Cleanup(func() { _ = db.Close() })
	check(h.t, h.rdb.Close())
	check(h.t, h.writer.Close())
	h.rdb.DB, h.writer = db, must(db.Conn(h.t.Context()))(h.t)
	return p
}

// Indexes that hold only what is open: to read one from end to end is what it is for.
var openOnly = []string{"outbox_lane", "outbox_buttons", "outbox_live", "job_next", "approval_open", "memory_pinned", "memory_rule", "spend_open"}

// What is done all day must not become slower with the years.
func TestHotPathsReadNoTableFromEndToEnd(t *testing.T) {
	h := newHome(t)
	fill(h)
	h.do(func(tx *Tx) error { return tx.Pause(false) })
	ctx := t.Context()
	p := watched(h)

	in := h.says(h.ann, "hello")
	for range 2 {
		must(h.Accept(ctx, in, h.ann, time.Second))(t)
		h.Accept(ctx, in, h.ann, time.Second) //nolint:errcheck // a repeat
		in = h.says(h.ann, "more")
	}
	must(h.Accept(ctx, edited(in, "other", 5), h.ann, time.Second))(t)
	check(t, h.Command(ctx, h.says(h.ann, "/x"), h.ann, func(*Tx, Conversation) ([]Part, error) { return []Part{{Text: "x"}}, nil }))
	check(t, h.Stranger(ctx, Inbound{Gateway: "telegram", Sender: "77", ChatKind: Private}, "x"))
	h.clock.add(time.Minute)
	must(h.NextReady(ctx))(t)
	got := h.claim()
	must(h.Spent(ctx, h.clock.now()))(t)
	must(h.BudgetAnswers(ctx, h.clock.now()))(t)
	caps := []Cap{{Of: Dollars, Since: h.clock.now(), Max: 9}, {Of: Dollars, Since: h.clock.now(), Person: h.ann.ID, Max: 9}, {Of: Dollars, Run: got.Run.ID, Max: 9}}
	for _, done := range []func(int64) error{
		func(n int64) error { return h.Unspend(ctx, n) }, func(n int64) error { return h.CutOff(ctx, n, 0) }, func(n int64) error { return h.Settle(ctx, Spending{ID: n}) },
	} {
		check(t, done(must(h.Reserve(ctx, requestOf(got, 1), caps))(t)))
	}
	must(h.History(ctx, got.Conversation, got.Run.Pos, 20))(t)
	must(h.StoppedAmong(ctx, []int64{got.Run.ID}))(t)
	must(h.StandingOf(ctx, in.Address(), in.ID))(t)
	must(h.AtWork(ctx, "telegram"))(t)
	must(h.Blocked(ctx))(t)
	check(t, h.Yield(ctx, got.Run.ID, 0))
	got = h.claim()
	check(t, h.NoticeWaiting(ctx, got.Run.ID, "x"))
	must(h.ShowLine(ctx, Part{Key: LineKey(got.Run.ID), Run: got.Run.ID, To: in.Address(), Text: "x"}))(t)
	check(t, h.LineShown(ctx, must(h.Lines(ctx, "telegram"))(t)[0].ID, "y", false))
	check(t, h.EndLine(ctx, LineKey(got.Run.ID), "z"))
	must(h.Pinned(ctx, ScopeOf(got.Conversation, h.ann.ID)))(t)
	must(h.Opening(ctx, ScopeOf(got.Conversation, h.ann.ID), 0, "head:1"))(t)
	must(h.Summary(ctx, got.Conversation))(t)
	must(h.OpenJobs(ctx, got.Conversation, 5))(t)
	must(h.OpenQuestions(ctx, got.Conversation.ID, 5))(t)
	check(t, h.QueueTask(ctx, got.Conversation.ID, TaskSummary, time.Hour))
	must(h.Unended(ctx))(t)
	must(h.Recall(ctx, ScopeOf(got.Conversation, h.ann.ID), "nuts for my sister", 5))(t)
	must(h.Find(ctx, ScopeOf(got.Conversation, h.ann.ID), Query{Text: "nuts for my sister", Meaning: Vector{"m", meaning("nuts for my sister")[:64]}}))(t)
	_, _, err := h.Remember(ctx, Memory{Text: "a fact", Key: "key", Source: "command"}, ScopeOf(got.Conversation, h.ann.ID))
	check(t, err)
	batch := must(h.Unembedded(ctx, "m", 1))(t)
	check(t, h.SaveVectors(ctx, batch, [][]float32{meaning("a fact")[:64]}))
	h.step(got, StepDone{Step: Step{Text: "x"}, Calls: []Call{{Tool: "jobs", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve"}, Expires: h.clock.now()}}}, Park: true})
	must(h.NextExpiry(ctx))(t)
	must(h.ExpireApprovals(ctx))(t)
	got = h.claim()
	check(t, h.EndRun(ctx, got.Run.ID, Ending{State: Done, Reply: "x"}))
	must(h.OpenRuns(ctx, 0))(t)
	must(h.OpenRuns(ctx, got.Conversation.ID))(t)
	must(h.Lanes(ctx))(t)
	for range 3 {
		h.send()
	}
	must(h.Unsettled(ctx, "telegram"))(t)
	must(h.PartsOf(ctx, got.Run.ID))(t)
	j := must(h.AddJob(ctx, Job{Key: "hot", Kind: Do, Person: h.ann.ID, Conversation: got.Conversation.ID, Zone: "UTC", Text: "x", Next: h.clock.now()}))(t)
	must(h.NextDue(ctx))(t)
	must(h.DueJobs(ctx, 10))(t)
	must(h.Jobs(ctx, h.ann.ID, true, 10))(t)
	check(t, h.Fire(ctx, j, Firing{Due: j.Next}))
	must(h.OpenRunOf(ctx, j.ID))(t)
	h.do(func(tx *Tx) error {
		_, err := tx.Answer(FiringKey(j.ID, j.Next), "x")
		if err == nil {
			_, err = tx.Asked(FiringKey(j.ID, j.Next))
		}
		if errors.Is(err, ErrNotFound) {
			err = nil // it only wakes the agent
		}
		return err
	})
	h.do(func(tx *Tx) error { _, err := tx.Stop(got.Conversation.ID); return err })
	check(t, h.recover(ctx))

	// Of a conversation the newest are read, never all of it.
	whole := regexp.MustCompile(`^SEARCH \S+ USING INDEX \S+_history \(conversation_id=\?\)$`)
	scan := regexp.MustCompile(`^SCAN (\S+)(?: USING (?:COVERING )?INDEX (\S+))?`)
	small := []string{"setting", "counter", "person", "pair_code", "stranger", "quarantine", "identity", "CONSTANT"}
	for query, plan := range p.plans {
		for _, line := range plan {
			if whole.MatchString(line) {
				t.Errorf("%s\n%s", strings.Join(strings.Fields(query), " "), strings.Join(plan, "\n"))
			}
			m := scan.FindStringSubmatch(line)
			if m == nil || slices.Contains(small, m[1]) || slices.Contains(openOnly, m[2]) || strings.HasPrefix(m[1], "(subquery-") || strings.Contains(line, "VIRTUAL TABLE") {
				continue
			}
			if strings.HasPrefix(query, "INSERT") && len(m[1]) > 1 {
				continue // who refers to the row: looked at only when its number changes
			}
			t.Errorf("%s\n%s", strings.Join(strings.Fields(query), " "), strings.Join(plan, "\n"))
		}
	}
	if len(p.plans) < 60 {
		t.Errorf("only %d statements were seen", len(p.plans))
	}
}
