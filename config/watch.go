package config

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"
)

// WatchOptions tune a Watcher; the zero value is right outside tests.
type WatchOptions struct {
	Options
	Log *slog.Logger // nil: silent

	poll     time.Duration // how often the file is looked at without being told
	settle   time.Duration // how long nothing must happen before the file is read
	absence  int           // looks in a row that find no file, or an empty one, before it is told
	noNotify bool          // as on systems without file events
}

const (
	defaultPoll   = 2 * time.Second
	defaultSettle = 200 * time.Millisecond
	// patience bounds how long a steady stream of writes can put off reading, in times of settle.
	patience = 5
	// An editor may take its time between deleting and writing again; two looks are at least one poll apart.
	defaultAbsence = 2
)

// Watcher takes up edits of the config file. It watches the folder, not the file, since most editors put a new file in
// the old one's place; it follows links; and it looks every two seconds all the same, for what tells no events.
type Watcher struct {
	path string
	env  map[string]string
	opts WatchOptions

	mu     sync.Mutex
	last   string      // the state of the file that was last judged, see state
	said   string      // the text of the last error, until a good edit
	absent int         // looks in a row that found nothing to read
	stat   os.FileInfo // at the last look, nil when there was no file
}

// NewWatcher watches the file that current was loaded from, with the same environment, which never changes.
func NewWatcher(current *Config, env []string, opts WatchOptions) *Watcher {
	if opts.poll == 0 {
		opts.poll = defaultPoll
	}
	if opts.settle == 0 {
		opts.settle = defaultSettle
	}
	if opts.absence == 0 {
		opts.absence = defaultAbsence
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	f := current.source.file
	last, _ := state(f, nil)
	return &Watcher{path: f.path, env: environment(env), opts: opts, last: last}
}

// Reload reads the file now, as for SIGHUP, whether or not it changed. The settings in use stay as they are when there is
// an error. Run does not report the same edit again.
func (w *Watcher) Reload() (*Config, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := readFile(w.path)
	w.last, err = state(f, err)
	w.said, w.absent = "", 0
	var c *Config
	if err == nil {
		c, err = build(f, w.env, w.opts.Options)
	}
	if err != nil {
		w.said = err.Error()
	}
	return c, err
}

// state is a word for what was read, equal when nothing changed. A missing or empty file is an error here: while the
// program runs it is an accident or half of a save, not the wish to have only defaults.
func state(f file, err error) (string, error) {
	switch {
	case err != nil:
		return err.Error(), err
	case !f.found:
		return "gone", fileError(f.path, "the file is gone; put it back, or restart to go on without it")
	case f.blank:
		return "empty", fileError(f.path, "the file is empty; write the settings back, or restart to go on without them")
	}
	return string(f.sum[:]), nil
}

// Watch is Run of a new Watcher, for callers that need no Reload.
func Watch(ctx context.Context, current *Config, env []string, opts WatchOptions, changed func(*Config, error)) error {
	return NewWatcher(current, env, opts).Run(ctx, changed)
}

// Run calls changed for every edit, one call at a time, until ctx ends, and returns nil then. A good edit comes as a new
// Config. A bad one comes as an *Error, once, however often it is saved; the old settings are meant to go on.
func (w *Watcher) Run(ctx context.Context, changed func(*Config, error)) error {
	if w.path == "" { // no home, no file named: nothing can appear
		<-ctx.Done()
		return nil
	}
	folders := newFolders(w.path, w.opts)
	defer folders.close()
	tick := time.NewTicker(w.opts.poll)
	defer tick.Stop()
	settled := time.NewTimer(0) // the file may have changed between being loaded and now
	defer settled.Stop()
	var latest time.Time // when to read however much goes on; zero while nothing does
	arm := func() {
		if latest.IsZero() {
			latest = time.Now().Add(patience * w.opts.settle)
		}
		settled.Reset(min(w.opts.settle, max(0, time.Until(latest))))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-folders.events():
			if folders.concerns(event) {
				arm()
			}
		case err := <-folders.errors():
			w.opts.Log.Debug("watch config", "error", err)
			arm() // events may have been lost
		case <-tick.C:
			folders.follow()
			if latest.IsZero() && w.moved() {
				arm()
			}
		case <-settled.C:
			latest = time.Time{}
			folders.follow()
			if c, news, err := w.look(); news {
				changed(c, err)
			}
		}
	}
}

// moved reports whether the file is another than at the last look, by what costs next to nothing. While it is missing, and
// that has not been told, each look counts.
func (w *Watcher) moved() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, err := os.Stat(w.path)
	switch {
	case w.absent > 0 && w.absent < w.opts.absence:
		return true
	case err != nil || w.stat == nil:
		return (err == nil) != (w.stat != nil)
	}
	return !os.SameFile(now, w.stat) || now.Size() != w.stat.Size() || !now.ModTime().Equal(w.stat.ModTime())
}

// look reads the file, and reports whether there is news: a Config or an error.
func (w *Watcher) look() (c *Config, news bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stat, _ = os.Stat(w.path) // nil without a file
	f, err := readFile(w.path)
	now, err := state(f, err)
	if now == w.last {
		w.absent = 0
		return nil, false, nil
	}
	if err != nil {
		if w.absent++; w.absent < w.opts.absence {
			return nil, false, nil
		}
	}
	w.last, w.absent = now, 0
	if err == nil {
		c, err = build(f, w.env, w.opts.Options)
	}
	if err != nil {
		news = err.Error() != w.said
		w.said = err.Error()
		return nil, news, err
	}
	w.said = ""
	return c, true, nil
}
