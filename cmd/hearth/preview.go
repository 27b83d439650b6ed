package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hearth/config"
	"hearth/scheduler/when"
)

// previewRow is one instant of a time phrase.
type previewRow struct {
	At    stamp  `json:"at"`
	Words string `json:"words"`
}

// cmdJobsPreview tells what a time phrase means. It needs no vault, and no config when a zone is given.
func cmdJobsPreview(_ context.Context, in *invocation) error {
	count, err := in.count("n", 5)
	if err != nil {
		return err
	}
	zone, err := in.previewZone()
	if err != nil {
		return err
	}
	clock, err := newClock(in.lookup(clockVariable))
	if err != nil {
		return err
	}
	from := clock.now().In(zone)
	if in.has("from") {
		at, ok := when.ParseInstant(in.flags["from"], zone)
		if !ok {
			return usage("--from takes an instant like 2026-12-04T09:00:00Z, not %q.", in.flags["from"])
		}
		from = at.In(zone)
	}
	words := strings.Join(in.words, " ")
	res, err := when.Parse(words, from)
	if err != nil {
		return timeTrouble(err)
	}
	found := []previewRow{{At: stamp{res.At}, Words: when.Format(res.At)}}
	for at := res.At; res.Spec != "" && len(found) < count; {
		next, ok, err := when.Next(res.Spec, zone, at)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		found = append(found, previewRow{At: stamp{next}, Words: when.Format(next)})
		at = next
	}
	if in.has("json") {
		return in.printJSON(found)
	}
	if res.Words != "" {
		fmt.Fprintln(in.out, res.Words)
	}
	for _, row := range found {
		fmt.Fprintln(in.out, row.Words)
	}
	if res.Note != "" {
		fmt.Fprintln(in.out, res.Note)
	}
	return nil
}

// previewZone is the one given, else the household's. A configuration with mistakes does not stand in the way of a look
// at the calendar.
func (in *invocation) previewZone() (*time.Location, error) {
	name := in.flags["zone"]
	if name == "" {
		cfg, err := config.Load(in.flags["config"], in.env, config.Options{})
		if err != nil {
			return nil, fmt.Errorf("find the household's zone: %w", err)
		}
		return cfg.Location(), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, usage("%q is not a time zone: write it as in Europe/Lisbon.", name)
	}
	return zone, nil
}
