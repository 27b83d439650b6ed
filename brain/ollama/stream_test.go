package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// streams are recorded answers that are whole streams.
func streams(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "fixtures", "*.resp"))
	if err != nil || len(names) < 10 {
		t.Fatalf("got %v, %v", names, err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if head, body, _ := bytes.Cut(data, []byte("\n")); string(head) == "HTTP 200" && bytes.Contains(body, []byte(`"done":true`)) {
			out[filepath.Base(name)] = body
		}
	}
	return out
}

func TestAStreamThatIsCutAnywhereIsAnError(t *testing.T) {
	c := New(Options{Name: "home", Model: "m"})
	for name, stream := range streams(t) {
		whole := bytes.TrimRight(stream, "\n")
		for n := range whole {
			// Once as a connection that breaks, once as one that ends in good order.
			for _, body := range []io.Reader{
				bytes.NewReader(whole[:n]),
				io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(io.ErrUnexpectedEOF)),
				io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(errors.New("read: connection reset by peer"))),
			} {
				var r reply
				_, err := r.read(body, func() {})
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%s cut at %d of %d: got %v", name, n, len(whole), err)
				}
				var fault *brain.ModelError
				if !errors.As(c.server.streamFault(err, "m"), &fault) || fault.Kind != brain.Transient || unfit(fault.Human) != "" {
					t.Fatalf("%s cut at %d: %v", name, n, c.server.streamFault(err, "m"))
				}
			}
		}
		var r reply
		if _, err := r.read(bytes.NewReader(whole), func() {}); err != nil {
			t.Errorf("%s without its last newline: %v", name, err)
		}
	}
}

// cutServer answers one request a connection with a raw HTTP response and hangs up.
func cutServer(t *testing.T, raw func() []byte) string {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = conn.Write(raw())
			}
			_ = conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestAConnectionThatIsCutAnywhereIsAnError(t *testing.T) {
	stream := streams(t)["tool_after_text.resp"]
	chunked := &bytes.Buffer{}
	chunked.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	for l := range bytes.Lines(stream) {
		_, _ = chunked.Write(line("%x\r\n%s\r", len(l), l))
	}
	const plainHead = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
	plain := []byte(plainHead + string(stream))
	var raw []byte
	url := cutServer(t, func() []byte { return raw })
	c := New(Options{Name: "home", URL: url, Model: "scripted"})
	for _, whole := range [][]byte{chunked.Bytes(), plain} {
		end := bytes.LastIndexByte(whole, '}')
		for n := 0; n <= end; n++ {
			raw = whole[:n]
			_, err := c.Generate(t.Context(), brain.Request{Messages: []brain.Msg{{Role: "user", Text: "x"}}}, nil)
			if faultOf(t, err, brain.Transient); t.Failed() || !errors.Is(err, io.ErrUnexpectedEOF) && n > headEnd(whole) {
				t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
			}
		}
		raw = whole[:end+2]
		got, err := c.Generate(t.Context(), brain.Request{Messages: []brain.Msg{{Role: "user", Text: "x"}}}, nil)
		if err != nil || len(got.Calls) != 1 {
			t.Fatalf("the whole answer: %+v, %v", got, err)
		}
	}
}

func headEnd(raw []byte) int { return bytes.Index(raw, []byte("\r\n\r\n")) + 4 }

// generate asks a fake that answers with a stream, offering tools.
func generate(t *testing.T, stream string) (brain.Response, error) {
	t.Helper()
	f := newFake(t)
	f.chat = answer(stream)
	return f.client(t, nil).Generate(t.Context(), remind(), nil)
}

func TestAStreamWithoutItsEndIsAnError(t *testing.T) {
	for _, stream := range []string{
		"", "\n\n", "{}\n",
		`{"message":{"content":"Half an answer"},"done":false}` + "\n",
		`{"message":{"content":"Half an answer"}}` + "\n" + `{"message":{"content":" more"},"done":fal`,
	} {
		_, err := generate(t, stream)
		faultOf(t, err, brain.Transient)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: got %v, want %v", stream, err, io.ErrUnexpectedEOF)
		}
	}
}

func TestWhatIsNotOllamaIsNamed(t *testing.T) {
	_, err := generate(t, "<html><body>Welcome to my router</body></html>")
	if fault := faultOf(t, err, brain.Transient); !strings.Contains(fault.Human, "does not answer like Ollama: is brain.models.home.url right?") {
		t.Errorf("got %q", fault.Human)
	}
}

const doneLine = `{"model":"m","message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":9}` + "\n"

