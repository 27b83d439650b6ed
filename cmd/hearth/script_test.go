package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// What a person types and reads: each script is a session. HOME is empty, the zone is Lisbon, and the clock stands at
// Tue 10 Mar 2026, 08:00 until a script moves it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TZ", "Europe/Lisbon")
			e.Setenv("HEARTH_BRAIN__MODEL", "offline") // whatever model server this machine may have
			e.Setenv("V", filepath.Join(e.WorkDir, ".local/share/hearth"))
			clock := filepath.Join(e.WorkDir, ".clock")
			e.Setenv(clockVariable, clock)
			return os.WriteFile(clock, []byte("2026-03-10T08:00:00Z\n"), 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"clock": setScriptClock,
			"ready": waitReady,
			"poke":  poke,
			"exits": exits,
		},
	})
}

// exits runs hearth, which must fail with a code: exits CODE ARG…
func exits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	var failed *exec.ExitError
	if err := ts.Exec("hearth", args[1:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("run hearth: %v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("hearth %v exits %d, not %s", args[1:], code, args[0])
	}
}

// setScriptClock moves the test clock: clock INSTANT.
func setScriptClock(ts *testscript.TestScript, _ bool, args []string) {
	next := ts.MkAbs(".clock.new")
	ts.Check(os.WriteFile(next, []byte(args[0]+"\n"), 0o600))
	ts.Check(os.Rename(next, ts.MkAbs(".clock")))
}

// waitReady waits until the daemon of a vault is ready: ready DIR.
func waitReady(ts *testscript.TestScript, _ bool, args []string) {
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := newClient(socketPath(ts.MkAbs(args[0]), "")).do(context.Background(), http.MethodGet, "/readyz", nil)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-limit.C:
			ts.Fatalf("the daemon is not ready within 20 s")
		}
	}
}

// poke overwrites bytes of a file: poke FILE OFFSET TEXT, as damage does.
func poke(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	at, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	_, err = file.WriteAt([]byte(args[2]), at)
	ts.Check(err)
	ts.Check(file.Close())
}
