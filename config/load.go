package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/knadh/koanf/v2"
)

// Options are for tests and unusual machines; the zero value is right otherwise.
type Options struct {
	// Etc is the folder with localtime and timezone, which tell the system's zone; /etc when empty.
	Etc string
}

// source is where a Config came from.
type source struct {
	file     file
	origins  map[string]origin
	proxies  []Secret // passwords of the proxies in the environment
	warnings []string
}

// file is what was read of the config file.
type file struct {
	path  string
	found bool
	mode  fs.FileMode
	text  []byte // nil in a Config
	sum   [sha256.Size]byte
	blank bool // there is nothing but space in it
}

// Load reads the settings: defaults, then the file, then HEARTH_ variables of env, which is a list as os.Environ gives
// it. path is the one from the command line; when it is empty, $HEARTH_CONFIG counts, then DefaultPath. A file that was
// named must exist; without one at the default path the defaults hold: no gateway but the terminal, the model offline.
// The error is an *Error that lists everything wrong at once.
func Load(path string, env []string, opts Options) (*Config, error) {
	vars := environment(env)
	path, named := choosePath(path, vars)
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if !f.found && named {
		return nil, missingFile(path)
	}
	return build(f, vars, opts)
}

func missingFile(path string) error {
	return fileError(path, "there is no such file; `hearth init` writes one")
}

func fileError(path, text string) error {
	return &Error{Problems: []Problem{{File: path, Text: text}}}
}

// DefaultPath is where the file is looked for when nothing names one: $XDG_CONFIG_HOME/hearth/hearth.yaml, or
// ~/.config/hearth/hearth.yaml. It is empty when neither is known.
func DefaultPath(env []string) string { return defaultPath(environment(env)) }

func defaultPath(env map[string]string) string {
	folder := xdg(env, "XDG_CONFIG_HOME", ".config")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "hearth", "hearth.yaml")
}

// xdg is a base folder; the specification ignores a relative one.
func xdg(env map[string]string, name, underHome string) string {
	switch {
	case filepath.IsAbs(env[name]):
		return env[name]
	case env["HOME"] != "":
		return filepath.Join(env["HOME"], underHome)
	}
	return ""
}

// choosePath picks the config file; named reports whether somebody named it.
func choosePath(flag string, env map[string]string) (path string, named bool) {
	switch {
	case flag != "":
		return flag, true
	case env[PathVariable] != "":
		read, err := pathKind{}.read(value{text: env[PathVariable]}, surroundings{home: env["HOME"]})
		if path, ok := read.(string); ok && err == nil {
			return path, true
		}
		return env[PathVariable], true
	}
	return defaultPath(env), false
}

// readFile reads what is there; that nothing is there is no error.
func readFile(path string) (file, error) {
	out := file{path: path}
	if path == "" {
		return out, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fileError(path, "cannot be read: "+reason(err))
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	if err != nil {
		return out, fileError(path, "cannot be read: "+reason(err))
	}
	if info.IsDir() {
		return out, fileError(path, "is a folder; name the file in it")
	}
	out.text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return out, fileError(path, "cannot be read: "+reason(err))
	}
	out.found, out.mode, out.sum = true, info.Mode().Perm(), sha256.Sum256(out.text)
	out.blank = len(bytes.TrimSpace(out.text)) == 0
	return out, nil
}

// reason is the system's word for what went wrong, without the path that is told anyway.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// layer is a koanf provider of values that have been read against the table.
type layer map[string]any

func (l layer) Read() (map[string]any, error) { return l, nil }

// ReadBytes is part of koanf's interface; a layer has no bytes.
func (l layer) ReadBytes() ([]byte, error) {
	return nil, errors.New("read layer: it holds values, not bytes")
}

// build makes a Config out of what a file holds.
func build(f file, env map[string]string, opts Options) (*Config, error) {
	folder, err := filepath.Abs(filepath.Dir(f.path))
	if err != nil {
		return nil, fileError(f.path, "cannot tell its folder: "+reason(err))
	}
	r := newReader(f.path, surroundings{home: env["HOME"], data: xdg(env, "XDG_DATA_HOME", filepath.Join(".local", "share")), dir: folder}, env)
	fromFile, readable := r.readText(f.text)
	fromEnv := r.overrides(fromFile)

	var c Config
	if err := merge(&c, r, fromFile, fromEnv); err != nil {
		return nil, fmt.Errorf("merge settings: %w", err)
	}
	f.text = nil // a Config that is printed must not show the file
	c.source = source{file: f, origins: r.origins, proxies: proxySecrets(env)}
	sure := true
	if c.Timezone == "" {
		if opts.Etc == "" {
			opts.Etc = "/etc"
		}
		c.Timezone, sure = systemZone(env, opts.Etc)
	}
	c.complete()
	if readable {
		c.check(r)
	}
	if len(r.problems) > 0 {
		return nil, newError(r.problems, NewRedactor().also(r.secrets...).also(reveal(c.source.proxies)...))
	}
	c.source.warnings = c.warnings(r.plain, sure)
	return &c, nil
}

// readText reads the file's layer; ok is false when the text is not YAML, so that nothing can be said about its keys.
func (r *reader) readText(text []byte) (values map[string]any, ok bool) {
	root, err := parse(text, func(m *mistake) { r.report(m.line, "", m.text, "") })
	var m *mistake
	if errors.As(err, &m) {
		r.report(m.line, "", m.text, "")
		return nil, false
	}
	read, _ := r.read(schema, root, "")
	values, _ = read.(map[string]any)
	return values, true
}

// merge lays the layers over each other and decodes the result. The names of models decide which defaults there are, so
// what was given is merged before them.
func merge(c *Config, r *reader, fromFile, fromEnv map[string]any) error {
	const delimiter = "\x00" // never met: names are free to hold dots
	given := koanf.New(delimiter)
	for _, values := range []map[string]any{fromFile, fromEnv} {
		if err := given.Load(layer(values), nil); err != nil {
			return err
		}
	}
	named := map[string][]string{"brain.models": slices.Sorted(maps.Keys(dig(given.Raw(), []string{"brain", "models"})))}
	all := koanf.New(delimiter)
	if err := all.Load(layer(r.presets(schema, named)), nil); err != nil {
		return err
	}
	if err := all.Merge(given); err != nil {
		return err
	}
	return all.Unmarshal("", c)
}

// File is the path of the config file, and whether there was one.
func (c *Config) File() (path string, found bool) { return c.source.file.path, c.source.file.found }

// IsSet reports whether the file or the environment sets a key, such as brain.model, or anything in a section.
func (c *Config) IsSet(key string) bool {
	_, ok := c.source.origins[key]
	return ok
}
