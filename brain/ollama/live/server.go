package live

import (
	"bytes"
	"context"
	_ "embed" // the templates
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The models that a Server has. All of them are loaded with the same context, which the server's OpenAI and Anthropic
// addresses can be told in no other way.
const (
	Scripted = "scripted" // answers on cue
	Thinking = "thinking" // the same, and the server knows that it thinks
	Context  = 8192       // tokens
)

// A template with the names of turns and the tags for calls that many models are taught, and one with thoughts besides.
var (
	//go:embed plain.modelfile
	plainTemplate string
	//go:embed thinking.modelfile
	thinkingTemplate string
)

// Server is a real Ollama server that runs for one test.
type Server struct {
	URL string

	t      testing.TB
	binary string
	home   string // the folder that it takes for its user's
	cmd    *exec.Cmd
	log    string // what it wrote, a file
	ended  chan struct{}
}

// Start runs the server program at binary and ends it with the test, its runners too. Models are kept beside the
// program's folder for the next time, and so is a file server.pid with the number of its process group while it runs.
func Start(t testing.TB, binary string) *Server {
	t.Helper()
	binary, err := filepath.Abs(binary)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, binary: binary, home: filepath.Dir(filepath.Dir(binary)), ended: make(chan struct{})}
	s.URL = "http://" + freeAddress(t)
	s.log = filepath.Join(s.home, "server.log")
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the server has it open for itself
	s.cmd = s.command(context.WithoutCancel(t.Context()), "serve")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a runner outlives a server that is killed, and not its group
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // it is ended by a signal
		close(s.ended)
	}()
	t.Cleanup(s.end)
	s.write("server.pid", func(w io.Writer) error {
		_, err := io.WriteString(w, strconv.Itoa(s.cmd.Process.Pid))
		return err
	})
	s.await()
	return s
}

func freeAddress(t testing.TB) string {
	t.Helper()
	var where net.ListenConfig
	listener, err := where.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

func (s *Server) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Env = []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "OLLAMA_MODELS=" + filepath.Join(s.home, "models"), "OLLAMA_HOST=" + s.URL,
		"OLLAMA_NO_CLOUD=1", "OLLAMA_NUM_PARALLEL=1",
	}
	return cmd
}

// await waits until the server answers.
func (s *Server) await() {
	s.t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for s.post("/api/show", `{"model":"none"}`) != http.StatusNotFound {
		select {
		case <-tick.C:
		case <-s.ended:
			s.t.Fatalf("the server has ended: see %s", s.log)
		case <-limit.C:
			s.t.Fatalf("the server does not answer: see %s", s.log)
		}
	}
}

// end asks the server to end, and then takes away what is left of it and of its runners.
func (s *Server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	select {
	case <-s.ended:
	case <-limit.C:
	}
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		s.t.Errorf("end the server's runners: %v", err)
	}
	<-s.ended
	if err := os.Remove(filepath.Join(s.home, "server.pid")); err != nil {
		s.t.Error(err)
	}
}

// AddScripted makes the models Scripted and Thinking.
func (s *Server) AddScripted() {
	s.t.Helper()
	file := s.write("scripted.gguf", WriteScripted)
	const exact = "PARAMETER temperature 0\nPARAMETER stop <|im_end|>\n"
	s.create(Scripted, file, plainTemplate+exact)
	s.create(Thinking, file, thinkingTemplate+exact)
}

// AddRandom makes the model of real size, or finds it made before, and gives its name. To make it takes a minute or two
// and 2 GB of the disk for that time; 330 MB stay.
func (s *Server) AddRandom() (name string) {
	s.t.Helper()
	head, err := randomModel().head()
	if err != nil {
		s.t.Fatal(err)
	}
	sum := fnv.New32a()
	_, _ = sum.Write(append(head, plainTemplate...)) // a hash takes everything
	name = fmt.Sprintf("random-%08x", sum.Sum32())   // another one when this program would make another one
	if s.post("/api/show", `{"model":"`+name+`"}`) == http.StatusOK {
		return name
	}
	file := s.write("random.gguf", WriteRandom)
	s.create(name, file, plainTemplate, "--quantize", "q4_K_M")
	if err := os.Remove(file); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func (s *Server) write(name string, body func(io.Writer) error) string {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	file, err := os.Create(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(body(file), file.Close()); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *Server) create(name, file, template string, more ...string) {
	s.t.Helper()
	recipe := s.write(name+".modelfile", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "FROM %s\n%sPARAMETER num_ctx %d\n", file, template, Context)
		return err
	})
	out, err := s.command(s.t.Context(), append([]string{"create", name, "-f", recipe}, more...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("make the model %s: %v: %s", name, err, bytes.TrimSpace(out))
	}
}

// Warm has a model loaded and nothing in its cache: what it is asked next finds it as after a start of the machine, without
// the time that loading takes. t is the test that wants it, which may be a part of the server's.
func (s *Server) Warm(t testing.TB, name string) {
	t.Helper()
	ask := func(keep string) {
		if status := s.post("/api/generate", `{"model":"`+name+`","keep_alive":`+keep+`}`); status != http.StatusOK {
			t.Fatalf("load the model %s: status %d", name, status)
		}
	}
	ask("0")
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for { // a server answers before it has let go of a model
		status, loaded := s.do(http.MethodGet, "/api/ps", "")
		if status == http.StatusOK && !strings.Contains(loaded, `"`+name+`:`) {
			break
		}
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("the model %s stays loaded: %d %s", name, status, loaded)
		}
	}
	ask("-1")
}

func (s *Server) post(path, body string) (status int) {
	status, _ = s.do(http.MethodPost, path, body)
	return status
}

// do asks the server; status 0 is no answer.
func (s *Server) do(method, path, body string) (status int, answer string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), 5*time.Minute) // a busy machine takes long to load a model
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(read)
}
