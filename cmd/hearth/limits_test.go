package main

import (
	"testing"
	"time"

	"hearth/brain"
	"hearth/config"
)

// What is left out is no limit, and an amount of 0 allows nothing.
func TestLimitsOfTheConfiguration(t *testing.T) {
	none, some := 0.0, 0.5
	got := limits(config.Limits{Steps: 20, Minutes: 10, TokensPerRun: 1000, USDPerRun: &some, PerPerson: &config.DayLimits{USDPerDay: &none, MinutesPerDay: 30}})
	want := brain.Limits{
		Steps: 20, Worked: 10 * time.Minute, Tokens: 1000, USD: 0.5, Day: brain.DayLimits{USD: brain.Nothing}, Person: brain.DayLimits{USD: brain.Nothing, Worked: 30 * time.Minute},
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := dayLimits(config.DayLimits{}); got != (brain.DayLimits{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// What a provider's cache serves costs what the file says, else what the provider is known to take.
func TestPriceOfACache(t *testing.T) {
	read := 0.5
	for _, tt := range []struct {
		provider string
		price    *config.Price
		want     brain.Price
	}{
		{"anthropic", &config.Price{Input: 4, Output: 20}, brain.Price{Input: 4, Output: 20, CacheRead: 0.4, CacheWrite: 5}},
		{"openai", &config.Price{Input: 4, Output: 20}, brain.Price{Input: 4, Output: 20, CacheRead: 4, CacheWrite: 4}},
		{"anthropic", &config.Price{Input: 4, Output: 20, CacheRead: &read, CacheWrite: &read}, brain.Price{Input: 4, Output: 20, CacheRead: 0.5, CacheWrite: 0.5}},
	} {
		if got := priceOf(config.Model{Provider: tt.provider, Price: tt.price}); *got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.provider, *got, tt.want)
		}
	}
	if priceOf(config.Model{}) != nil {
		t.Error("a price that nobody wrote is known")
	}
}
