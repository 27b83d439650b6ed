package ollama

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

func TestOneConnectionServesManyCalls(t *testing.T) {
	f := newFake(t)
	var conns atomic.Int32
	client := f.client(t, func(o *Options) {
		o.HTTP = wire.NewHTTP()
		dial := o.HTTP.Transport.(*http.Transport).DialContext
		o.HTTP.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conns.Add(1)
			return dial(ctx, network, address)
		}
	})
	for i := range 20 {
		f.chat = answer(okStream)
		if i%5 == 4 {
			f.chat = status(503, `{"error":"busy"}`) // read to its end as well
		}
		_, _ = client.Generate(t.Context(), remind(), nil)
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("20 calls took %d connections", n)
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		f := newFake(t)
		defer f.Close()
		client := f.client(t, nil)
		for i := range 30 {
			f.chat = []func(http.ResponseWriter, *http.Request, []byte){
				answer(okStream), answer(okStream[:40]), status(500, "x"), answer(`{"error":"x"}`), answer(strings.Repeat(" ", 1<<16)),
			}[i%5]
			_, _ = client.Generate(t.Context(), remind(), nil)
		}
		f.Client().CloseIdleConnections()
	}()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); { // those of closed connections end soon
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

// Two chats at once, one of which finds out that the model knows no tools.
func TestManyCallsAtOnce(t *testing.T) {
	f := newFake(t)
	f.chat = func(w http.ResponseWriter, r *http.Request, body []byte) {
		switch {
		case strings.Contains(string(body), `"tools":[`):
			status(400, `{"error":"does not support tools"}`)(w, r, body)
		case strings.Contains(string(body), `"think":true`):
			status(400, `{"error":"does not support thinking"}`)(w, r, body)
		default:
			answer(okStream)(w, r, body)
		}
	}
	client := f.client(t, func(o *Options) { o.Think = true })
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 5 {
				if got, err := client.Generate(t.Context(), remind(), func(string) {}); err != nil || got.Text != "Hello" {
					t.Errorf("got %+v, %v", got, err)
				}
				client.Context(t.Context())
			}
		})
	}
	group.Wait()
}

// BenchmarkGenerate: what one answer of 200 tokens costs besides the network.
func BenchmarkGenerate(b *testing.B) {
	var stream strings.Builder
	for range 200 {
		stream.WriteString(`{"model":"qwen3:4b","created_at":"2026-11-30T14:40:29.171528745Z","message":{"role":"assistant","content":" word"},"done":false}` + "\n")
	}
	stream.WriteString(doneLine)
	client := New(Options{Name: "home", Model: "m", Tools: brain.ToolsNative, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return respond(strings.NewReader(stream.String())), nil
	})}})
	req := remind()
	for range 11 {
		req.Tools = append(slices.Clip(req.Tools), remind().Tools[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Generate(b.Context(), req, nil); err != nil {
			b.Fatal(err)
		}
	}
}
