package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A while after its last work the program holds a good deal less than just after it, and works on.
func TestMemoryIsGivenBackWhenItIsQuiet(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not tell the memory of a process")
	}
	h := newHome(t, "", "")
	p := h.daemon()
	ana := h.open("Ana")
	for n := range 20 {
		ana.ask("remember that box "+strconv.Itoa(n)+" is full", fmt.Sprint("m", n))
	}
	busy := resident(t, p.cmd.Process.Pid)
	eventually(t, "memory is given back", func() bool { return resident(t, p.cmd.Process.Pid) < busy*9/10 })
	if got := ana.ask("what do you know about box 7?", "q"); !strings.Contains(got, "box 7 is full") {
		t.Errorf("afterwards it answers %q", got)
	}
}

// resident is the memory of a process in kB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB
}
