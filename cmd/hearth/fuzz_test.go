package main

import (
	"archive/tar"
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever is typed, it is a command, or a sentence about usage.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "jobs\x00add\x00-x", "memory\x00search\x00--\x00--json", "-m\x00", "--config=\x00run", "chat\x00-m\x00hi\x00--as", "--help\x00jobs", "whatsapp", "help\x00help", "-\x00--\x00-", "jobs\x00\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		words, flags, rest, err := parse(args, allFlags(), true)
		if err != nil {
			if code, sentence := explain(err); code != exitUsage || sentence == "" {
				t.Fatalf("%q: %d %q", args, code, sentence)
			}
			return
		}
		for name := range flags {
			if flagTable[name].about == "" {
				t.Fatalf("%q gives the flag %q", args, name)
			}
		}
		if words = append(words, rest...); len(words) == 0 {
			return
		}
		found, used, err := find(words, false)
		if err != nil {
			if code, _ := explain(err); code != exitUsage {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		if used < 1 || used > len(words) || found.run == nil {
			t.Fatalf("%q: %s, %d words used", args, found.name, used)
		}
	})
}

func FuzzReadQuery(f *testing.F) {
	for _, seed := range []string{"", "id=1&person=Ana&all=true&limit=5&text=a%20b", "id=-1", "limit=99999999999999999999", "id=1;limit=2", "%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		q, err := readQuery(v)
		if err != nil {
			return
		}
		if back, err := readQuery(q.values()); err != nil || back != q {
			t.Fatalf("%+v comes back as %+v, %v", q, back, err)
		}
	})
}

// archive makes a tar with one file of a name.
func archive(name string, kind byte, body string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Size: int64(len(body)), Mode: 0o777, Linkname: "/etc/passwd"})
	_, _ = w.Write([]byte(body))
	_ = w.Close()
	return b.Bytes()
}

// Whatever calls itself a backup, nothing of it lands beside the folder it is unpacked into, and nothing but files does.
func FuzzUnpack(f *testing.F) {
	for _, seed := range [][]byte{
		nil, []byte("SQLite format 3\x00rest"), archive("vault.db", tar.TypeReg, "x"), archive("media/../../evil", tar.TypeReg, "x"), archive("/evil", tar.TypeReg, "x"),
		archive("media/link", tar.TypeSymlink, ""), archive("media/a/b", tar.TypeReg, "x"), archive("vault.db-wal", tar.TypeReg, "x"), archive("media/", tar.TypeDir, ""), archive("media/..", tar.TypeReg, "x"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		outer := t.TempDir()
		path, dir := filepath.Join(outer, "backup"), filepath.Join(outer, "into")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := unpack(path, dir)
		entries, rerr := os.ReadDir(outer)
		if rerr != nil || len(entries) != 2 {
			t.Fatalf("beside the folder there is %v, %v", entries, rerr)
		}
		if err == nil {
			if _, serr := os.Stat(filepath.Join(dir, "vault.db")); serr != nil {
				t.Fatalf("taken for a backup without a vault: %v", serr)
			}
		}
		werr := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !e.Type().IsRegular() {
				t.Fatalf("%s is a %v", path, e.Type())
			}
			return err
		})
		if werr != nil {
			t.Fatal(werr)
		}
	})
}

func FuzzReadClock(f *testing.F) {
	for _, seed := range []string{"", "2026-03-10T10:00:00Z\n", "2026-03-10T10:00:00.123+14:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "now"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		path := filepath.Join(t.TempDir(), "clock")
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := newClock(path)
		if err != nil {
			if code, _ := explain(err); code != exitUsage {
				t.Fatal(err)
			}
			return
		}
		if _, err := time.Parse(time.RFC3339, strings.TrimSpace(body)); err != nil {
			t.Fatalf("%q is taken for an instant", body)
		}
		_ = c.now()
	})
}
