package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const canary = "CANARYOUTSIDE"

// desk is a workspace inside a home folder that holds things the model must not reach.
type desk struct {
	t     *testing.T
	home  string
	tools map[string]Tool
	log   strings.Builder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir(), tools: map[string]Tool{}}
	d.put("private/note.txt", canary)
	d.put("hearth.yaml", canary)
	d.put("workspace/plain.txt", "plain words")
	shelf := NewShelf(filepath.Join(d.home, "skills"), slog.New(slog.NewTextHandler(&d.log, nil)))
	tools, err := Builtin(Deps{Workspace: filepath.Join(d.home, "workspace"), Skills: shelf})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		d.tools[tool.Name] = tool
	}
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.home, name) }

func (d *desk) put(name, content string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) link(target, name string) {
	d.t.Helper()
	if err := os.Symlink(target, d.path(name)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) try(tool string, args map[string]string) (Result, error) {
	d.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	if raw, err = Canonical(d.tools[tool], raw); err != nil {
		return Result{}, err
	}
	return d.tools[tool].Run(context.Background(), Call{Key: "call:1"}, raw)
}

func (d *desk) do(tool string, args map[string]string) Result {
	d.t.Helper()
	res, err := d.try(tool, args)
	if err != nil {
		d.t.Fatalf("%s %v: %v", tool, args, err)
	}
	return res
}

func (d *desk) refuse(tool string, args map[string]string) string {
	d.t.Helper()
	res, err := d.try(tool, args)
	if err == nil {
		d.t.Fatalf("%s %v gave %q, it should be refused", tool, args, res.Text)
	}
	return err.Error()
}

// outside is all that lies beside the workspace, with contents.
func (d *desk) outside() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.path("workspace") {
			return errorOr(err, fs.SkipDir)
		}
		all[path] = ""
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			all[path] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

func errorOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// A folder that is a link the one moment and a folder the next is what a race between check and use looks like.
func TestWorkspaceIsMadeOnFirstUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "workspace")
	tools, err := Builtin(Deps{Workspace: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("it is there before anybody used it: %v", err)
	}
	set, err := NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := set.Named("list_files")
	res, err := list.Run(context.Background(), Call{}, []byte(`{}`))
	if err != nil || res.Text != "There are no files in the workspace." {
		t.Errorf("%q, %v", res.Text, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestWriteFileReplacesWholly(t *testing.T) {
	d := newDesk(t)
	res := d.do("write_file", map[string]string{"path": "lists/new/shopping.txt", "content": "milk\nbread\n"})
	if want := "Wrote lists/new/shopping.txt (11 bytes)."; res.Receipt != want {
		t.Errorf("receipt %q, expected %q", res.Receipt, want)
	}
	contains(t, res.Text, "Done. ", res.Receipt)
	d.do("write_file", map[string]string{"path": "./lists//new/shopping.txt", "content": "tea"})
	data, err := os.ReadFile(d.path("workspace/lists/new/shopping.txt"))
	if err != nil || string(data) != "tea" {
		t.Errorf("it holds %q, %v", data, err)
	}
	for name, mode := range map[string]fs.FileMode{"workspace/lists": 0o700, "workspace/lists/new": 0o700, "workspace/lists/new/shopping.txt": 0o600} {
		if info, err := os.Stat(d.path(name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if entries, err := os.ReadDir(d.path("workspace/lists/new")); err != nil || len(entries) != 1 {
		t.Errorf("something half-written is left: %v, %v", entries, err)
	}
	contains(t, d.refuse("write_file", map[string]string{"path": "lists", "content": "x"}), "is a folder")
	contains(t, d.refuse("write_file", map[string]string{"path": ".", "content": "x"}), "name of a file")
	contains(t, d.refuse("write_file", map[string]string{"path": "plain.txt/x", "content": "x"}), "a file, not a folder")
}

func TestWriteFileIsBounded(t *testing.T) {
	d := newDesk(t)
	contains(t, d.refuse("write_file", map[string]string{"path": "big.txt", "content": strings.Repeat("x", maxWrite+1)}), "1,048,577 bytes", "1,048,576")
	if _, err := os.Stat(d.path("workspace/big.txt")); !os.IsNotExist(err) {
		t.Errorf("it was written all the same: %v", err)
	}
	contains(t, d.do("write_file", map[string]string{"path": "big.txt", "content": strings.Repeat("x", maxWrite)}).Receipt, "1,048,576 bytes")
}

// The half-written file of a call that a power cut ended is taken away by its repeat, and lists never show one.
func TestWriteFileRepeatedAfterACrash(t *testing.T) {
	d := newDesk(t)
	d.do("write_file", map[string]string{"path": "a.txt", "content": "old"})
	root, err := os.OpenRoot(d.path("workspace"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := os.Mkdir(d.path("workspace/b.txt"), 0o700); err != nil { // a rename cannot replace it
		t.Fatal(err)
	}
	if err := replace(root, "b.txt", "call:1", []byte("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(d.path("workspace")); err != nil || len(entries) != 3 {
		t.Errorf("a failed write leaves something: %v, %v", entries, err)
	}
	d.put("workspace/"+tempPrefix+"00"+tempSuffix, "half")
	if listed := d.do("list_files", nil).Text; strings.Contains(listed, tempPrefix) {
		t.Errorf("a half-written file is listed: %q", listed)
	}
}

func TestWriteFileLeavesNoTempFileOfAnEarlierTry(t *testing.T) {
	d := newDesk(t)
	d.do("write_file", map[string]string{"path": "a.txt", "content": "x"})
	// The name follows from the call: one is put there as a crash would have left it, and as a link out of the workspace.
	temp := tempName("call:1", "a.txt")
	d.link(d.path("hearth.yaml"), "workspace/"+temp)
	d.do("write_file", map[string]string{"path": "a.txt", "content": "again"})
	if _, err := os.Lstat(d.path("workspace/" + temp)); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if data, err := os.ReadFile(d.path("hearth.yaml")); err != nil || string(data) != canary {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
}

func TestReadFileMissingNamesWhatIsThere(t *testing.T) {
	d := newDesk(t)
	d.put("workspace/sub/todo.txt", "x")
	d.put("workspace/odd\nname.txt", "x")
	contains(t, d.refuse("read_file", map[string]string{"path": "note.txt"}), "there is no note.txt in the workspace", "plain.txt", "sub/", `"odd\nname.txt"`)
	contains(t, d.refuse("read_file", map[string]string{"path": "sub/list.txt"}), "there is no sub/list.txt", "in sub there is: todo.txt")
	contains(t, d.refuse("read_file", map[string]string{"path": "no/such/list.txt"}), "plain.txt")
	contains(t, d.refuse("list_files", map[string]string{"path": "nowhere"}), "there is no nowhere")
	contains(t, d.refuse("list_files", map[string]string{"path": "plain.txt"}), "no folder", "read_file")
	contains(t, d.refuse("read_file", map[string]string{"path": "sub"}), "is a folder", "list_files")
}

func TestLOOP17ALongFileIsClippedWithANote(t *testing.T) {
	d := newDesk(t)
	d.put("workspace/long.txt", strings.Repeat("é", 40_800))
	got := d.do("read_file", map[string]string{"path": "long.txt"}).Text
	head, body, _ := strings.Cut(got, "\n")
	if want := "long.txt (shown 16,000 of 40,800 characters; long.txt#16000 goes on):"; head != want {
		t.Errorf("the note is %q, expected %q", head, want)
	}
	if body != strings.Repeat("é", 16_000) {
		t.Errorf("%d bytes are shown", len(body))
	}
	d.put("workspace/exact.txt", strings.Repeat("é", 16_000))
	if got := d.do("read_file", map[string]string{"path": "exact.txt"}).Text; !strings.HasPrefix(got, "exact.txt:\n") {
		t.Errorf("a file that fits begins with %.60q", got)
	}
	d.put("workspace/huge.txt", strings.Repeat("日本", 1_000_000))
	head, body, _ = strings.Cut(d.do("read_file", map[string]string{"path": "huge.txt"}).Text, "\n")
	if want := "huge.txt (shown the first 16,000 characters of 6,000,000 bytes; huge.txt#16000 goes on):"; head != want {
		t.Errorf("the note is %q, expected %q", head, want)
	}
	if body != strings.Repeat("日本", 8_000) {
		t.Errorf("%d bytes are shown", len(body))
	}
}

func TestReadFileOfEveryKind(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct{ content, want string }{
		"empty.txt":  {"", "empty.txt is empty."},
		"bom.txt":    {"\ufeffhello", "bom.txt:\nhello"},
		"onlybom":    {"\ufeff", "onlybom is empty."},
		"crlf.txt":   {"a\r\nb", "crlf.txt:\na\r\nb"},
		"emoji.txt":  {"🎉", "emoji.txt:\n🎉"},
		"image.png":  {"\x89PNG\r\n\x1a\n\x00\x00", "image.png is not text but other data, 10 bytes of it; it cannot be shown"},
		"nul.txt":    {"a\x00b", "nul.txt is not text but other data, 3 bytes of it; it cannot be shown"},
		"latin1.txt": {"caf\xe9", "latin1.txt is not text but other data, 4 bytes of it; it cannot be shown"},
		"cut.txt":    {"日\xe6\x97", "cut.txt is not text but other data, 5 bytes of it; it cannot be shown"},
	} {
		d.put("workspace/"+name, c.content)
		res, err := d.try("read_file", map[string]string{"path": name})
		got := res.Text
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}

func TestReadFileKeepsToItsLimit(t *testing.T) {
	d := newDesk(t)
	tools, err := Builtin(Deps{Workspace: d.path("workspace"), MaxRead: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		d.tools[tool.Name] = tool
	}
	if got, want := d.do("read_file", map[string]string{"path": "plain.txt"}).Text, "plain.txt (shown 5 of 11 characters; plain.txt#5 goes on):\nplain"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

func TestListFilesIsBounded(t *testing.T) {
	d := newDesk(t)
	for i := range maxListed + 5 {
		d.put(fmt.Sprintf("workspace/many/%03d", i), "x")
	}
	lines := strings.Split(d.do("list_files", map[string]string{"path": "many/"}).Text, "\n")
	if len(lines) != maxListed+2 || lines[0] != "Files in many:" || lines[1] != "000 (1 bytes)" || lines[maxListed+1] != "and 5 more" {
		t.Errorf("%d lines: %q … %q", len(lines), lines[:2], lines[len(lines)-1])
	}
	contains(t, d.refuse("read_file", map[string]string{"path": "many/x"}), "000, 001", "and 193 more")
}
