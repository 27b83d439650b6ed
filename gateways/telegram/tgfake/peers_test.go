package tgfake

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// peer is a bot that was made with somebody else's library. It writes what it sees of the server, a line each.
type peer struct {
	t     *testing.T
	lines chan string
	ended chan error
}

// peers gives the folder where `make peers` has put the programs of others. Without it a test is skipped; with it whatever
// is missing fails.
func peers(t *testing.T) string {
	dir := os.Getenv("HEARTH_TEST_PEERS")
	if dir == "" {
		t.Skip("HEARTH_TEST_PEERS names no folder with the programs of others; `make peers` runs this test")
	}
	return dir
}

// startPeer runs a bot against the server.
func startPeer(t *testing.T, s *Server, dir, program, script string) *peer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, filepath.Join("testdata", script))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NODE_PATH=" + filepath.Join(dir, "node_modules"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8",
		"API=" + s.URL(), "TOKEN=" + s.Token(),
	}
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, lines: make(chan string, 100), ended: make(chan error, 1)}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
		close(p.lines)
		p.ended <- cmd.Wait()
	}()
	return p
}

// patience bounds every wait for a peer; a busy machine takes seconds to start one.
const patience = 40 * time.Second

// sees waits for the next lines and compares them.
func (p *peer) sees(want ...string) {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for _, w := range want {
		select {
		case got, open := <-p.lines:
			if !open {
				p.t.Fatalf("the peer has ended; want %q", w)
			}
			if got != w {
				p.t.Fatalf("the peer sees\n%s\nwant\n%s", got, w)
			}
		case <-timer.C:
			p.t.Fatalf("the peer has not seen within %v: %s", patience, w)
		}
	}
}

// ends waits until the peer has ended by itself, without another word.
func (p *peer) ends() {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case line, open := <-p.lines:
			if !open {
				p.lines = nil
				continue
			}
			p.t.Errorf("the peer sees besides: %s", line)
		case err := <-p.ended:
			if err != nil {
				p.t.Errorf("the peer ends: %v", err)
			}
			return
		case <-timer.C:
			p.t.Fatalf("the peer has not ended within %v", patience)
		}
	}
}

// idle waits until the peer has confirmed all updates and polls again: what comes now comes by a long poll.
func idle(s *Server) {
	s.t.Helper()
	s.WaitFor("a poll that waits", func() bool {
		calls := s.Calls("getUpdates")
		return len(calls) > 0 && calls[len(calls)-1].Code == 0 && len(s.Pending()) == 0
	})
}

// takeOver polls as a second program with the same token does, which ends the peer's poll.
func takeOver(t *testing.T, s *Server) {
	t.Helper()
	idle(s)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { _, _ = ask(ctx, s, "getUpdates", url.Values{"timeout": {"50"}}) }() // nobody needs its answer
}

// TestPeerGrammY has a bot made with grammY talk to the server: it understands what it is answered, its own rules of 429
// and 409 apply, and each request is one of today's Bot API.
func TestPeerGrammY(t *testing.T) {
	dir := peers(t)
	s := New(t)
	s.Say(ann, "before it runs")
	p := startPeer(t, s, dir, "node", "grammy.cjs")
	p.sees(fmt.Sprintf("me: %d %s true", Bot, Username), "message: before it runs")
	if got := s.Commands(); !strings.Contains(got, `"begins"`) {
		t.Errorf("commands: %s", got)
	}
	idle(s)
	said := s.Say(ann, "/start@"+Username+" code 😀")
	p.sees(
		`command: code 😀 from 7 entities [{"length":22,"offset":0,"type":"bot_command","text":"/start@`+Username+`"}]`,
		`sent: 😀 bold and code [{"type":"bold","offset":3,"length":4},{"type":"code","offset":12,"length":4}] [[{"text":"Yes","callback_data":"yes"},{"text":"No","callback_data":"no"}],[{"text":"Later","callback_data":"later"}]]`,
	)
	shown := s.Shown(7)
	if len(shown) != 1 || len(shown[0].Buttons) != 3 || shown[0].ReplyTo != said || !shown[0].PreviewOff {
		t.Fatalf("shown: %+v", shown)
	}
	press := s.Press(7, ann, shown[0].ID, "no")
	p.sees(
		"pressed: no under 😀 bold and code",
		`edited: thanks 😀 [{"type":"italic","offset":0,"length":9}] undefined`,
		"refused: 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message {}",
		"refused: 400 Bad Request: query is too old and response timeout expired or query ID is invalid {}",
		"refused: 400 Bad Request: entity beginning at UTF-16 offset 1 begins or ends in a middle of a UTF-16 symbol {}",
		"refused: 400 Bad Request: message is too long {}",
		"refused: 400 Bad Request: BOT_COMMAND_INVALID {}",
	)
	if !s.Answered(press) {
		t.Error("the press is not answered")
	}
	s.Edit(ann.Private(), ann, said, "changed")
	p.sees("edit: changed")

	s.Fault("sendMessage", 1, TooMany(2))
	before := len(s.Calls("sendMessage"))
	s.Say(ann, "slow")
	p.sees("after a while: here it is")
	if tries := s.Calls("sendMessage")[before:]; len(tries) != 2 || tries[0].Code != 429 || tries[1].At.Sub(tries[0].At) < 1900*time.Millisecond {
		t.Errorf("after a 429 with 2 s: %+v", tries)
	}
	refusals(s)
	for _, c := range []struct{ chat, want string }{
		{"8", "refused: 403 Forbidden: bot was blocked by the user {}"},
		{"-5", `refused: 400 Bad Request: group chat was upgraded to a supergroup chat {"migrate_to_chat_id":-100123}`},
		{"9", "refused: 400 Bad Request: chat not found {}"},
	} {
		s.Say(ann, "elsewhere "+c.chat)
		p.sees(c.want)
	}
	takeOver(t, s)
	p.sees("stopped: getUpdates 409 " + errConflict.Description)
	p.ends()
}

