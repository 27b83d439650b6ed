package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"hearth/config"
	"hearth/vault"
)

// Exit codes, as docs/contract.md promises them.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitLocked  = 3
	exitDamaged = 4
)

// failure is an error whose sentence for the person is known where it happens.
type failure struct {
	code     int
	sentence string // "" = everything has been said
	cause    error
}

func (f *failure) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %v", f.sentence, f.cause)
	}
	return f.sentence
}

// Unwrap gives the cause.
func (f *failure) Unwrap() error { return f.cause }

// usage is a command line that cannot be understood.
func usage(format string, args ...any) error {
	return &failure{code: exitUsage, sentence: fmt.Sprintf(format, args...)}
}

// failed is something that could not be done.
func failed(format string, args ...any) error {
	return &failure{code: exitFailed, sentence: fmt.Sprintf(format, args...)}
}

// explain is the one place that turns an error into an exit code and one sentence for a person.
func explain(err error) (code int, sentence string) {
	var (
		known   *failure
		locked  *vault.LockedError
		newer   *vault.NewerError
		damaged *vault.DamagedError
		full    *vault.FullError
		wrong   *config.Error
	)
	switch {
	case errors.As(err, &known):
		return known.code, known.sentence
	case errors.As(err, &locked):
		return exitLocked, fmt.Sprintf("The vault in %s is in use by %s: end that first, or use another vault.dir.", locked.Dir, locked.Holder)
	case errors.As(err, &newer):
		return exitDamaged, fmt.Sprintf("%s was written by a newer Hearth (its schema is %d, this program knows up to %d): install the newer program. Nothing was changed.", newer.Path, newer.Have, newer.Can)
	case errors.As(err, &damaged):
		return exitDamaged, damagedSentence(damaged, "Bring back a copy with `hearth restore FILE`; the folder backups beside it may hold one.")
	case errors.As(err, &full):
		return exitFailed, fullSentence(full)
	case errors.As(err, &wrong):
		return exitUsage, wrong.Error()
	case errors.Is(err, vault.ErrNoFTS5):
		return exitUsage, sentenceOf(vault.ErrNoFTS5.Error())
	case errors.Is(err, syscall.ENOSPC):
		return exitFailed, "The disk is full: free some space and try again."
	case errors.Is(err, context.Canceled):
		return exitFailed, "Interrupted."
	}
	return exitFailed, sentenceOf("it did not work: " + err.Error())
}

// sentenceOf makes a sentence of an error's lower-case words.
func sentenceOf(words string) string {
	words = strings.TrimSpace(words)
	first, size := utf8.DecodeRuneInString(words)
	words = string(unicode.ToUpper(first)) + words[size:]
	if !strings.HasSuffix(words, ".") && !strings.HasSuffix(words, "?") && !strings.HasSuffix(words, "!") {
		words += "."
	}
	return words
}
