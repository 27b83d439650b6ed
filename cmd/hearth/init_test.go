package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hearth/gateways/telegram/tgfake"
)

// What `hearth init` makes of answers out of a pipe: each script is a machine with an Ollama server of its own, and
// Telegram in reach. $TOKEN is a bot's token, $WRONG one that Telegram does not know.
func TestInitScripts(t *testing.T) {
	api := tgfake.New(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/init",
		Setup: func(e *testscript.Env) error {
			server := newOllamaFake()
			e.Defer(server.Close)
			e.Values["ollama"] = server
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TZ", "Europe/Lisbon")
			e.Setenv("TOKEN", api.Token())
			e.Setenv("WRONG", "123456:WRONG-of-the-tests_0123456789abcd")
			e.Setenv("HEARTH_GATEWAYS__TELEGRAM__API_URL", api.URL())
			e.Setenv("OLLAMA_HOST", server.host())
			e.Setenv("OLLAMA", server.URL)
			e.Setenv("V", filepath.Join(e.WorkDir, ".local/share/hearth"))
			e.Setenv("C", filepath.Join(e.WorkDir, ".config/hearth/hearth.yaml"))
			clock := filepath.Join(e.WorkDir, ".clock")
			e.Setenv(clockVariable, clock)
			return os.WriteFile(clock, []byte("2026-03-10T08:00:00Z\n"), 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"ready": waitReady,
			"mode":  mode,
			"answers": func(ts *testscript.TestScript, _ bool, args []string) {
				var text string
				for _, line := range args {
					text += line + "\n"
				}
				ts.Check(os.WriteFile(ts.MkAbs("answers"), []byte(text), 0o600))
			},
			"ollama": func(ts *testscript.TestScript, _ bool, args []string) {
				server, _ := ts.Value("ollama").(*ollamaFake)
				server.mu.Lock()
				defer server.mu.Unlock()
				switch args[0] {
				case "has":
					server.installed = args[1:]
				case "knows-nothing":
					server.noLibrary = true
				case "was-asked-for":
					if got := len(server.pulls); got != len(args)-1 || got > 0 && server.pulls[0] != args[1] {
						ts.Fatalf("pulled %q", server.pulls)
					}
				default:
					ts.Fatalf("what is ollama %s?", args[0])
				}
			},
		},
	})
}

// mode compares a file's: mode 600 FILE.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
		ts.Fatalf("%s has mode %s, not %s", args[1], got, args[0])
	}
}
