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
	page := uint64(os.Getpagesize())
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasSuffix(line, " "+path+"\n") || fields[1][1] == 'w' {
			continue
		}
		from, to, ok := strings.Cut(fields[0], "-")
		begin, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		offset, err3 := strconv.ParseUint(fields[2], 16, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		for _, p := range f.Progs {
			// What the loader has written to, such as the table of addresses, lies in a segment that is writable by the file.
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W != 0 || offset < p.Off/page*page || offset+(end-begin) > (p.Off+p.Filesz+page-1)/page*page {
				continue
			}
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED) // without success nothing is lost
		}
	}
}
