package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// level is a file that is told apart by one setting.
func level(name string) string { return "log: {level: " + name + "}\n" }

// edits is a watched file.
type edits struct {
	t    *testing.T
	path string
	news chan string // the level that was taken up, or the error
	w    *Watcher
}

// byEvents never polls, byPolling gets no events: each must do alone.
var (
	byEvents  = WatchOptions{poll: time.Hour, settle: 20 * time.Millisecond}
	byPolling = WatchOptions{poll: 10 * time.Millisecond, settle: 20 * time.Millisecond, noNotify: true, absence: 1000}
	byBoth    = WatchOptions{poll: 50 * time.Millisecond, settle: 20 * time.Millisecond, absence: 1000}
)

// watched loads and watches a file until the test ends.
func watched(t *testing.T, path string, opts WatchOptions) *edits {
	t.Helper()
	c, err := Load(path, home(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &edits{t: t, path: path, news: make(chan string, 100), w: NewWatcher(c, home(), opts)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- e.w.Run(ctx, func(c *Config, err error) {
			if err != nil {
				e.news <- strings.ReplaceAll(err.Error(), path, "FILE")
				return
			}
			e.news <- c.Log.Level
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	return e
}

// next waits for news. The five seconds are the contract's.
func (e *edits) next(want string) {
	e.t.Helper()
	select {
	case got := <-e.news:
		if !strings.Contains(got, want) {
			e.t.Fatalf("told %q, want %q", got, want)
		}
	case <-time.After(5 * time.Second):
		e.t.Fatalf("not told within 5 s: %q", want)
	}
}

func (e *edits) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *edits) put(path, text string) {
	e.t.Helper()
	e.must(os.WriteFile(path, []byte(text), 0o600))
}

// The ways in which editors and tools save.
var saves = []struct {
	name string
	save func(e *edits, text string)
}{
	{"in place", func(e *edits, text string) { e.put(e.path, text) }},
	{"rename over", func(e *edits, text string) {
		e.put(filepath.Dir(e.path)+"/.hearth.yaml.swp", text)
		e.must(os.Rename(filepath.Dir(e.path)+"/.hearth.yaml.swp", e.path))
	}},
	{"move away and create", func(e *edits, text string) {
		e.must(os.Rename(e.path, e.path+"~"))
		e.put(e.path, text)
	}},
	{"delete and create", func(e *edits, text string) {
		e.must(os.Remove(e.path))
		e.put(e.path, text)
	}},
	{"symlink swap", func(e *edits, text string) {
		dir, err := os.MkdirTemp(filepath.Dir(e.path), "real")
		e.must(err)
		e.put(dir+"/target.yaml", text)
		e.must(os.Symlink(filepath.Base(dir)+"/target.yaml", e.path+".new"))
		e.must(os.Rename(e.path+".new", e.path))
	}},
	{"target of the symlink", func(e *edits, text string) {
		target, err := filepath.EvalSymlinks(e.path)
		e.must(err)
		e.put(target+".new", text)
		e.must(os.Rename(target+".new", target))
	}},
}

func TestCFG05EveryWayToSaveIsTakenUp(t *testing.T) {
	t.Parallel()
	for how, opts := range map[string]WatchOptions{"by events": byEvents, "by polling": byPolling, "as usual": {}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			e := watched(t, write(t, level("info")), opts)
			levels := []string{"debug", "warn", "error", "info"}
			for i := range 2 * len(saves) {
				s := saves[i%len(saves)]
				want := levels[i%len(levels)]
				s.save(e, level(want)+fmt.Sprintf("# %s %d\n", s.name, i))
				select {
				case got := <-e.news:
					if got != want {
						t.Fatalf("save %d, %s: told %q, want %q", i, s.name, got, want)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("save %d, %s: not taken up within 5 s", i, s.name)
				}
			}
		})
	}
}

// As a cluster's config maps do it: the file is a link through a folder that is itself a link, and that one is swapped.
func TestCFG05ALinkedFolderIsSwapped(t *testing.T) {
	t.Parallel()
	for how, opts := range map[string]WatchOptions{"by events": byEvents, "by polling": byPolling} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := &edits{t: t}
			version := func(n int, name string) {
				real := filepath.Join(dir, fmt.Sprintf("..v%d", n))
				e.must(os.Mkdir(real, 0o700))
				e.put(filepath.Join(real, "hearth.yaml"), level(name))
				e.must(os.Symlink(filepath.Base(real), filepath.Join(dir, "..new")))
				e.must(os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")))
			}
			version(1, "info")
			e.must(os.Symlink("..data/hearth.yaml", filepath.Join(dir, "hearth.yaml")))
			e = watched(t, filepath.Join(dir, "hearth.yaml"), opts)
			for n, name := range []string{"debug", "warn", "error"} {
				version(n+2, name)
				e.next(name)
			}
		})
	}
}

func TestCFG05TheWholeFolderIsReplaced(t *testing.T) {
	t.Parallel()
	for how, opts := range map[string]WatchOptions{"both": byBoth, "by polling": byPolling} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "hearth")
			e := &edits{t: t}
			e.must(os.Mkdir(dir, 0o700))
			e.put(dir+"/hearth.yaml", level("info"))
			e = watched(t, dir+"/hearth.yaml", opts)
			for i, name := range []string{"debug", "warn"} {
				e.must(os.Rename(dir, fmt.Sprintf("%s.old%d", dir, i)))
				e.must(os.Mkdir(dir, 0o700))
				e.put(e.path, level(name))
				e.next(name)
				e.put(e.path, level("error")) // the new folder is watched like the old one
				e.next("error")
			}
		})
	}
}

