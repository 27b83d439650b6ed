package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPeerTelegramTestAPI takes the program once through a chat on a Bot API server that nobody here wrote: npm's
// telegram-test-api 4.2.1, which is old and lenient. What it does otherwise than Telegram:
//
//   - It answers getUpdates at once, whatever the timeout, and knows no offset. A program that polls as Telegram wants it
//     would ask thousands of times a second, so the test holds a poll until somebody has written.
//   - It has no setMyCommands and no sendChatAction and answers them with a 500 that is not the Bot API's. The program has to
//     live with that, as with any server error there: no menu, no typing.
//   - Its bot is number 666 whatever the token says, answers to edits and presses hold null, and an edit leaves buttons
//     where they are. The program needs none of that.
func TestPeerTelegramTestAPI(t *testing.T) {
	api := startTestAPI(t)
	h := newHome(t, "", fmt.Sprintf("timezone: Europe/Lisbon\npeople: [{name: Ana, role: owner}]\ngateways: {burst: 0s, telegram: {token: %q, api_url: %q}}\n", peerToken, api.url))
	h.clocked(time.Now().Format(time.RFC3339))
	daemon := h.daemon("HEARTH_SKILLS__PERMISSIONS={remember: ask}")

	api.says("is anybody there?")
	api.hears("This is a private assistant.")
	api.says(regexp.MustCompile(`/pair [2-9A-Z]{8}`).FindString(h.ok("pair", "--person", "Ana")))
	api.hears("Welcome, Ana.")
	api.says("good morning")
	api.hears("Hello. No language model is connected")

	api.says("/remind in 1 minute, take the *tea* out 🫖")
	receipt := api.hears("Reminder 1: ")
	if !regexp.MustCompile(`^Reminder 1: [A-Z][a-z]{2} \d+ [A-Z][a-z]{2} \d{4}, \d\d:\d\d(:\d\d)? \(Europe/Lisbon\): take the tea out 🫖$`).MatchString(receipt.Message.Text) {
		t.Errorf("the receipt is %q", receipt.Message.Text)
	}
	if styles := receipt.Message.Entities; len(styles) != 1 || styles[0].Type != "italic" || styles[0].Offset != strings.Index(receipt.Message.Text, "tea") || styles[0].Length != 3 {
		t.Errorf("the receipt's styles are %+v", styles)
	}
	h.setClock(time.Now().Add(70 * time.Second).Format(time.RFC3339))
	eventually(t, "the reminder is said", func() bool {
		return slices.ContainsFunc(api.bot(), func(m botMessage) bool {
			return m.MessageID != receipt.MessageID && strings.Contains(m.Message.Text, "out 🫖")
		})
	})

	api.says("remember that the gate is blue")
	question := api.hears("gate is blue")
	data := ""
	for _, b := range slices.Concat(question.Message.Markup.Rows...) {
		if b.Text == "Approve" {
			data = b.Data
		}
	}
	if data == "" {
		t.Fatalf("the question has no button to approve: %+v", question)
	}
	api.presses(question, data)
	api.hears("Noted (memory 1)")
	eventually(t, "the question says what came of it", func() bool {
		return slices.ContainsFunc(api.bot(), func(m botMessage) bool {
			return m.MessageID == question.MessageID && strings.HasSuffix(m.Message.Text, "approved by Ana")
		})
	})

	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d:\n%s", code, daemon.log)
	}
	asked := api.statuses()
	for _, method := range []string{"getMe", "setMyCommands", "getUpdates", "sendMessage", "answerCallbackQuery", "editMessageText"} {
		if asked[method] == 0 {
			t.Errorf("%s was never asked for", method)
		}
	}
	for method, status := range asked {
		if lacks := method == "setMyCommands" || method == "sendChatAction"; lacks != (status >= 400) {
			t.Errorf("%s is answered with %d", method, status)
		}
	}
	if strings.Contains(daemon.log.String(), strings.Split(peerToken, ":")[1]) {
		t.Error("the token is in the log")
	}
}

const peerToken = "123456:CANARY-of-the-peers_0123456789abcdefg"

// testAPI is telegram-test-api, from the side of the person who writes.
type testAPI struct {
	t       *testing.T
	direct  string // where it is
	url     string // where the program is told it is
	written chan struct{}

	mu    sync.Mutex
	worst map[string]int // method: the highest status it was answered with
}

