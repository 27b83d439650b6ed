package skills

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSEC14NothingOutsideTheWorkspaceIsReached(t *testing.T) {
	d := newDesk(t)
	d.link(d.path("private"), "workspace/dir")
	d.link(d.path("private/note.txt"), "workspace/file.txt")
	d.link(d.path("workspace/dir"), "workspace/chain")
	d.link("../private", "workspace/relative")
	d.link("..", "workspace/up")
	d.link(d.home, "workspace/home")
	d.link("dir/note.txt", "workspace/through")
	d.link("loop", "workspace/loop")
	d.link("/", "workspace/rootdir")
	d.link(d.path("private/new.txt"), "workspace/dangling.txt")
	d.put("workspace/sub/x.txt", "x")
	d.link("../../private/note.txt", "workspace/sub/deep.txt")
	before := d.outside()
	hostile := []string{
		"..", "../", "../private/note.txt", "../hearth.yaml", "../../../../../../etc/passwd", "sub/../../hearth.yaml", "./../hearth.yaml", "sub/../../private",
		"/etc/passwd", d.path("hearth.yaml"), d.path("private"), "//etc/passwd", "~/hearth.yaml", "~root", "..\\hearth.yaml", "sub\\..\\..\\hearth.yaml",
		"plain.txt\x00/../../hearth.yaml", "\x00", "plain\n.txt", "a\x1b[2Jb",
		"dir", "dir/note.txt", "dir/new.txt", "file.txt", "chain", "chain/note.txt", "chain/new.txt", "relative/note.txt", "relative/new.txt", "up/hearth.yaml", "up/new.txt",
		"home/hearth.yaml", "through", "loop", "loop/x", "rootdir/etc/passwd", "dangling.txt", "sub/deep.txt", "up/workspace/plain.txt",
		strings.Repeat("x", 256), strings.Repeat("é", 128), strings.Repeat("d/", 600) + "x", "plain.txt/x", "plain.txt/../../hearth.yaml", "",
		"   ", ".hearth-0011223344556677.tmp",
	}
	for _, p := range hostile {
		t.Run(fmt.Sprintf("%.40q", p), func(t *testing.T) {
			for _, c := range []struct {
				tool string
				args map[string]string
			}{
				{"read_file", map[string]string{"path": p}},
				{"list_files", map[string]string{"path": p}},
				{"write_file", map[string]string{"path": p, "content": "pwned"}},
			} {
				if c.tool == "list_files" && strings.TrimSpace(p) == "" {
					continue // the top, which may be listed
				}
				res, err := d.try(c.tool, c.args)
				if err == nil {
					t.Errorf("%s gave %q, it should be refused", c.tool, res.Text)
					continue
				}
				said := err.Error()
				if strings.Contains(said, canary) || len(said) > 700 || strings.ContainsAny(said, "\x00\x1b\n") {
					t.Errorf("%s says %q", c.tool, said)
				}
				if strings.Contains(said, "private") && !strings.Contains(p, "private") {
					t.Errorf("%s tells where a link leads: %q", c.tool, said)
				}
			}
		})
	}
	if diff := cmp.Diff(before, d.outside()); diff != "" {
		t.Errorf("outside the workspace something changed:\n%s", diff)
	}
	if got := d.do("read_file", map[string]string{"path": "plain.txt"}).Text; got != "plain.txt:\nplain words" {
		t.Errorf("an honest file reads %q", got)
	}
	listed := d.do("list_files", nil).Text
	contains(t, listed, "file.txt (a link)", "plain.txt (11 bytes)", "sub/")
	if strings.Contains(listed, "note.txt") || strings.Contains(listed, "private") {
		t.Errorf("the list follows links: %q", listed)
	}
}

func TestPathThatIsRefusedSaysWhatToGive(t *testing.T) {
	for p, want := range map[string]string{
		"a\xff":                   "plain one such as notes.txt",
		"a\u0000b":                "plain one such as notes.txt",
		"":                        "is empty; give one",
		"/etc/passwd":             "outside the workspace; give a path inside it",
		"~/notes.txt":             "outside the workspace; give a path inside it",
		"../notes.txt":            "leads out of the workspace; give a path inside it",
		`a\b`:                     "divided by /",
		strings.Repeat("x", 256):  "give one of less than 255 bytes",
		strings.Repeat("x/", 600): "the path is 1,200 bytes long and may have 1,000",
		".hearth-1.tmp":           "uses itself",
	} {
		_, err := localPath(p)
		if err == nil {
			t.Errorf("%.20q is taken", p)
			continue
		}
		contains(t, err.Error(), want)
	}
}

