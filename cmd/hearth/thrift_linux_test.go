package main

import (
	"debug/elf"
	"os"
	"slices"
	"testing"
)

// Only what can be read anew from the program's own file is let go of.
func TestOnlyWhatCanBeReadAnewIsLetGo(t *testing.T) {
	const maps = `00400000-00403000 r--p 00000000 fe:00 9988802                            /opt/my agent/hearth
00403000-00e89000 r-xp 00003000 fe:00 9988802                            /opt/my agent/hearth
00e89000-01a3e000 r--p 00a89000 fe:00 9988802                            /opt/my agent/hearth
01a3e000-01a41000 r--p 0163e000 fe:00 9988802                            /opt/my agent/hearth
01a41000-01bd9000 rw-p 01641000 fe:00 9988802                            /opt/my agent/hearth
02000000-02003000 rwxp 00003000 fe:00 9988802                            /opt/my agent/hearth
7f7d80a76000-7f7d80bcc000 r-xp 00026000 fe:00 1234                       /usr/lib/x86_64-linux-gnu/libc.so.6
7f7d80c00000-7f7d80c10000 r-xp 00000000 00:00 0
nonsense
xx-yy r-xp 00003000 fe:00 9988802                                        /opt/my agent/hearth
`
	progs := []elf.ProgHeader{
		{Type: elf.PT_LOAD, Flags: elf.PF_R, Off: 0, Filesz: 0x2308},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Off: 0x3000, Filesz: 0xa85841},
		{Type: elf.PT_LOAD, Flags: elf.PF_R, Off: 0xa89000, Filesz: 0xbb4c60},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Off: 0x163e150, Filesz: 0x19a3f1},
		{Type: elf.PT_GNU_STACK, Flags: elf.PF_R, Off: 0, Filesz: 0x2000000},
	}
	want := []stretch{{0x400000, 0x403000}, {0x403000, 0xe89000}, {0xe89000, 0x1a3e000}}
	if got := unwritable(maps, "/opt/my agent/hearth", progs, 4096); !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

// The list of this very process is read as it is meant.
func TestTheProgramFindsItself(t *testing.T) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	all := []elf.ProgHeader{{Type: elf.PT_LOAD, Flags: elf.PF_R, Filesz: 1 << 40}}
	if len(unwritable(string(maps), path, all, uint64(os.Getpagesize()))) == 0 {
		t.Errorf("nothing of %s is mapped:\n%s", path, maps)
	}
}
