package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestALogInTheSameFolderIsNoEdit(t *testing.T) {
	t.Parallel()
	path := write(t, level("info"))
	f := newFolders(path, NewWatcher(&Config{}, nil, WatchOptions{}).opts)
	defer f.close()
	if f.notify == nil {
		t.Skip("no file events here")
	}
	e := &edits{t: t}
	e.put(filepath.Dir(path)+"/log", "x")
	e.put(path, level("debug"))
	concerned := false
	for !concerned {
		select {
		case event := <-f.events():
			concerned = f.concerns(event)
			if concerned != (event.Name == path) {
				t.Errorf("%s concerns the file: %v", event, concerned)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no event for the file")
		}
	}
}

func TestAReplacedFolderIsWatchedAnew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hearth")
	e := &edits{t: t}
	e.must(os.Mkdir(dir, 0o700))
	f := newFolders(dir+"/hearth.yaml", NewWatcher(&Config{}, nil, WatchOptions{}).opts)
	defer f.close()
	if f.notify == nil {
		t.Skip("no file events here")
	}
	e.must(os.Rename(dir, dir+".old"))
	e.must(os.Mkdir(dir, 0o700))
	f.follow()
	e.put(dir+"/hearth.yaml", level("info"))
	for {
		select {
		case event := <-f.events():
			if event.Name == dir+"/hearth.yaml" {
				return
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no event from the new folder")
		}
	}
}

func TestTrailFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &edits{t: t}
	e.must(os.MkdirAll(dir+"/a/b", 0o700))
	e.must(os.Symlink("a", dir+"/x"))
	e.must(os.Symlink(dir+"/x/b/f", dir+"/link"))
	e.must(os.Symlink("loop", dir+"/loop"))
	got := strings.ReplaceAll(strings.Join(trail(dir+"/link"), " "), dir, "")
	if want := "/link /x /a/b/f"; got != want {
		t.Errorf("the trail is %s, want %s", got, want)
	}
	if n := len(trail(dir + "/loop")); n > 40 {
		t.Errorf("a link to itself has a trail of %d", n)
	}
	if got := trail("/nonexistent/f"); len(got) != 1 || got[0] != "/nonexistent/f" {
		t.Errorf("a path that leads nowhere has the trail %v", got)
	}
}
