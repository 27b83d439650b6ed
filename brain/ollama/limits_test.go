package ollama

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// slow is a body that gives each of its lines after a pause, and ends with the request.
type slow struct {
	ctx   context.Context
	pause time.Duration
	lines [][]byte
	rest  []byte
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		if len(s.lines) == 0 {
			<-s.ctx.Done() // it never ends by itself
			return 0, context.Cause(s.ctx)
		}
		timer := time.NewTimer(s.pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		}
		s.rest, s.lines = s.lines[0], s.lines[1:]
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// slowly makes a transport on which the headers and each line take a pause of their own.
func slowly(headers, pause time.Duration, lines ...[]byte) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		timer := time.NewTimer(headers)
		defer timer.Stop()
		select {
		case <-timer.C:
			return respond(&slow{ctx: r.Context(), pause: pause, lines: lines}), nil
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	})}
}

func TestOurOwnLimitsAreNamedAsOurs(t *testing.T) {
	words := line(`{"message":{"content":"word "}}`)
	done := []byte(doneLine)
	for _, c := range []struct {
		name           string
		headers, pause time.Duration
		lines          [][]byte
		mark           error
		human          string
		took           time.Duration
	}{
		{"headers in time", 9 * time.Minute, time.Second, [][]byte{words, done}, nil, "", 9*time.Minute + 3*time.Second},
		{"no headers", time.Hour, 0, nil, wire.ErrFirstToken, "The model m had not begun to answer after 10 minutes (brain.models.home.first_token_timeout), so I gave up on it.", 10 * time.Minute},
		{"headers and no word", 9 * time.Minute, 2 * time.Minute, [][]byte{words, done}, wire.ErrFirstToken, "The model m had not begun to answer after 10 minutes (brain.models.home.first_token_timeout), so I gave up on it.", 10 * time.Minute},
		{"a slow model", time.Second, 119 * time.Second, [][]byte{words, words, words, words, words, words, words, done}, nil, "", 8*119*time.Second + 2*time.Second},
		{"silence", time.Second, time.Second, [][]byte{words, words}, wire.ErrIdle, "The model m fell silent in the middle of its answer for 2 minutes or more (brain.models.home.idle_timeout), so I gave up on it.", 3*time.Second + 2*time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := New(Options{Name: "home", Model: "m", HTTP: slowly(c.headers, c.pause, c.lines...)}).Generate(t.Context(), plain("hi"), nil)
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if c.mark == nil {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if fault := faultOf(t, err, brain.Transient); fault.Human != c.human || !errors.Is(err, c.mark) {
					t.Errorf("got %q, %v", fault.Human, err)
				}
			})
		})
	}
}

// While a model writes a call, the server sends nothing. A slow machine at 2 tokens a second is silent for minutes then.
func TestASilenceMayBeACallThatIsBeingWritten(t *testing.T) {
	call := line(`{"message":{"tool_calls":[{"function":{"name":"write_file","arguments":{}}}]}}`)
	word := line(`{"message":{"content":"word "}}`)
	for _, c := range []struct {
		name    string
		tools   string
		token   time.Duration
		silence time.Duration
		wait    time.Duration // 0 = the call comes through
	}{
		{"slow machine", brain.ToolsNative, time.Second, 8 * time.Minute, 0},
		{"hung machine", brain.ToolsNative, time.Second, time.Hour, 512 * time.Second},
		{"very slow, and hung", brain.ToolsNative, time.Minute, time.Hour, 10 * time.Minute},
		{"fast machine, and hung", brain.ToolsNative, 10 * time.Millisecond, time.Hour, 2 * time.Minute},
		{"nothing is withheld", brain.ToolsSchema, time.Second, 8 * time.Minute, 2 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last time.Time
				client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					prompt := &slow{ctx: r.Context(), pause: c.token, lines: [][]byte{word, word, word}}
					quiet := &slow{ctx: r.Context(), pause: c.silence, lines: [][]byte{append(call, doneLine...)}}
					mark := readFunc(func(p []byte) (int, error) { last = time.Now(); return 0, io.EOF })
					return respond(io.MultiReader(io.LimitReader(prompt, int64(3*len(word))), mark, quiet)), nil
				})}
				_, err := New(Options{Name: "home", Model: "m", Tools: c.tools, HTTP: client}).Generate(t.Context(), remind(), nil)
				if c.wait == 0 {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if faultOf(t, err, brain.Transient); !errors.Is(err, wire.ErrIdle) {
					t.Errorf("got %v", err)
				}
				if waited := time.Since(last); waited != c.wait {
					t.Errorf("waited %v, want %v", waited, c.wait)
				}
			})
		})
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// A server that says done and then keeps the connection open must not hold up the answer.
func TestAnAnswerDoesNotWaitForTheEndOfTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got, err := New(Options{Name: "home", Model: "m", HTTP: slowly(0, 0, []byte(okStream))}).Generate(t.Context(), plain("hi"), nil)
		if err != nil || got.Text != "Hello" {
			t.Fatalf("got %+v, %v", got, err)
		}
		if took := time.Since(began); took != wire.DrainTime {
			t.Errorf("it took %v, want %v", took, wire.DrainTime)
		}
	})
}

func TestLimitsInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10 minutes", time.Minute: "1 minute", 90 * time.Second: "90 seconds", time.Second: "1 second", 300 * time.Millisecond: "300ms",
	} {
		if got := wire.InWords(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// The same with a real server: the limits end the connection, and the server sees it.
func TestTheServerSeesThatWeGaveUp(t *testing.T) {
	f := newFake(t)
	gone := make(chan struct{}, 2)
	first := true
	f.chat = func(w http.ResponseWriter, r *http.Request, _ []byte) {
		if !first {
			_, _ = io.WriteString(w, strings.SplitAfter(okStream, "\n")[0])
			w.(http.Flusher).Flush()
		}
		first = false
		<-r.Context().Done()
		gone <- struct{}{}
	}
	client := f.client(t, func(o *Options) { o.FirstToken, o.Idle = 30*time.Millisecond, 30*time.Millisecond })
	for _, want := range []error{wire.ErrFirstToken, wire.ErrIdle} {
		_, err := client.Generate(t.Context(), plain("hi"), nil)
		if faultOf(t, err, brain.Transient); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			t.Fatal("the server still waits")
		}
	}
}
