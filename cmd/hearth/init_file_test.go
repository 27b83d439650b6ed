package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func reads(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; not %q", filepath.Base(path), got, err, want)
	}
}

func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hearth.yaml")
	only := func(names ...string) {
		t.Helper()
		found, err := os.ReadDir(dir)
		if err != nil || len(found) != len(names) {
			t.Errorf("there are %v, %v; not %v", found, err, names)
		}
	}
	for n, want := range []string{"", ".old", ".old2"} {
		var before []byte
		if n > 0 {
			before = []byte{byte('a' + n - 1)}
		}
		aside, err := replaceFile(path, before, []byte{byte('a' + n)})
		if err != nil || strings.TrimPrefix(aside, path) != want {
			t.Fatalf("kept aside as %q, %v", aside, err)
		}
	}
	reads(t, path, "c")
	reads(t, path+".old", "a")
	reads(t, path+".old2", "b")

	// Somebody else was faster: with an edit, with a new file, by taking it away.
	mustWrite(t, path, "theirs")
	if _, err := replaceFile(path, []byte("c"), []byte("d")); err == nil || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("an edit is lost: %v", err)
	}
	if _, err := replaceFile(path, nil, []byte("d")); err == nil {
		t.Error("a new file is lost")
	}
	reads(t, path, "theirs")
	if _, err := replaceFile(filepath.Join(dir, "gone"), []byte("x"), []byte("y")); err == nil {
		t.Error("a file that was taken away is back")
	}
	only("hearth.yaml", "hearth.yaml.old", "hearth.yaml.old2")

	// The old one cannot be kept, so there is no new one: the name of the copy would be too long.
	long := filepath.Join(dir, strings.Repeat("n", 254))
	mustWrite(t, long, "precious")
	if _, err := replaceFile(long, []byte("precious"), []byte("new")); err == nil || !strings.Contains(err.Error(), "It is as it was") {
		t.Errorf("replaced without a copy: %v", err)
	}
	reads(t, long, "precious")
	if err := os.Remove(long); err != nil {
		t.Fatal(err)
	}

	// The new one cannot take the place, so the copy is of no use.
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(folder, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	only("hearth.yaml", "hearth.yaml.old", "hearth.yaml.old2", "folder")

	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	if _, err := replaceFile(link, nil, []byte("x")); err == nil || !strings.Contains(err.Error(), "link that leads nowhere") {
		t.Errorf("a link that leads nowhere: %v", err)
	}
}

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		memory int64
		want   string
	}{
		{0, ""}, {900e6, ""}, {2e9, "qwen3:0.6b"}, {3.9e9, "qwen3:1.7b"}, {8.2e9, "qwen3:4b"}, {16.5e9, "qwen3:8b"}, {33e9, "qwen3:14b"}, {66e9, "qwen3:30b"},
	} {
		got, ok := fitting(c.memory)
		if got.name != c.want || ok != (c.want != "") {
			t.Errorf("%d bytes of memory: %q", c.memory, got.name)
		}
	}
	for _, f := range fits {
		if f.memory < 2*f.size-1 {
			t.Errorf("%s takes more than half of %d", f.name, f.memory)
		}
	}
}

func TestAddressesAreCompletedAsOllamaDoes(t *testing.T) {
	for host, want := range map[string]string{
		"nas": "http://nas:11434", "nas:8080": "http://nas:8080", "0.0.0.0": "http://127.0.0.1:11434", "0.0.0.0:1": "http://127.0.0.1:1",
		"http://nas/": "http://nas:11434", "https://llm.example": "https://llm.example", "[::1]": "http://[::1]:11434", "[::1]:5": "http://[::1]:5", "http://nas/ollama": "http://nas/ollama",
	} {
		if got := address(host); got != want {
			t.Errorf("%s becomes %s, not %s", host, got, want)
		}
	}
}
