package main

import (
	"time"

	"hearth/brain"
	"hearth/config"
)

// limits is what the configuration says of them, as the brain has it: there 0 is no limit, and no money at all is Nothing.
func limits(l config.Limits) brain.Limits {
	out := brain.Limits{
		Steps: l.Steps, Worked: workLimit(l.Minutes), Tokens: l.TokensPerRun, USD: dollarLimit(l.USDPerRun),
		Day: brain.DayLimits{Steps: l.StepsPerDay, Worked: workLimit(l.MinutesPerDay), Tokens: l.TokensPerDay, USD: dollarLimit(&l.USDPerDay)},
	}
	if l.PerPerson != nil {
		out.Person = dayLimits(*l.PerPerson)
	}
	return out
}

func dayLimits(l config.DayLimits) brain.DayLimits {
	return brain.DayLimits{Steps: l.StepsPerDay, Worked: workLimit(l.MinutesPerDay), Tokens: l.TokensPerDay, USD: dollarLimit(l.USDPerDay)}
}

func workLimit(n int) time.Duration { return time.Duration(n) * time.Minute }

func dollarLimit(usd *float64) float64 {
	switch {
	case usd == nil:
		return 0
	case *usd == 0:
		return brain.Nothing
	}
	return *usd
}

// Of the price of what a model reads: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching.
const (
	anthropicCacheRead  = 0.1
	anthropicCacheWrite = 1.25 // into the cache of five minutes; Hearth asks for no other
)

// priceOf is what a model costs; nil = not known.
func priceOf(m config.Model) *brain.Price {
	if m.Price == nil {
		return nil
	}
	p := brain.Price{Input: m.Price.Input, Output: m.Price.Output, CacheRead: m.Price.Input, CacheWrite: m.Price.Input}
	if m.Provider == "anthropic" {
		p.CacheRead, p.CacheWrite = anthropicCacheRead*p.Input, anthropicCacheWrite*p.Input
	}
	if m.Price.CacheRead != nil {
		p.CacheRead = *m.Price.CacheRead
	}
	if m.Price.CacheWrite != nil {
		p.CacheWrite = *m.Price.CacheWrite
	}
	return &p
}
