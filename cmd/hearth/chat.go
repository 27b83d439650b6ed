package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"hearth/config"
	"hearth/gateways/terminal"
	"hearth/vault"
)

// line connects a chat with the agent, here or through the daemon's socket.
type line interface {
	next() (event, error) // waits
	say(ctx context.Context, words, id string) error
	ack(ctx context.Context, part int64) error
	close()
}

// localLine is a chat with an agent in this process.
type localLine struct {
	*talk
	ctx    context.Context
	events chan event
	ended  chan error // holds one
}

func newLocalLine(ctx context.Context, t *talk) *localLine {
	l := &localLine{talk: t, ctx: ctx, events: make(chan event), ended: make(chan error, 1)}
	go func() {
		l.ended <- t.run(ctx, func(e event) error {
			select {
			case l.events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return l
}

func (l *localLine) next() (event, error) {
	select {
	case e := <-l.events:
		return e, nil
	case err := <-l.ended:
		if err == nil {
			err = context.Canceled
		}
		return event{}, err
	}
}

func (l *localLine) say(ctx context.Context, words, id string) error {
	if err := l.talk.say(ctx, words, id); err != nil {
		return err
	}
	go l.await(l.ctx, id)
	return nil
}

func (l *localLine) ack(_ context.Context, part int64) error {
	l.client.Ack(part)
	return nil
}

func (l *localLine) close() { l.client.Close() }

// cmdChat talks with the daemon if it runs, else with an agent of its own that lives as long as the chat.
func cmdChat(ctx context.Context, in *invocation) error {
	cfg, err := in.load()
	if err != nil {
		return err
	}
	clock, err := newClock(in.lookup(clockVariable))
	if err != nil {
		return err
	}
	socket := socketPath(cfg.Vault.Dir, in.lookup("XDG_RUNTIME_DIR"))
	remote := dial(ctx, socket)
	if remote == nil {
		var a *agent
		if a, remote, err = in.ownAgent(ctx, cfg, clock, socket); err != nil {
			return err
		}
		if a != nil {
			return in.chatHere(ctx, a, clock)
		}
	}
	l, err := remote.chat(ctx, in.flags["as"])
	if err != nil {
		return err
	}
	defer l.close()
	var status statusRow
	if err := remote.get(ctx, viewStatus.path, nil, &status); err != nil {
		return err
	}
	return in.converse(ctx, l, status, func() string { return "" })
}

// ownAgent puts an agent together for this chat. It is nil when a daemon has come up meanwhile: then there is a client.
func (in *invocation) ownAgent(ctx context.Context, cfg *config.Config, clock *clock, socket string) (a *agent, remote *client, err error) {
	quiet := *cfg
	if quiet.Log.Level == "info" || quiet.Log.Level == "debug" {
		quiet.Log.Level = "warn" // it shares the screen with the chat
	}
	began := time.Now()
	a, err = newAgent(ctx, in.env, cfg, newLogger(in.err, &quiet), clock, false, func(*vault.LockedError) bool {
		remote = dial(ctx, socket)
		return remote == nil && ctx.Err() == nil && time.Since(began) < patience
	})
	if remote != nil {
		return nil, remote, nil
	}
	return a, nil, err
}

// chatHere runs an agent for as long as the chat lasts.
func (in *invocation) chatHere(ctx context.Context, a *agent, clock *clock) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	ended := make(chan error, 1)
	up := make(chan struct{})
	go func() {
		ended <- a.run(ctx, func() { close(up) }, &part{name: "clock", run: func(ctx context.Context) error { return clock.watch(ctx, a.log.Logger, a.vault.Wake) }})
	}()
	<-up
	err = in.converseHere(ctx, a)
	leave()
	if gone := <-ended; err == nil || errors.Is(err, context.Canceled) {
		err = errors.Join(gone, err)
	}
	return err
}

func (in *invocation) converseHere(ctx context.Context, a *agent) error {
	t, err := a.talk(ctx, in.flags["as"])
	if err != nil {
		return err
	}
	l := newLocalLine(ctx, t)
	defer l.close()
	status, err := viewStatus.do(a.service, ctx, query{})
	if err != nil {
		return err
	}
	return in.converse(ctx, l, status, func() string {
		waiting, err := a.vault.Jobs(ctx, 0, true, everything)
		if err != nil || len(waiting) == 0 {
			return ""
		}
		return plural(len(waiting), "reminder") + " can only come while `hearth run` or a chat is running."
	})
}

// converse is the chat: one message, or what is typed until the end of input.
func (in *invocation) converse(ctx context.Context, l line, status statusRow, parting func() string) error {
	c := &conversation{in: in, line: l, waiting: map[string]bool{}, tty: isTerminal(in.in) && isTerminal(in.out), width: width(in.out)}
	if in.has("m") {
		return c.once(ctx, in.flags["m"])
	}
	c.print(greeting(status))
	return c.loop(ctx, parting)
}

// greeting says what this is, which model answers, and what to try.
func greeting(s statusRow) string {
	var b strings.Builder
	b.WriteString("This is Hearth, a personal agent on your own machine. ")
	if s.Model.InUse == config.Offline {
		b.WriteString("No language model is connected: the built-in one (offline) understands reminders, memory and lists, and says so when it does not understand.")
	} else {
		fmt.Fprintf(&b, "The model in use is %s.", s.Model.InUse)
	}
	if s.Model.Note != "" {
		b.WriteString("\n" + string(s.Model.Note))
	}
	b.WriteString("\nTry: remind me in 1 minute to stretch\n     remember that my sister is allergic to nuts\n/help shows what else there is; Ctrl-D ends the chat.")
	return b.String()
}

// conversation is a chat on the side of who types.
type conversation struct {
	in      *invocation
	line    line
	waiting map[string]bool // messages that are not answered yet
	tty     bool
	width   int
}

// print shows what the agent says, and on a terminal puts the prompt behind it again.
func (c *conversation) print(words string) {
	words = terminal.Format(words, c.width)
	if c.tty {
		words = "\r\x1b[K" + words // over the prompt
	}
	fmt.Fprintln(c.in.out, words)
}

func (c *conversation) prompt() {
	if c.tty {
		fmt.Fprint(c.in.out, "> ")
	}
}

// arrived is an event, or why there are no more.
type arrived struct {
	event
	err error
}

// listen reads events until the line ends.
func (c *conversation) listen(ctx context.Context) <-chan arrived {
	out := make(chan arrived)
	go func() {
		for {
			e, err := c.line.next()
			select {
			case out <- arrived{e, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// show prints a part, and only then says that it has arrived.
func (c *conversation) show(ctx context.Context, e event) error {
	if e.Part == nil {
		return nil
	}
	c.print(e.Part.Text)
	return c.line.ack(ctx, e.Part.ID)
}

// once says one thing and leaves when it is answered, or a person has to answer something first.
func (c *conversation) once(ctx context.Context, words string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := c.listen(ctx)
	id := terminal.NewID()
	said := make(chan error, 1)
	go func() { said <- c.line.say(ctx, words, id) }() // what waited for this terminal is printed meanwhile
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-said:
			if err != nil {
				return err
			}
		case a := <-events:
			if a.err != nil {
				return a.err
			}
			if err := c.show(ctx, a.event); err != nil {
				return err
			}
			if s := a.Settled; s != nil && s.ID == id {
				return c.settled(s)
			}
		}
	}
}

// settled says what there is to say when no answer came.
func (c *conversation) settled(s *settlement) error {
	switch {
	case s.Held:
		return failed("Work is paused, so this waits: /resume lets it go on.")
	case s.State == vault.Waiting:
		return say(c.in.out, "Run %d waits for an answer: `hearth approvals` shows the question.", s.Run)
	}
	return nil
}

// loop says what is typed, line by line, until the end of input.
func (c *conversation) loop(ctx context.Context, parting func() string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, lines := c.listen(ctx), c.read(ctx)
	c.prompt()
	for {
		select {
		case <-ctx.Done(): // Ctrl-C ends a chat as Ctrl-D does
			return c.leave(parting)
		case words, open := <-lines:
			if !open {
				lines = nil
				if c.tty || len(c.waiting) == 0 {
					return c.leave(parting)
				}
				continue // somebody piped a script in and wants its answers
			}
			if err := c.typed(ctx, words); err != nil {
				return err
			}
		case a := <-events:
			if ctx.Err() != nil {
				return c.leave(parting)
			}
			if a.err != nil {
				return a.err
			}
			if err := c.show(ctx, a.event); err != nil {
				return err
			}
			if a.Settled != nil {
				delete(c.waiting, a.Settled.ID)
				if lines == nil && len(c.waiting) == 0 {
					return c.leave(parting)
				}
				continue
			}
			c.prompt()
		}
	}
}

func (c *conversation) typed(ctx context.Context, words string) error {
	if strings.TrimSpace(words) == "" {
		c.prompt()
		return nil
	}
	id := terminal.NewID()
	c.waiting[id] = true
	return c.line.say(ctx, words, id)
}

func (c *conversation) leave(parting func() string) error {
	words := parting()
	if n := len(c.waiting); n > 0 {
		words = fmt.Sprintf("What you asked last (%s) is answered when you come back. %s", plural(n, "message"), words)
	}
	c.print(strings.TrimSpace("Bye. " + words))
	return nil
}

// longestLine bounds what is typed in one go.
const longestLine = 1 << 20

// read gives the lines of the input; the channel is closed at its end.
func (c *conversation) read(ctx context.Context) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		scan := bufio.NewScanner(c.in.in)
		scan.Buffer(make([]byte, 0, 4096), longestLine)
		for scan.Scan() {
			select {
			case out <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// width is how many columns there are; 0 = do not wrap.
func width(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