func TestLinksInsideTheWorkspaceAreRead(t *testing.T) {
	d := newDesk(t)
	d.link("plain.txt", "workspace/alias.txt")
	contains(t, d.do("read_file", map[string]string{"path": "alias.txt"}).Text, "plain words")
	contains(t, d.refuse("write_file", map[string]string{"path": "alias.txt", "content": "x"}), "is a link", "another name")
}

func TestSEC14ALinkSwappedBetweenCheckAndUse(t *testing.T) {
	d := newDesk(t)
	d.put("workspace/real/note.txt", "honest")
	d.link(d.path("private"), "workspace/evil")
	before := d.outside()
	var stop atomic.Bool
	swapped := make(chan error, 1)
	go func() {
		flip := d.path("workspace/flip")
		for !stop.Load() {
			for _, target := range []string{"real", "evil"} {
				if err := os.Symlink(target, flip+".new"); err != nil {
					swapped <- err
					return
				}
				if err := os.Rename(flip+".new", flip); err != nil {
					swapped <- err
					return
				}
				runtime.Gosched()
			}
		}
		swapped <- nil
	}()
	honest := 0
	for range 1500 {
		if res, err := d.try("read_file", map[string]string{"path": "flip/note.txt"}); err == nil {
			honest++
			if strings.Contains(res.Text, canary) {
				t.Fatal("the file outside was read")
			}
		}
		if res, err := d.try("list_files", map[string]string{"path": "flip"}); err == nil && strings.Contains(res.Text, canary) {
			t.Fatal("the folder outside was listed")
		}
	}
	for i := range 100 {
		_, _ = d.try("write_file", map[string]string{"path": fmt.Sprintf("flip/w%d.txt", i), "content": "pwned"}) // either way is fine, as long as nothing outside changes
	}
	stop.Store(true)
	if err := <-swapped; err != nil {
		t.Fatal(err)
	}
	if honest == 0 {
		t.Error("the honest folder was never met: the test shows nothing")
	}
	if diff := cmp.Diff(before, d.outside()); diff != "" {
		t.Errorf("outside the workspace something changed:\n%s", diff)
	}
}

func TestPipesAndDevicesAreNotOpened(t *testing.T) {
	d := newDesk(t)
	if err := syscall.Mkfifo(d.path("workspace/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	socket, err := lc.Listen(context.Background(), "unix", d.path("workspace/socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	for _, name := range []string{"pipe", "socket"} { // opening a pipe without a writer would wait for ever
		contains(t, d.refuse("read_file", map[string]string{"path": name}), "not an ordinary file")
		contains(t, d.refuse("list_files", map[string]string{"path": name}), "no folder")
		contains(t, d.refuse("write_file", map[string]string{"path": name, "content": "x"}), "not an ordinary file")
	}
	contains(t, d.do("list_files", nil).Text, "pipe (no ordinary file)")
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"plain.txt", "../x", "a/../b", "/etc/passwd", "dir/note.txt", "a\x00b", "~", ".", "..", "a//b/./c", "\\..\\x", "sub/", strings.Repeat("a/", 300), " x ", "日本.txt", "flip/../../x"} {
		f.Add(seed)
	}
	home, err := os.MkdirTemp("", "hearth-fuzz")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(home) })
	dir := filepath.Join(home, "workspace")
	if err := os.MkdirAll(filepath.Join(home, "private"), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "private", "note.txt"), []byte(canary), 0o600); err != nil {
		f.Fatal(err)
	}
	w := workspace{dir: dir, maxRead: 100}
	f.Fuzz(func(t *testing.T, p string) {
		if err := errorOr(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(home, "private"), filepath.Join(dir, "dir")); err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		_, wrote := w.writeFile(ctx, Call{Key: "k"}, writeFileArgs{Path: p, Content: "written"})
		read, err := w.readFile(ctx, Call{}, readFileArgs{Path: p})
		if wrote == nil && (err != nil || !strings.HasSuffix(read.Text, ":\nwritten")) {
			t.Errorf("%q was written and reads %q, %v", p, read.Text, err)
		}
		list, _ := w.listFiles(ctx, Call{}, listFilesArgs{Path: p})
		if strings.Contains(read.Text+list.Text, canary) || strings.Contains(list.Text, "note.txt") && !strings.Contains(p, "note.txt") {
			t.Errorf("%q reaches outside: %q %q", p, read.Text, list.Text)
		}
		entries, err := os.ReadDir(home)
		if err != nil || len(entries) != 2 {
			t.Errorf("%q: beside the workspace there is now %v, %v", p, entries, err)
		}
		if data, err := os.ReadFile(filepath.Join(home, "private", "note.txt")); err != nil || string(data) != canary {
			t.Errorf("%q changed the file outside: %q, %v", p, data, err)
		}
	})
}