// refusals makes the chats known to which nothing can be sent. The bot is told of the one that moved, by an update without
// words.
func refusals(s *Server) {
	s.Block(8)
	s.Move(Chat{ID: -5, Type: "group", Title: "old"}, Chat{ID: -100123, Type: "supergroup", Title: "new"})
}

// TestPeerPythonTelegramBot does the same with python-telegram-bot 13, which is of 2022.
func TestPeerPythonTelegramBot(t *testing.T) {
	dir := peers(t)
	s := New(t)
	s.Say(ann, "before it runs")
	p := startPeer(t, s, dir, cmp.Or(os.Getenv("HEARTH_TEST_PYTHON"), "python3"), "ptb.py")
	p.sees(fmt.Sprintf("me: %d %s True", Bot, Username), "message: before it runs")
	if got := s.Commands(); !strings.Contains(got, `"begins"`) {
		t.Errorf("commands: %s", got)
	}
	idle(s)
	said := s.Say(ann, "/start@"+Username+" code 😀")
	p.sees(
		"command: code 😀 from 7 entities [('bot_command', '/start@"+Username+"')]",
		"sent: 😀 bold and code [('bold', 'bold'), ('code', 'code')] ['yes', 'no']",
	)
	press := s.Press(7, ann, s.Shown(7)[0].ID, "no")
	p.sees(
		"pressed: no under 😀 bold and code",
		"edited: thanks 😀 [('italic', 'thanks 😀')] None",
		"refused: BadRequest Message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
		"refused: BadRequest Query is too old and response timeout expired or query id is invalid",
		"refused: BadRequest Entity beginning at utf-16 offset 1 begins or ends in a middle of a utf-16 symbol",
		"refused: BadRequest Message is too long",
		"refused: BadRequest Bot_command_invalid",
	)
	if !s.Answered(press) {
		t.Error("the press is not answered")
	}
	s.Edit(ann.Private(), ann, said, "changed")
	p.sees("edit: changed")

	// Its poller waits by itself, half a second longer than it is told.
	s.Fault("getUpdates", 1, TooMany(2))
	before := len(s.Calls("getUpdates"))
	s.Say(ann, "slow")
	p.sees("message: slow")
	s.WaitFor("the poll after a 429", func() bool { return len(s.Calls("getUpdates")) >= before+2 })
	if polls := s.Calls("getUpdates")[before:]; polls[0].Code != 429 || polls[1].At.Sub(polls[0].At) < 1900*time.Millisecond {
		t.Errorf("after a 429 with 2 s: %+v", polls)
	}
	refusals(s)
	s.Fault("sendMessage", 1, TooMany(7))
	for _, c := range []struct{ chat, want string }{
		{"7", "refused: retry after 7.0"},
		{"8", "refused: Unauthorized Forbidden: bot was blocked by the user"},
		{"-5", "refused: moved to -100123"},
		{"9", "refused: BadRequest Chat not found"},
	} {
		s.Say(ann, "elsewhere "+c.chat)
		p.sees(c.want)
	}
	takeOver(t, s)
	p.sees("stopped: Conflict " + errConflict.Description)
	p.ends()
}
