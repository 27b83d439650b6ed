package vault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func wantLocked(t *testing.T, dir string, words ...string) {
	t.Helper()
	_, err := Open(t.Context(), dir, Options{Holder: "hearth chat"})
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("error is %v", err)
	}
	contains(t, "the holder", locked.Holder, words...)
	contains(t, "the error", err.Error(), append(words, dir)...)
}

func TestDUR17SecondOpenNamesTheFirst(t *testing.T) {
	h := newEmpty(t, Options{Holder: "hearth run"})
	wantLocked(t, h.folder, fmt.Sprintf("hearth run, process %d", os.Getpid()))
	check(t, h.Set(t.Context(), "a", "b")) // and the first works on
	check(t, h.Close())
	h.open()
}

func TestDUR17AnotherProcessIsNamed(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "VAULT_TEST_HOLD="+dir)
	must(cmd.StdinPipe())(t) // it holds the vault until this ends
	stdout := must(cmd.StdoutPipe())(t)
	check(t, cmd.Start())
	line := must(bufio.NewReader(stdout).ReadString('\n'))(t)
	if line != "held\n" {
		t.Fatalf("the other process says %q", line)
	}
	wantLocked(t, dir, fmt.Sprintf("hearth run, process %d", cmd.Process.Pid))
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()                                  // it was killed
	v := must(Open(t.Context(), dir, Options{}))(t) // its lock died with it
	check(t, v.Close())
}

func TestWaitTakesTheVaultWhenItIsGivenBack(t *testing.T) {
	h := newEmpty(t, Options{})
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error, 1)
		second := &Vault{dir: h.folder}
		go func() { done <- second.takeLock(t.Context(), Options{Wait: time.Minute}) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Errorf("it did not wait: %v", err)
			return
		default:
		}
		check(t, h.Close())
		check(t, <-done)
		check(t, second.Close())
	})
	h.open()
}

func TestHoldKeepsOthersOutWithoutOpeningTheFile(t *testing.T) {
	dir := t.TempDir()
	release := must(Hold(t.Context(), dir, Options{Holder: "hearth restore"}))(t)
	wantLocked(t, dir, "hearth restore")
	_, err := Hold(t.Context(), dir, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Errorf("error is %v", err)
	}
	equal(t, "files", len(files(t, dir)), 0)
	check(t, release())
	v := must(Open(t.Context(), dir, Options{}))(t)
	check(t, v.Close())
}

func TestWaitEnds(t *testing.T) {
	h := newEmpty(t, Options{Holder: "hearth run"})
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		v := &Vault{dir: h.folder}
		err := v.takeLock(t.Context(), Options{Wait: 10 * time.Second})
		var locked *LockedError
		if !errors.As(err, &locked) || !strings.Contains(locked.Holder, "hearth run") {
			t.Errorf("error is %v", err)
		}
		if waited := time.Since(begun); waited < 9*time.Second || waited > 11*time.Second {
			t.Errorf("waited %s", waited)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, h.folder, Options{Wait: time.Minute})
	wantErr(t, err, context.Canceled)
}
