package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"hearth/vault"
)

// costRow is what models have taken since the household's day and month began.
type costRow struct {
	Today billsRow `json:"today"`
	Month billsRow `json:"month"`
}

// billsRow is a span, all together and apart; the dearest come first.
type billsRow struct {
	billRow
	ByModel  []billRow `json:"by_model"`
	ByPerson []billRow `json:"by_person"`
	ByJob    []billRow `json:"by_job"`
}

// billRow is what one thing has taken. USD counts what is known: cut_usd of it is the most that requests can have cost of
// which nobody knows what they did, and unpriced requests are not in it.
type billRow struct {
	ID       number  `json:"id"`   // of a job
	Name     text    `json:"name"` // of a model or a person, or a job's text
	Requests int     `json:"requests"`
	In       int     `json:"tokens_in"`
	Out      int     `json:"tokens_out"`
	USD      float64 `json:"usd"`
	Cut      int     `json:"cut"`
	CutUSD   float64 `json:"cut_usd"`
	Unpriced int     `json:"unpriced"`
}

func (s *service) cost(ctx context.Context, now time.Time) (row costRow, err error) {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	today, err := s.vault.Bills(ctx, day, 0)
	if err != nil {
		return row, err
	}
	row.Today = billsOf(today)
	all, err := s.vault.Bills(ctx, month, 0)
	row.Month = billsOf(all)
	return row, err
}

func billsOf(b vault.Bills) billsRow {
	rows := func(bills []vault.Bill, job bool) []billRow {
		out := make([]billRow, len(bills))
		for i, one := range bills {
			out[i] = billOf(one)
			if !job {
				out[i].ID = 0
			}
		}
		return out
	}
	return billsRow{billOf(b.Total), rows(b.ByModel, false), rows(b.ByPerson, false), rows(b.ByJob, true)}
}

func billOf(b vault.Bill) billRow {
	return billRow{number(b.ID), text(b.Name), b.Requests, b.In, b.Out, b.USD, b.Cut, b.CutUSD, b.Unknown}
}

// tell writes a line for today and one for the month, and below it what took it.
func (c costRow) tell(w io.Writer) {
	fmt.Fprintf(w, "Spent today: %s\nSpent this month: %s\n", c.Today.billRow, c.Month.billRow)
	for _, part := range []struct {
		what string
		rows []billRow
	}{{"model", c.Month.ByModel}, {"person", c.Month.ByPerson}, {"job", c.Month.ByJob}} {
		for _, b := range part.rows {
			name := dash(b.Name)
			if b.ID != 0 {
				name = fmt.Sprintf("%d (%s)", b.ID, clip(string(b.Name), 40))
			}
			fmt.Fprintf(w, "  %s %s: %s\n", part.what, name, b)
		}
	}
}

func (b billRow) String() string {
	words := fmt.Sprintf("$%.4f, %d tokens in, %d out", b.USD, b.In, b.Out)
	if b.Cut > 0 {
		words += fmt.Sprintf("; %s cut off or under way, at most $%.4f of it", plural(b.Cut, "request"), b.CutUSD)
	}
	if b.Unpriced > 0 {
		words += fmt.Sprintf("; unknown price for %s", plural(b.Unpriced, "request"))
	}
	return words
}
