package vault

import (
	"context"
	"time"
)

// Bill is what the requests of one kind have taken together.
type Bill struct {
	ID       int64  // of the person or the job; 0 = nobody's, or none
	Name     string // of the model or the person, or the job's text
	Requests int
	In, Out  int
	USD      float64 // what is known of it, with what is reserved and the most that cut requests can have cost
	Unknown  int     // requests whose price is not known
	Cut      int     // requests that were cut off or are under way
	CutUSD   float64 // their part of USD, which is the most they can have cost
	Took     time.Duration
}

// Bills are the sums of a span: all together, and apart. The dearest come first.
type Bills struct {
	Total                    Bill
	ByModel, ByPerson, ByJob []Bill
}

const billColumns = `count(*), coalesce(sum(s.tokens_in), 0), coalesce(sum(s.tokens_out), 0), total(s.usd), coalesce(sum(s.usd IS NULL), 0),
	coalesce(sum(s.state != 'settled'), 0), total(CASE WHEN s.state != 'settled' THEN s.usd END), coalesce(sum(s.took), 0)`

func scanBill(s scanner) (b Bill, err error) {
	var took int64
	err = s.Scan(null[int64]{&b.ID}, null[string]{&b.Name}, &b.Requests, &b.In, &b.Out, &b.USD, &b.Unknown, &b.Cut, &b.CutUSD, &took)
	b.Took = time.Duration(took) * time.Millisecond
	return b, err
}

// Bills adds up what models were asked since an instant, for a person or, when that is 0, for everybody.
func (v *Vault) Bills(ctx context.Context, since time.Time, person int64) (b Bills, err error) {
	const these, apart = ` WHERE s.at >= ?1 AND (?2 = 0 OR s.person_id = ?2)`, ` GROUP BY 1, 2 ORDER BY total(s.usd) DESC, sum(s.tokens_in + s.tokens_out) DESC, 1, 2`
	args := []any{since.UnixMilli(), person}
	if b.Total, err = one(ctx, v.rdb, scanBill, `SELECT 0, '', `+billColumns+` FROM spend s`+these, args...); err != nil {
		return b, err
	}
	if b.ByModel, err = collect(ctx, v.rdb, scanBill, `SELECT 0, s.model, `+billColumns+` FROM spend s`+these+apart, args...); err != nil {
		return b, err
	}
	if b.ByPerson, err = collect(ctx, v.rdb, scanBill, `SELECT s.person_id, p.name, `+billColumns+` FROM spend s LEFT JOIN person p ON p.id = s.person_id`+these+apart, args...); err != nil {
		return b, err
	}
	b.ByJob, err = collect(ctx, v.rdb, scanBill, `SELECT s.job_id, j.text, `+billColumns+` FROM spend s LEFT JOIN job j ON j.id = s.job_id`+these+` AND s.job_id IS NOT NULL`+apart, args...)
	return b, err
}
