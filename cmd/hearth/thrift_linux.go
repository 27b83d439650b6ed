package main

import (
	"debug/elf"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapIdleCode has the kernel forget that this process has read its own code and constants: at the start nearly all of it is
// read once, and then little. The pages stay in the system's cache, and one that is needed again comes from there. Only what
// the program's file declares unwritable is unmapped: nothing else could be read anew.
func unmapIdleCode() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	var progs []elf.ProgHeader
	for _, p := range f.Progs {
		progs = append(progs, p.ProgHeader)
	}
	for _, s := range unwritable(string(maps), path, progs, uint64(os.Getpagesize())) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(s.begin), uintptr(s.end-s.begin), unix.MADV_DONTNEED) // without success nothing is lost
	}
}

// stretch is a piece of a process's addresses.
type stretch struct{ begin, end uint64 }

// unwritable finds in a list as /proc/self/maps is one (proc_pid_maps(5)) where a program's file is mapped, without what is
// writable, or was once: the loader writes into some of it, such as the table of addresses, which lies in a segment that is
// writable by the file.
func unwritable(maps, path string, progs []elf.ProgHeader, page uint64) (out []stretch) {
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasSuffix(line, " "+path+"\n") || strings.Contains(fields[1], "w") { // a path may hold blanks
			continue
		}
		from, to, ok := strings.Cut(fields[0], "-")
		begin, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		offset, err3 := strconv.ParseUint(fields[2], 16, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		for _, p := range progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W == 0 && offset >= p.Off/page*page && offset+(end-begin) <= (p.Off+p.Filesz+page-1)/page*page {
				out = append(out, stretch{begin, end})
			}
		}
	}
	return out
}
