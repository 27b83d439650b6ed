package config

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// folders watches the folders in which an edit of one file can show: its own, and those of the links that lead to it.
type folders struct {
	path   string
	log    *slog.Logger
	notify *fsnotify.Watcher // nil: this system tells no events
	names  map[string]bool   // the file and the links
	watch  map[string]os.FileInfo
}

func newFolders(path string, opts WatchOptions) *folders {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	f := &folders{path: path, log: opts.Log, watch: map[string]os.FileInfo{}}
	if opts.noNotify {
		return f
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		f.log.Warn("no file events, so edits of the config are noticed a little later", "error", err)
		return f
	}
	f.notify = notify
	f.follow()
	return f
}

func (f *folders) close() {
	if f.notify == nil {
		return
	}
	if err := f.notify.Close(); err != nil {
		f.log.Debug("close config watcher", "error", err)
	}
}

// events never yields when there are none to be had.
func (f *folders) events() <-chan fsnotify.Event {
	if f.notify == nil {
		return nil
	}
	return f.notify.Events
}

func (f *folders) errors() <-chan error {
	if f.notify == nil {
		return nil
	}
	return f.notify.Errors
}

// concerns reports whether an event may mean an edit. A log file that grows in the same folder does not.
func (f *folders) concerns(event fsnotify.Event) bool {
	_, folder := f.watch[event.Name]
	return event.Op != fsnotify.Chmod && (f.names[event.Name] || folder)
}

// follow watches where the links lead now, and watches a folder anew when another stands in its place.
func (f *folders) follow() {
	if f.notify == nil {
		return
	}
	f.names = map[string]bool{}
	wanted := map[string]bool{}
	for _, name := range trail(f.path) {
		f.names[name] = true
		wanted[filepath.Dir(name)] = true
	}
	for dir, was := range f.watch {
		now, err := os.Stat(dir)
		if wanted[dir] && err == nil && os.SameFile(was, now) {
			continue
		}
		delete(f.watch, dir)
		if err := f.notify.Remove(dir); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
			f.log.Debug("stop watching folder", "folder", dir, "error", err)
		}
	}
	for dir := range wanted {
		if _, watched := f.watch[dir]; watched {
			continue
		}
		info, err := os.Stat(dir)
		if err == nil {
			err = f.notify.Add(dir)
		}
		switch {
		case err == nil:
			f.watch[dir] = info
		case !errors.Is(err, fs.ErrNotExist): // one that is not there yet may come
			f.log.Debug("watch folder", "folder", dir, "error", err)
		}
	}
}

// trail lists the links on the way to a file, and the file itself where they lead.
func trail(path string) []string {
	const mostLinks = 40 // as the kernel
	var out []string
	for range mostLinks {
		link, rest := firstLink(path)
		target, err := os.Readlink(link)
		if link == "" || err != nil {
			return append(out, path)
		}
		out = append(out, link)
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		path = filepath.Join(target, rest)
	}
	return out
}

// firstLink finds the first part of a path that is a link, and what follows it.
func firstLink(path string) (link, rest string) {
	for at := 1; at <= len(path); at++ {
		if at < len(path) && path[at] != filepath.Separator {
			continue
		}
		info, err := os.Lstat(path[:at])
		if err != nil {
			return "", ""
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return path[:at], strings.TrimPrefix(path[at:], string(filepath.Separator))
		}
	}
	return "", ""
}
