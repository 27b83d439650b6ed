package vault

import (
	"context"
	"fmt"
	"time"
)

// Usage counts the tokens of a model request. CacheRead and CacheWrote are parts of In: what the provider took from its cache
// of prompts, or put there.
type Usage struct{ In, Out, CacheRead, CacheWrote int }

// Spending is one row of the ledger: a request to a model. While it is open, and after it was cut, its figures are the most
// that it can take; settled, they are what it took.
type Spending struct {
	ID, Run, Person, Job int64
	Purpose, Model       string
	State                string // open, settled or cut
	Usage
	USD      float64
	USDKnown bool // false = the price is not known
	At       time.Time
	Took     time.Duration
}

const spendColumns = `id, run_id, person_id, job_id, purpose, model, state, tokens_in, tokens_out, cache_read, cache_wrote, usd, at, took`

func scanSpending(s scanner) (e Spending, err error) {
	var usd *float64
	var took int64
	err = s.Scan(&e.ID, null[int64]{&e.Run}, null[int64]{&e.Person}, null[int64]{&e.Job}, &e.Purpose, &e.Model, &e.State, &e.In, &e.Out, &e.CacheRead, &e.CacheWrote, &usd, instant{&e.At}, &took)
	if usd != nil {
		e.USD, e.USDKnown = *usd, true
	}
	e.Took = time.Duration(took) * time.Millisecond
	return e, err
}

// free reports whether nobody sends a bill for it.
func (e Spending) free() bool { return e.USDKnown && e.USD == 0 }

func (e Spending) price() any {
	if e.USDKnown {
		return e.USD
	}
	return nil
}

// Measure is what a limit counts.
type Measure string

// The measures. Minutes are those that models worked.
const (
	Dollars Measure = "usd"
	Tokens  Measure = "tokens"
	Steps   Measure = "steps"
	Minutes Measure = "minutes"
)

// Cap is a limit on what requests may take together: those of a run, or those since an instant of a person or of everybody.
type Cap struct {
	Limit  string // its name in the YAML file
	Of     Measure
	Run    int64 // 0 = by time
	Since  time.Time
	Person int64 // 0 = everybody's
	Max    float64
}

// OverError says that a request does not fit under a cap. Open is the part of Used that is only reserved: those requests
// are under way, and will take less, or as much.
type OverError struct {
	Cap
	Used, Open, Need float64
}

func (e *OverError) Error() string {
	return fmt.Sprintf("%s is reached: %g of %g used, %g of it reserved, %g more needed", e.Limit, e.Used, e.Max, e.Open, e.Need)
}

// Crowded reports whether the request fits as soon as those that are under way have taken nothing.
func (e *OverError) Crowded() bool { return e.Open > 0 && !e.over(e.Used-e.Open) }

// penny is less than anything costs: sums of floating point numbers are off by less.
const penny = 1e-9

func (e *OverError) over(used float64) bool {
	if e.Need == 0 { // not known beforehand
		return used+penny >= e.Max
	}
	return used+e.Need > e.Max+penny
}

// Reserve commits that a request is about to be made, with the most it can take, unless that would exceed a cap: then nothing
// is committed, and the error is an *OverError. All requests see each other's reservations, so that several at a time stay
// under a cap together. What somebody sends a bill for is flushed.
func (v *Vault) Reserve(ctx context.Context, e Spending, caps []Cap) (number int64, err error) {
	err = v.write(ctx, "reserve", durableIf(!e.free()), func(t *Tx) error {
		if err := t.v.fits(t.ctx, t.tx, e, caps); err != nil {
			return err
		}
		e.At, e.State = t.now, "open"
		number, err = t.enter(e)
		return err
	})
	return number, err
}

// Fits is the question that Reserve asks, without a reservation: nil or an *OverError.
func (v *Vault) Fits(ctx context.Context, e Spending, caps []Cap) error {
	return v.fits(ctx, v.rdb, e, caps)
}

func (v *Vault) fits(ctx context.Context, q querier, e Spending, caps []Cap) error {
	type scope struct {
		run, since, person int64
	}
	seen := map[scope]sums{}
	for _, c := range caps {
		if c.Of == Dollars && e.free() {
			continue
		}
		key := scope{run: c.Run}
		if c.Run == 0 {
			key = scope{since: c.Since.UnixMilli(), person: c.Person}
		}
		used, ok := seen[key]
		if !ok {
			var err error
			if used, err = sumOf(ctx, q, key.run, key.since, key.person); err != nil {
				return err
			}
			seen[key] = used
		}
		over := &OverError{Cap: c}
		switch c.Of {
		case Dollars:
			over.Used, over.Open, over.Need = used.usd, used.openUSD, e.USD
		case Tokens:
			over.Used, over.Open, over.Need = used.tokens, used.openTokens, float64(e.In+e.Out)
		case Steps:
			over.Used, over.Need = used.steps, 1
		case Minutes:
			over.Used = used.took / 60e3
		}
		if over.over(over.Used) {
			return over
		}
	}
	return nil
}

