package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"hearth/config"
	"hearth/scheduler/when"
)

// save writes what was settled, if anything was. What `hearth check` would refuse is never written.
func (s *setup) save() error {
	clock, err := newClock(s.lookup(clockVariable))
	if err != nil {
		return err
	}
	text := s.before
	if s.fresh() {
		text = []byte("# Hearth's settings, begun by `hearth init` on " + dateOf(when.Format(clock.now().In(s.cfg.Location()))) + ". Change what you like: `hearth check` finds\n" +
			"# mistakes, a running Hearth takes up what is saved, and another `hearth init` keeps what you wrote.\n" +
			"# docs/hearth.example.yaml explains every other key.\n")
	}
	text, err = config.Edit(text, s.changes...)
	if errors.Is(err, config.ErrNoEdit) {
		return s.byHand()
	}
	if err != nil {
		return err
	}
	cfg, err := config.Read(s.path, text, s.env)
	if err != nil {
		return err
	}
	s.cfg = cfg
	s.redact = config.NewRedactor(cfg).Redact
	if bytes.Equal(text, s.before) {
		return s.tighten()
	}
	aside, err := replaceFile(s.path, s.before, text)
	if err != nil {
		return err
	}
	words := "\nWritten to " + s.path + ", which only you can read."
	if aside != "" {
		words += " What it was before is in " + aside + "."
	}
	return say(s.out, "%s", words)
}

// dateOf leaves the time of day and the zone away.
func dateOf(instant string) string {
	date, _, _ := strings.Cut(instant, ",")
	return date
}

// byHand tells what to write where this program does not dare to, without showing a token.
func (s *setup) byHand() error {
	var b strings.Builder
	for _, c := range s.changes {
		value := c.Value
		if c.Key[len(c.Key)-1] == "token" && !strings.HasPrefix(value, "${") {
			value = "(the token)"
		}
		fmt.Fprintf(&b, "\n  %s: %s", strings.Join(c.Key, "."), clip(value, 200))
	}
	return failed("%s is written in a way that this program does not dare to change, so it is as it was. Please write this into it yourself:%s", s.path, b.String())
}

// tighten leaves a file as it is, and lets nobody else read it.
func (s *setup) tighten() error {
	if s.before == nil {
		return say(s.out, "\nNothing was settled that needs a file: the defaults hold.")
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", s.path, err)
	}
	if info.Mode().Perm() == 0o600 {
		return say(s.out, "\n%s is as it was.", s.path)
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		return failed("%s can be read by others, and that cannot be changed here: %s.", s.path, reasonOf(err))
	}
	return say(s.out, "\n%s says what it said, and only you can read it now.", s.path)
}

// replaceFile puts a text in the place of a file, whole or not at all, with mode 0600 and the owner the file had. What the
// file held is kept beside it; aside is where. A file that is no longer what it was when it was read is left alone.
func replaceFile(path string, before, text []byte) (aside string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one, and what it points to is changed
	} else if _, lerr := os.Lstat(path); lerr == nil {
		return "", failed("%s is a link that leads nowhere: take it away, or name another file with --config.", path)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", failed("The folder %s cannot be made: %s.", dir, reasonOf(err))
	}
	now, err := readSome(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		now = nil
	case err != nil:
		return "", failed("%s cannot be read any more: %s.", path, reasonOf(err))
	}
	if !bytes.Equal(now, before) || (now == nil) != (before == nil) {
		return "", failed("%s was changed by somebody else meanwhile, so it is left as it is: run `hearth init` again.", path)
	}
	if before != nil {
		if aside, err = keepAside(path, before); err != nil {
			return "", cannotWrite(path, err)
		}
	}
	if err := writeWhole(path, text); err != nil {
		if aside != "" {
			err = errors.Join(err, os.Remove(aside)) // the file itself still says the same
		}
		return "", cannotWrite(path, err)
	}
	return aside, nil
}

func cannotWrite(path string, err error) error {
	return &failure{code: exitFailed, cause: err, sentence: fmt.Sprintf("%s cannot be written: %s. It is as it was.", path, reasonOf(err))}
}

// keepAside writes what a file holds beside it, under the first free name: hearth.yaml.old, hearth.yaml.old2, …
func keepAside(path string, text []byte) (string, error) {
	for n := 1; ; n++ {
		aside := path + ".old"
		if n > 1 {
			aside += fmt.Sprint(n)
		}
		f, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return aside, errors.Join(fill(f, text, path), f.Close())
	}
}

// writeWhole writes a file under another name, makes sure that it is on the disk, and gives it its own.
func writeWhole(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".hearth-init-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(fill(f, text, path), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil //nolint:nilerr // it is written; a folder that cannot be opened cannot be flushed either
	}
	_ = dir.Sync() // not every file system can
	return dir.Close()
}

// fill writes a text down to the disk. The file then belongs to whom the one at like belongs to: somebody who runs init
// with sudo must not take the file from the service that reads it.
func fill(f *os.File, text []byte, like string) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	if info, err := os.Stat(like); err == nil {
		mine, ok := info.Sys().(*syscall.Stat_t)
		if ok && int(mine.Uid) != os.Geteuid() {
			if err := f.Chown(int(mine.Uid), int(mine.Gid)); err != nil {
				return err
			}
		}
	}
	return f.Sync()
}