func TestLOOP13ArgumentsComeAsObjectOrAsText(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{`{"when":"at 9","n":12345678901234567}`, `{"when":"at 9","n":12345678901234567}`},
		{quotedJSON(`{"when":"at 9"}`), `{"when":"at 9"}`},
		{quotedJSON("  {\"when\": \"at 9\"}\n"), `{"when": "at 9"}`},
		{`{}`, `{}`},
		// What is no object is handed on as it is: the brain refuses it and tells the model why.
		{quotedJSON(`{"when": `), quotedJSON(`{"when": `)},
		{quotedJSON("path=x.txt"), `"path=x.txt"`},
		{`null`, `null`},
		{`[1]`, `[1]`},
		{`""`, `""`},
		{`7`, `7`},
	} {
		got, err := generate(t, `{"message":{"tool_calls":[{"function":{"name":"remind","arguments":`+c.sent+`}}]}}`+"\n"+doneLine)
		if err != nil {
			t.Fatalf("%s: %v", c.sent, err)
		}
		if diff := cmp.Diff(calls("remind", c.want), got.Calls); diff != "" {
			t.Errorf("%s: %s", c.sent, diff)
		}
	}
	got, err := generate(t, `{"message":{"tool_calls":[{"function":{"name":"jobs"}}]}}`+"\n"+doneLine)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(calls("jobs", "null"), got.Calls); diff != "" {
		t.Errorf("without arguments: %s", diff)
	}
}

// Servers before 0.12.10 give no ids, some put every call at index 0, and some repeat an id.
func TestCallsGetIDsOfOurOwn(t *testing.T) {
	got, err := generate(t, `{"message":{"tool_calls":[{"id":"x","function":{"index":0,"name":"a","arguments":{}}},{"id":"x","function":{"index":0,"name":"b","arguments":{}}}]}}`+"\n"+
		`{"message":{"tool_calls":[{"function":{"index":0,"name":"c","arguments":{}}}]}}`+"\n"+doneLine)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(calls("a", "{}", "b", "{}", "c", "{}"), got.Calls); diff != "" {
		t.Error(diff)
	}
}

func TestLOOP16EmptyAnswersAreToldApart(t *testing.T) {
	done := func(reason string, tokens string) string {
		return `{"message":{"content":""},"done":true,"done_reason":"` + reason + `","eval_count":` + tokens + "}\n"
	}
	words := func(s string) string { return `{"message":{"content":` + quotedJSON(s) + "}}\n" }
	thought := func(s string) string {
		return `{"message":{"content":"","thinking":` + quotedJSON(s) + "}}\n"
	}
	for _, c := range []struct {
		name, stream string
		lost, cut    bool
	}{
		{"nothing", done("stop", "1"), false, false},
		{"nothing counted", done("stop", "0"), false, false},
		{"null", `{"message":{"content":null},"done":true,"done_reason":"stop","eval_count":1}` + "\n", false, false},
		{"blank", words("  \n \n") + done("stop", "1"), false, false},
		{"swallowed", done("stop", "5"), true, false},
		{"swallowed behind blanks", words("\n\n") + done("stop", "40"), true, false},
		{"only thoughts", thought("hm") + thought("m") + done("stop", "6"), false, false},
		{"thoughts and a swallowed call", thought("hm") + done("stop", "40"), true, false},
		{"cut", done("length", "512"), false, true},
		{"cut thoughts", thought("hm") + done("length", "512"), false, true},
		{"tagged thoughts", words("<think>a") + words("b</think>") + done("stop", "4"), false, false},
	} {
		got, err := generate(t, c.stream)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if strings.TrimSpace(got.Text) != "" || got.Lost != c.lost || got.Cut != c.cut {
			t.Errorf("%s: got %+v, want lost %v, cut %v", c.name, got, c.lost, c.cut)
		}
	}
}

func TestLOOP13ServersOwnParseErrorsAreBadReplies(t *testing.T) {
	for _, said := range []string{
		`error parsing tool call: raw='{"path": "x.txt", "content": ', err=unexpected end of JSON input`,
		"XML syntax error on line 115: unexpected EOF",
		"failed to parse JSON: invalid character '}' looking for beginning of value",
		"invalid character ']' after object key:value pair",
		"expected element type <function> but have <parameter>",
		"EOF",
	} {
		f := newFake(t)
		f.chat = status(500, `{"error":`+quotedJSON(said)+`}`)
		_, err := f.client(t, nil).Generate(t.Context(), remind(), nil)
		faultOf(t, err, brain.BadReply)
		_, err = generate(t, `{"message":{"content":"One "}}`+"\n"+`{"error":`+quotedJSON(said)+"}\n"+doneLine)
		faultOf(t, err, brain.BadReply)
	}
	_, err := generate(t, `{"error parsing tool call": "invalid character 'c'"}`+"\n")
	faultOf(t, err, brain.BadReply)
	// The same words about our request are our fault, and asking again would not help.
	f := newFake(t)
	f.chat = status(400, `{"error":"invalid character 'x' looking for beginning of value"}`)
	_, err = f.client(t, nil).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.Permanent)
}

