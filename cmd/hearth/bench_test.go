package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The figures of the whole program, as a person's machine would have them. `make bench` prints them; docs/benchmarks.md
// says what they were.

// instant is an Ollama server whose model answers at once, or after a fixed time. It keeps the requests.
type instant struct {
	*httptest.Server
	delay  time.Duration // of each answer
	call   string        // a tool call, as JSON, that comes before each answer; "" = none
	mu     sync.Mutex
	first  int // the size of the first request, in bytes of messages and tools
	bodies [][]byte
}

func newInstant(b *testing.B) *instant {
	m := &instant{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	b.Cleanup(m.Close)
	return m
}

func (m *instant) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.30.0"}`)
	case "/api/show":
		fmt.Fprint(w, `{"capabilities":["completion","tools"],"details":{"family":"test"},"model_info":{"general.architecture":"test","test.context_length":32768}}`)
	case "/api/ps":
		fmt.Fprint(w, `{"models":[{"name":"instant:latest","model":"instant:latest","context_length":8192}]}`)
	case "/api/chat":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m.mu.Lock()
		if m.first == 0 {
			m.first = promptSize(body)
		}
		m.bodies = append(m.bodies, body)
		m.mu.Unlock()
		<-time.After(m.delay)
		message := `{"role":"assistant","content":"A short answer of a few words."}`
		if m.call != "" && !bytes.Contains(body[bytes.LastIndex(body, []byte(`"role":"user"`)):], []byte(`"role":"tool"`)) {
			message = `{"role":"assistant","content":"","tool_calls":[{"function":` + m.call + `}]}`
		}
		fmt.Fprintf(w, `{"model":"instant","message":%s,"done":false}`+"\n", message)
		fmt.Fprintln(w, `{"model":"instant","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":8}`)
	default:
		http.NotFound(w, r)
	}
}

// promptSize is what a model has to read: the messages and the tools.
func promptSize(body []byte) int {
	var req struct {
		Messages, Tools json.RawMessage
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return len(body)
	}
	return len(req.Messages) + len(req.Tools)
}

func benchHome(b *testing.B, url string) *home {
	b.Helper()
	return newHome(b, "", fmt.Sprintf("people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain: {model: home, models: {home: {provider: ollama, url: %q, model: instant}}}\n", url))
}

// BenchmarkReady is the time from the start of the process to /readyz.
func BenchmarkReady(b *testing.B) {
	h := benchHome(b, newInstant(b).URL)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		p := h.begin(nil, "run")
		for !h.ready() {
			select {
			case <-p.ended:
				b.Fatal(p.log)
			default:
			}
		}
		took = append(took, time.Since(began))
		p.kill()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-to-ready")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleMemory is the resident memory of a daemon that has nothing to do, three seconds after its start.
func BenchmarkIdleMemory(b *testing.B) {
	h := benchHome(b, newInstant(b).URL)
	p := h.daemon()
	settle := time.NewTimer(3 * time.Second)
	<-settle.C
	for b.Loop() {
	}
	b.ReportMetric(residentMB(b, p.cmd.Process.Pid), "MB-idle")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAnswer is a message and its answer through the daemon, with a model that answers at once: all of it is ours.
func BenchmarkAnswer(b *testing.B) {
	m := newInstant(b)
	h := benchHome(b, m.URL)
	p := h.daemon()
	ana := h.open("Ana")
	ana.ask("hello", "warm-up")
	n := 0
	for b.Loop() {
		n++
		ana.ask("question "+strconv.Itoa(n), "m"+strconv.Itoa(n))
	}
	b.ReportMetric(float64(m.first), "chars-first-request")
	b.ReportMetric(residentMB(b, p.cmd.Process.Pid), "MB-after")
}

// BenchmarkFlushes counts what reaches the disk for an answer, over 500 of them: a plain one, and one with a
// call that keeps something. It needs strace.
func BenchmarkFlushes(b *testing.B) {
	for _, c := range []struct{ name, call string }{
		{"plain", ""},
		{"call", `{"name":"remember","arguments":{"fact":"the gate code is blue"}}`},
	} {
		b.Run(c.name, func(b *testing.B) { benchFlushes(b, c.call) })
	}
}

func benchFlushes(b *testing.B, call string) {
	if _, err := exec.LookPath("strace"); err != nil {
		b.Skip("strace is not installed")
	}
	const answers = 500
	m := newInstant(b)
	m.call = call
	h := benchHome(b, m.URL)
	p := h.daemon()
	ana := h.open("Ana")
	ana.ask("hello", "warm-up")
	trace := filepath.Join(h.dir, "trace")
	tracer := exec.CommandContext(b.Context(), "strace", "-f", "-q", "-e", "trace=fsync,fdatasync", "-o", trace, "-p", strconv.Itoa(p.cmd.Process.Pid))
	if err := tracer.Start(); err != nil {
		b.Fatal(err)
	}
	eventually(b, "strace is attached", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		return err == nil && !bytes.Contains(status, []byte("TracerPid:\t0\n"))
	})
	for n := range answers {
		ana.ask("question "+strconv.Itoa(n), "f"+strconv.Itoa(n))
	}
	p.term()
	_ = tracer.Wait() // it ends with what it traces
	body, err := os.ReadFile(trace)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
	}
	flushes := 0
	for line := range strings.Lines(string(body)) {
		if strings.Contains(line, "sync(") {
			flushes++
		}
	}
	b.ReportMetric(float64(flushes)/answers, "flushes/answer")
	b.ReportMetric(0, "ns/op")
}

func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	resident, _ := memoryMB(b, pid)
	return resident
}

// memoryMB is what a process holds in memory, and how much of that belongs to no file: what a kernel cannot drop.
func memoryMB(b *testing.B, pid int) (resident, anonymous float64) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "RssAnon" {
			continue
		}
		kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		if err != nil {
			b.Fatal(err)
		}
		if name == "VmRSS" {
			resident = kib / 1024
		} else {
			anonymous = kib / 1024
		}
	}
	if resident == 0 || anonymous == 0 {
		b.Fatal("the kernel does not tell the memory of a process")
	}
	return resident, anonymous
}

// workedMS is for how many milliseconds a process has had a core, in steps of ten.
func workedMS(b *testing.B, pid int) float64 {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	total := 0.0
	for _, field := range fields[11:13] { // utime and stime of proc(5), in hundredths of a second
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += ticks * 10
	}
	return total
}