func TestCFG05AFileThatAppearsLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := Load("", []string{"HOME=" + dir, "TZ=UTC"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	news := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_ = Watch(ctx, c, []string{"HOME=" + dir, "TZ=UTC"}, byBoth, func(c *Config, err error) { news <- fmt.Sprint(c.Log.Level, err) })
	}()
	e := &edits{t: t, news: news}
	path, _ := c.File()
	e.must(os.MkdirAll(filepath.Dir(path), 0o700))
	e.put(path, level("debug"))
	e.next("debug<nil>")
}

func TestCFG08ABadEditIsToldOnceAndMended(t *testing.T) {
	t.Parallel()
	for how, opts := range map[string]WatchOptions{"by events": byEvents, "by polling": byPolling} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			e := watched(t, write(t, level("info")), opts)
			e.put(e.path, level("loud"))
			e.next(`FILE:1: log.level: "loud" is not understood`)
			e.put(e.path, level("loud"))                 // saved again as it is
			e.put(e.path, level("loud")+"# a comment\n") // saved with the same mistake
			e.put(e.path, level("info"))                 // what came before all that
			e.next("info")
			e.put(e.path, level("info")) // no change, no news
			e.put(e.path, level("debug"))
			e.next("debug")
		})
	}
}

// Each bad version is seen before the next is written, so that none can hide behind the settling.
func TestCFG08TheSameMistakeIsToldOnce(t *testing.T) {
	t.Parallel()
	path := write(t, level("info"))
	c, err := Load(path, home(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatcher(c, home(), WatchOptions{})
	e := &edits{t: t}
	for i, step := range []struct {
		text string
		news bool
		bad  bool
	}{
		{level("info"), false, false},
		{level("loud"), true, true},
		{level("loud"), false, false},
		{level("loud") + "# a comment\n", false, true},
		{level("shrill"), true, true},
		{level("loud"), true, true},
		{level("info"), true, false},
		{level("info"), false, false},
		{level("loud"), true, true},
	} {
		e.put(path, step.text)
		c, news, err := w.look()
		if news != step.news || (err != nil) != step.bad || (c != nil) != (news && err == nil) {
			t.Errorf("step %d, %q: %v, news %v, %v", i, step.text, c, news, err)
		}
	}
}

func TestCFG08AMissingOrEmptyFileChangesNothing(t *testing.T) {
	t.Parallel()
	path := write(t, level("warn"))
	c, err := Load(path, home(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatcher(c, home(), WatchOptions{})
	e := &edits{t: t}
	look := func(what, want string) {
		t.Helper()
		c, news, err := w.look()
		got := ""
		switch {
		case news && err != nil:
			got = strings.ReplaceAll(err.Error(), path, "FILE")
		case news:
			got = c.Log.Level
		}
		if got != want {
			t.Errorf("%s: told %q, want %q", what, got, want)
		}
	}
	const gone = "FILE: the file is gone; put it back, or restart to go on without it"
	e.put(path, "")
	look("empty for a moment", "")
	e.put(path, level("warn"))
	look("full again", "")
	e.must(os.Remove(path))
	look("gone for a moment", "")
	look("gone for good", gone)
	look("still gone", "")
	e.put(path, " \n\n")
	look("empty for a moment", "")
	look("empty for good", "FILE: the file is empty; write the settings back, or restart to go on without them")
	e.put(path, level("warn"))
	look("back as it was", "warn")
	e.must(os.Remove(path))
	e.must(os.Mkdir(path, 0o700))
	look("a folder for a moment", "")
	look("a folder for good", "FILE: is a folder; name the file in it")
}

func TestCFG08AFileThatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	e := watched(t, write(t, level("info")), WatchOptions{poll: 10 * time.Millisecond, settle: 20 * time.Millisecond, noNotify: true})
	e.must(os.Remove(e.path))
	e.next("the file is gone")
	e.put(e.path, level("info"))
	e.next("info")
}

func TestReloadIsForSIGHUP(t *testing.T) {
	t.Parallel()
	e := watched(t, write(t, level("info")), WatchOptions{poll: 10 * time.Millisecond, settle: time.Minute, noNotify: true}) // Run itself is too slow
	if c, err := e.w.Reload(); err != nil || c.Log.Level != "info" {
		t.Errorf("unchanged: %v, %v", c, err)
	}
	e.put(e.path, level("debug"))
	if c, err := e.w.Reload(); err != nil || c.Log.Level != "debug" {
		t.Errorf("a good edit: %v, %v", c, err)
	}
	if _, news, _ := e.w.look(); news {
		t.Error("the good edit that Reload took up is told by Run too")
	}
	e.put(e.path, level("loud"))
	for range 2 { // whoever asks is answered, again too
		if c, err := e.w.Reload(); err == nil || c != nil {
			t.Errorf("a bad edit: %v, %v", c, err)
		}
	}
	if _, news, _ := e.w.look(); news {
		t.Error("the edit that Reload answered for is told by Run too")
	}
	e.must(os.Remove(e.path))
	if c, err := e.w.Reload(); err == nil || c != nil {
		t.Errorf("a missing file: %v, %v", c, err)
	}
}