func TestErrorsWithinAStream(t *testing.T) {
	for _, c := range []struct {
		line string
		kind brain.FaultKind
	}{
		{`{"error":"an error was encountered while running the model: unexpected EOF"}`, brain.Transient},
		{`{"error":{"message":"the input length exceeds the context length"}}`, brain.TooLong},
		{`{"error":"unauthorized","signin_url":"https://ollama.com/connect"}`, brain.Permanent},
		{`{"error":7}`, brain.Transient},
	} {
		_, err := generate(t, `{"message":{"content":"One "}}`+"\n"+c.line+"\n"+doneLine)
		faultOf(t, err, c.kind)
	}
	for _, none := range []string{`null`, `""`} {
		if _, err := generate(t, `{"error":`+none+`,"message":{"content":"x"}}`+"\n"+doneLine); err != nil {
			t.Errorf("error %s: %v", none, err)
		}
	}
}

func TestALongLineIsReadAndAnEndlessOneIsNot(t *testing.T) {
	big := strings.Repeat("å", 1<<20) // 2 MB
	got, err := generate(t, `{"message":{"tool_calls":[{"function":{"name":"write_file","arguments":{"content":"`+big+`"}}}]}}`+"\n"+doneLine)
	if err != nil {
		t.Fatal(err)
	}
	var args struct{ Content string }
	if err := json.Unmarshal(got.Calls[0].Args, &args); err != nil || args.Content != big {
		t.Errorf("got %d bytes, %v", len(args.Content), err)
	}
	_, err = generate(t, `{"message":{"content":"`+strings.Repeat("x", maxLine+1)+`"}}`+"\n"+doneLine)
	faultOf(t, err, brain.BadReply)
	_, err = generate(t, strings.Repeat(`{"message":{"thinking":"`+strings.Repeat("x", 1<<20)+`"}}`+"\n", 9)+doneLine)
	faultOf(t, err, brain.BadReply)
	if !errors.Is(err, errTooMuch) {
		t.Errorf("got %v, want %v", err, errTooMuch)
	}
}

func TestPiecesMayBeCutWithinALetter(t *testing.T) {
	stream := `{"message":{"content":"Grüße, 日本 "}}` + "\n\r\n" + `{"message":{"content":"👩‍👩‍👧"}}` + "\r\n" + doneLine
	for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		var r reply
		last, err := r.read(wrap(strings.NewReader(stream)), func() {})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.finish(last).Text; got != "Grüße, 日本 👩‍👩‍👧" {
			t.Errorf("got %q", got)
		}
	}
}

func TestEveryLineIsASignOfLife(t *testing.T) {
	var r reply
	alive := 0
	if _, err := r.read(strings.NewReader(okStream), func() { alive++ }); err != nil || alive != 2 {
		t.Errorf("got %d signs, %v", alive, err)
	}
}

func FuzzStream(f *testing.F) {
	for _, stream := range streams(f) {
		f.Add(stream, 0)
		f.Add(stream, 2)
	}
	f.Add([]byte(`{"message":{"content":"<think>x"}}`+"\n"+`{"message":{"content":"</think>{\"say\":\"hi\"}"},"done":true}`), 2)
	f.Add([]byte(`{"message":{"tool_calls":[{"function":{"name":"a","arguments":"{\"b\":1}"}}]},"done":true,"done_reason":"length"}`), 1)
	f.Add([]byte(`{"error":{"message":"x"}}`), 1)
	c := New(Options{Name: "home", Model: "m"})
	f.Fuzz(func(t *testing.T, stream []byte, how int) {
		r := reply{how: mode(how & 3), emit: func(string) {}}
		last, err := r.read(bytes.NewReader(stream), func() {})
		if err != nil {
			var fault *brain.ModelError
			if !errors.As(c.server.streamFault(err, "m"), &fault) || unfit(fault.Human) != "" {
				t.Fatalf("got %v for %v", fault, err)
			}
			return
		}
		if !last.Done {
			t.Fatal("an answer without an end is taken for whole")
		}
		got := r.finish(last)
		for i, call := range got.Calls {
			if call.ID != wire.CallID(i) || !json.Valid(call.Args) {
				t.Fatalf("got call %+v", call)
			}
		}
		if got.Lost && strings.TrimSpace(got.Text) != "" {
			t.Fatalf("lost, and yet words: %+v", got)
		}
	})
}
