package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hearth/skills/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	// Most of these tests wait, for a process or for a time: four at once are no burden even to two cores.
	_ = flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
	testscript.Main(cleaning{m}, map[string]func(){"hearth": main, writerName: powercutWriter})
}

// cleaning removes the binaries that were built for the tests.
type cleaning struct{ m *testing.M }

func (c cleaning) Run() int {
	code := c.m.Run()
	if binaries.dir != "" {
		_ = os.RemoveAll(binaries.dir)
	}
	return code
}

// binaries are the programs built for this run of the tests, each once.
var binaries struct {
	mu    sync.Mutex
	dir   string
	built map[string]string
}

// program builds the program with tags besides the usual one, and gives its path.
func program(t testing.TB, tags string) string {
	t.Helper()
	b := &binaries
	b.mu.Lock()
	defer b.mu.Unlock()
	if path := b.built[tags]; path != "" {
		return path
	}
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "hearth-test-")
		if err != nil {
			t.Fatal(err)
		}
		b.dir, b.built = dir, map[string]string{}
	}
	path := filepath.Join(b.dir, "hearth"+tags)
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "sqlite_fts5 "+tags, "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	b.built[tags] = path
	return path
}
