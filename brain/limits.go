package brain

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"hearth/vault"
)

// Limits bound a run and a day. Zero values of the first three are replaced by the defaults of the YAML file; elsewhere zero
// is no limit, and Nothing allows nothing that costs money.
type Limits struct {
	Steps  int
	Worked time.Duration // over all lives of the run
	Tokens int
	USD    float64
	Day    DayLimits // of everybody together
	Person DayLimits // of each person, unless Settings.LimitsOf names them
}

// DayLimits bound a day of the household's zone. Zero is no limit.
type DayLimits struct {
	Steps  int
	Worked time.Duration // that models were at work
	Tokens int
	USD    float64
}

// Nothing is a limit of no money at all.
const Nothing = math.SmallestNonzeroFloat64

// The limits, as brain.limits calls them.
const (
	limitSteps  = "steps"
	limitWorked = "minutes"
	limitTokens = "tokens_per_run"
	limitUSD    = "usd_per_run"
)

// Excess is a limit that a run's next step would exceed. It is what the owner is asked about, and stored with the question as
// its arguments: an answer is bound to these figures.
type Excess struct {
	Limit  string        `json:"limit"`            // its key in brain.limits
	Person string        `json:"person,omitempty"` // whose share it is
	Unit   vault.Measure `json:"unit"`
	PerRun bool          `json:"per_run,omitempty"` // else it is of a day
	Of     float64       `json:"of"`                // as configured
	At     float64       `json:"at"`                // as raised by earlier answers
	Used   float64       `json:"used"`
	Need   float64       `json:"need"` // the most that the next step can take; 0 = not known
	To     float64       `json:"to"`   // where it goes with a yes
	Model  string        `json:"model,omitempty"`
}

// raised fills in where the limit goes with a yes: so often its own amount further that the next step fits.
func (e Excess) raised() Excess {
	e.To = e.At + e.Of*math.Max(1, math.Ceil((e.Used+e.Need-e.At)/e.Of-1e-6))
	return e
}

// grant is an answer to a question of kind budget.
type grant struct {
	Excess
	choice string
}

// grants reads the answers of the kinds given.
func grants(asked []vault.Approval, choices ...string) []grant {
	var out []grant
	for _, a := range asked {
		if a.Kind != "budget" || a.State != "answered" || !slices.Contains(choices, a.Choice) {
			continue
		}
		g := grant{choice: a.Choice}
		if json.Unmarshal([]byte(a.Arguments), &g.Excess) == nil {
			out = append(out, g)
		}
	}
	return out
}

// same reports whether an answer is about a limit as it is configured now: another amount in the YAML file ends what was
// granted for the old one.
func (g grant) same(e Excess) bool {
	return g.Limit == e.Limit && g.Person == e.Person && g.Of == e.Of
}

// effective is what a limit stands at, with what was granted.
func effective(e Excess, granted []grant) Excess {
	e.At = e.Of
	for _, g := range granted {
		if g.choice != vault.ChooseStop && g.same(e) {
			e.At = math.Max(e.At, g.To)
		}
	}
	return e
}

// ofRun are the limits of a run that are known before there is a prompt.
func (l Limits) ofRun(p vault.Progress, worked time.Duration) (over Excess, is bool) {
	granted := grants(p.Approvals, vault.ChooseMore)
	for _, e := range []Excess{
		{Limit: limitSteps, Unit: vault.Steps, Of: float64(l.Steps), Used: float64(p.Run.Steps), Need: 1},
		{Limit: limitWorked, Unit: vault.Minutes, Of: l.Worked.Minutes(), Used: worked.Minutes()},
	} {
		e.PerRun = true
		if e = effective(e, granted); e.Used+e.Need > e.At || e.Need == 0 && e.Used >= e.At {
			return e.raised(), true
		}
	}
	return Excess{}, false
}

// limit is one that is held against the ledger.
type limit struct {
	Excess
	person int64
}

// ledger are the limits that a run's next request must keep, with what was granted.
func (s *Settings) ledger(p vault.Progress, granted []grant) []limit {
	l := s.Limits
	out := []limit{
		{Excess: Excess{Limit: limitTokens, Unit: vault.Tokens, PerRun: true, Of: float64(l.Tokens)}},
		{Excess: Excess{Limit: limitUSD, Unit: vault.Dollars, PerRun: true, Of: l.USD}},
	}
	out = append(out, l.Day.limits("", 0)...)
	if p.Person.ID != 0 {
		own, ok := s.LimitsOf[p.Person.Name]
		if !ok {
			own = l.Person
		}
		out = append(out, own.limits(p.Person.Name, p.Person.ID)...)
	}
	out = slices.DeleteFunc(out, func(e limit) bool { return e.Of == 0 })
	for i := range out {
		out[i].Excess = effective(out[i].Excess, granted)
	}
	return out
}

func (d DayLimits) limits(name string, person int64) []limit {
	return []limit{
		{Excess{Limit: "usd_per_day", Person: name, Unit: vault.Dollars, Of: d.USD}, person},
		{Excess{Limit: "tokens_per_day", Person: name, Unit: vault.Tokens, Of: float64(d.Tokens)}, person},
		{Excess{Limit: "steps_per_day", Person: name, Unit: vault.Steps, Of: float64(d.Steps)}, person},
		{Excess{Limit: "minutes_per_day", Person: name, Unit: vault.Minutes, Of: d.Worked.Minutes()}, person},
	}
}

// midnight is when the household's day has begun.
func (s *Settings) midnight(now time.Time) time.Time {
	now = now.In(s.Zone)
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, s.Zone)
}

// sentence says what has been reached, for a person.
func (e Excess) sentence() string {
	whose := "Today's limit"
	switch {
	case e.PerRun:
		whose = "My limit for one task"
	case e.Person != "":
		whose = name(e.Person) + "'s limit for today"
	}
	words := fmt.Sprintf("%s is %s; used so far: %s", whose, amount(e.Unit, e.At), amount(e.Unit, e.Used))
	if e.Need > 0 && e.Unit != vault.Steps {
		words += fmt.Sprintf(", and the next step can take up to %s more", amount(e.Unit, e.Need))
	}
	return words + "."
}

// amount writes a number of something.
func amount(unit vault.Measure, n float64) string {
	switch unit {
	case vault.Dollars:
		if n > 0 && n < 0.01 {
			return "$" + strconv.FormatFloat(n, 'f', 4, 64)
		}
		return "$" + strconv.FormatFloat(n, 'f', 2, 64)
	case vault.Minutes:
		return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) + " minutes"
	}
	digits := strconv.FormatFloat(math.Round(n), 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits + " " + string(unit)
}
