package main

import (
	"context"
	"fmt"
)

// cmdCheck validates the configuration. Problems are the error, all of them; warnings go to stderr and fail nothing.
func cmdCheck(_ context.Context, in *invocation) error {
	cfg, err := in.load()
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings() {
		fmt.Fprintln(in.err, in.redact(sentenceOf(w)))
	}
	path, found := cfg.File()
	if !found {
		return say(in.out, "There is no configuration at %s, so the defaults hold: they are fine.", path)
	}
	return say(in.out, "%s is fine.", path)
}