// sums are what requests have taken, reserved or cut ones included.
type sums struct{ steps, tokens, openTokens, usd, openUSD, took float64 }

const sumColumns = `SELECT count(*), total(tokens_in + tokens_out), total(CASE state WHEN 'open' THEN tokens_in + tokens_out END), total(usd), total(CASE state WHEN 'open' THEN usd END), total(took) FROM spend `

// sumOf gives those of a run, else those since an instant, of a person when one is given.
func sumOf(ctx context.Context, q querier, run, since, person int64) (sums, error) {
	scan := func(s scanner) (n sums, err error) {
		err = s.Scan(&n.steps, &n.tokens, &n.openTokens, &n.usd, &n.openUSD, &n.took)
		return n, err
	}
	if run != 0 {
		return one(ctx, q, scan, sumColumns+`WHERE run_id = ?`, run)
	}
	return one(ctx, q, scan, sumColumns+`WHERE at >= ?1 AND (?2 = 0 OR person_id = ?2)`, since, person)
}

func (t *Tx) enter(e Spending) (int64, error) {
	return t.insert(`INSERT INTO spend(run_id, person_id, job_id, purpose, model, state, tokens_in, tokens_out, cache_read, cache_wrote, usd, at, took) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		id(e.Run), id(e.Person), id(e.Job), e.Purpose, e.Model, e.State, e.In, e.Out, e.CacheRead, e.CacheWrote, e.price(), e.At.UnixMilli(), e.Took.Milliseconds())
}

// Settle books what a request took, when no step is saved with it.
func (v *Vault) Settle(ctx context.Context, e Spending) error {
	return v.write(ctx, "settle", durableIf(!e.free()), func(t *Tx) error { return t.settle(e) })
}

func (t *Tx) settle(e Spending) error {
	_, err := t.exec(`UPDATE spend SET state = 'settled', tokens_in = ?, tokens_out = ?, cache_read = ?, cache_wrote = ?, usd = ?, took = ? WHERE id = ? AND state != 'settled'`,
		e.In, e.Out, e.CacheRead, e.CacheWrote, e.price(), e.Took.Milliseconds(), e.ID)
	return err
}

// CutOff books a request of which nobody knows what it took: it keeps the most that it can have. One that costs nothing is
// taken out of the ledger.
func (v *Vault) CutOff(ctx context.Context, number int64, took time.Duration) error {
	return v.write(ctx, "cut-off", relaxed, func(t *Tx) error {
		if _, err := t.exec(`DELETE FROM spend WHERE id = ? AND state = 'open' AND usd = 0`, number); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE spend SET state = 'cut', took = ? WHERE id = ? AND state = 'open'`, took.Milliseconds(), number)
		return err
	})
}

// Unspend takes a request out of the ledger that its server has refused, or that never reached it: there is no bill for it.
func (v *Vault) Unspend(ctx context.Context, number int64) error {
	return v.write(ctx, "unspend", relaxed, func(t *Tx) error {
		_, err := t.exec(`DELETE FROM spend WHERE id = ? AND state = 'open'`, number)
		return err
	})
}

// cutOpen books what was under way when the last life ended.
func (t *Tx) cutOpen() error {
	if _, err := t.exec(`DELETE FROM spend WHERE state = 'open' AND usd = 0`); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE spend SET state = 'cut' WHERE state = 'open'`)
	return err
}

// Spent gives the dollars booked or reserved since an instant, over all requests.
func (v *Vault) Spent(ctx context.Context, since time.Time) (float64, error) {
	n, err := sumOf(ctx, v.rdb, 0, since.UnixMilli(), 0)
	return n.usd, err
}

// Ledger lists the requests of a run, oldest first; run 0 = all there are.
func (v *Vault) Ledger(ctx context.Context, run int64) ([]Spending, error) {
	if run == 0 {
		return collect(ctx, v.rdb, scanSpending, `SELECT `+spendColumns+` FROM spend ORDER BY id`)
	}
	return collect(ctx, v.rdb, scanSpending, `SELECT `+spendColumns+` FROM spend WHERE run_id = ? ORDER BY id`, run)
}