type botMessage struct {
	MessageID int  `json:"messageId"`
	Message   said `json:"message"`
}

type said struct {
	Chat     string `json:"chat_id"` // of the bot's messages only
	Text     string
	Entities []struct {
		Type           string
		Offset, Length int
	}
	Markup struct {
		Rows [][]struct {
			Text string `json:"text"`
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

func startTestAPI(t *testing.T) *testAPI {
	t.Helper()
	dir := os.Getenv("HEARTH_TEST_PEERS")
	if dir == "" {
		t.Skip("HEARTH_TEST_PEERS names no folder with the programs of others; `make peers` runs this test")
	}
	node := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "peers", "telegram-test-api.cjs"))
	node.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NODE_PATH=" + filepath.Join(dir, "node_modules")}
	port := &buffer{}
	node.Stdout, node.Stderr = port, t.Output()
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill() // it ends no other way
		_ = node.Wait()
	})
	eventually(t, "telegram-test-api prints its port", func() bool { return strings.HasSuffix(port.String(), "\n") })
	a := &testAPI{t: t, direct: "http://127.0.0.1:" + strings.TrimSpace(port.String()), written: make(chan struct{}, 100), worst: map[string]int{}}

	target, err := url.Parse(a.direct)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.ModifyResponse = func(resp *http.Response) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		method := filepath.Base(resp.Request.URL.Path)
		a.worst[method] = max(a.worst[method], resp.StatusCode)
		return nil
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getUpdates") {
			body, err := io.ReadAll(r.Body) // until then nobody looks whether the client has gone
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			timer := time.NewTimer(20 * time.Second)
			defer timer.Stop()
			select {
			case <-a.written:
			case <-timer.C:
			case <-r.Context().Done():
				return
			}
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	a.url = front.URL
	return a
}

// statuses gives the highest status that each method was answered with.
func (a *testAPI) statuses() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.worst)
}

// post asks the server in the name of the person.
func (a *testAPI) post(path string, body map[string]any, out any) {
	a.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.direct+path, bytes.NewReader(raw))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: status %d, %v", path, resp.StatusCode, err)
	}
}

var (
	peerPerson = map[string]any{"id": 7, "first_name": "Ana", "username": "ana", "is_bot": false}
	peerChat   = map[string]any{"id": 7, "first_name": "Ana", "type": "private"}
)

// says writes a message or a command.
func (a *testAPI) says(words string) {
	a.t.Helper()
	body := map[string]any{"botToken": peerToken, "date": time.Now().Unix(), "from": peerPerson, "chat": peerChat, "text": words}
	path := "/sendMessage"
	if command, _, _ := strings.Cut(words, " "); strings.HasPrefix(command, "/") {
		path, body["entities"] = "/sendCommand", []any{map[string]any{"type": "bot_command", "offset": 0, "length": len(command)}}
	}
	a.post(path, body, new(any))
	a.written <- struct{}{}
}

// presses a button under a message.
func (a *testAPI) presses(m botMessage, data string) {
	a.t.Helper()
	message := map[string]any{"message_id": m.MessageID, "date": time.Now().Unix(), "chat": peerChat, "text": m.Message.Text}
	a.post("/sendCallback", map[string]any{"botToken": peerToken, "date": time.Now().Unix(), "from": peerPerson, "message": message, "data": data}, new(any))
	a.written <- struct{}{}
}

// bot gives what the bot has written, oldest first.
func (a *testAPI) bot() []botMessage {
	a.t.Helper()
	var answer struct{ Result []botMessage }
	a.post("/getUpdatesHistory", map[string]any{"token": peerToken}, &answer)
	return slices.DeleteFunc(answer.Result, func(m botMessage) bool { return m.Message.Chat == "" })
}

// hears waits for a message with some words in it.
func (a *testAPI) hears(words string) botMessage {
	a.t.Helper()
	var found botMessage
	eventually(a.t, "the bot writes "+words, func() bool {
		all := a.bot()
		at := slices.IndexFunc(all, func(m botMessage) bool { return strings.Contains(m.Message.Text, words) })
		if at >= 0 {
			found = all[at]
		}
		return at >= 0
	})
	return found
}
