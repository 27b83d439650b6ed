package main

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// disk is a block device with a cache, as a file system in user space: what was written and not flushed is in the cache, and
// a power cut leaves any part of it, in sectors. Names are durable at once, which is harsher than most disks: a file that is
// renamed before it is flushed is found empty.
type disk struct {
	t     *testing.T
	mount string

	mu    sync.Mutex
	root  *fusefs.Inode
	lies  bool          // flushes are answered and not done
	fails syscall.Errno // what every write comes to; 0 = it works
	off   bool          // the power is cut
}

const sector = 512

// write is a change of a file that is not flushed yet.
type write struct {
	at       int64
	data     []byte
	truncate bool // to at
}

func (w write) apply(b []byte) []byte {
	size := int(w.at) + len(w.data)
	if w.truncate {
		size = int(w.at)
		b = b[:min(len(b), size)]
	}
	if size > len(b) {
		b = append(b, make([]byte, size-len(b))...)
	}
	copy(b[w.at:], w.data)
	return b
}

// newDisk mounts a disk that holds what stands in folder, all of it flushed.
func newDisk(t *testing.T, folder string) *disk {
	t.Helper()
	d := &disk{t: t, mount: t.TempDir()}
	top := &diskFolder{disk: d}
	server, err := fusefs.Mount(d.mount, top, &fusefs.Options{
		MountOptions: fuse.MountOptions{DirectMount: true, FsName: "powercut"},
		OnAdd: func(ctx context.Context) {
			d.root = top.EmbeddedInode()
			d.load(ctx, folder)
		},
	})
	if err != nil {
		t.Skipf("power cannot be cut here: a file system in user space cannot be mounted (%v)", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			_ = syscall.Unmount(d.mount, syscall.MNT_DETACH)
		}
	})
	return d
}

func (d *disk) load(ctx context.Context, folder string) {
	at := map[string]*fusefs.Inode{".": d.root}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		name, rerr := filepath.Rel(folder, path)
		if err != nil || rerr != nil || name == "." {
			return err
		}
		parent := at[filepath.Dir(name)]
		if e.IsDir() {
			child := parent.NewPersistentInode(ctx, &diskFolder{disk: d}, fusefs.StableAttr{Mode: fuse.S_IFDIR})
			parent.AddChild(e.Name(), child, true)
			at[name] = child
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		body, err := os.ReadFile(path)
		file := &diskFile{disk: d, seen: body, flushed: append([]byte{}, body...)}
		parent.AddChild(e.Name(), parent.NewPersistentInode(ctx, file, fusefs.StableAttr{Mode: fuse.S_IFREG}), true)
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
}

// fail has every write come to an error from now on; 0 ends that.
func (d *disk) fail(errno syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = errno
}

// cut takes the power away and writes what is found afterwards to a new folder.
func (d *disk) cut(random *rand.Rand) (folder string) {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	folder = d.t.TempDir()
	if err := d.leave(d.root, folder, random); err != nil {
		d.t.Fatal(err)
	}
	return folder
}

func (d *disk) leave(at *fusefs.Inode, to string, random *rand.Rand) error {
	for name, child := range at.Children() {
		path := filepath.Join(to, name)
		if child.Mode() == syscall.S_IFSOCK {
			continue
		}
		file, ok := child.Operations().(*diskFile)
		if !ok {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
			if err := d.leave(child, path, random); err != nil {
				return err
			}
			continue
		}
		body, mode := append([]byte{}, file.flushed...), random.IntN(4)
		for _, w := range file.cache {
			if mode == 1 || mode > 1 && random.IntN(2) == 0 { // 0: none of it was written, 1: all
				body = w.apply(body)
			}
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// denied is what a change comes to. The disk is locked.
func (d *disk) denied() syscall.Errno {
	if d.off {
		return syscall.EIO
	}
	return d.fails
}

type diskFile struct {
	fusefs.Inode
	disk          *disk
	seen, flushed []byte // as the programs see it, and as the power cut finds it
	cache         []write
}

func (f *diskFile) Open(context.Context, uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

func (f *diskFile) Getattr(_ context.Context, _ fusefs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	out.Mode, out.Size = 0o600, uint64(len(f.seen))
	return 0
}

func (f *diskFile) Setattr(ctx context.Context, h fusefs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		f.disk.mu.Lock()
		errno := f.disk.denied()
		if errno == 0 {
			f.put(write{at: int64(size), truncate: true})
		}
		f.disk.mu.Unlock()
		if errno != 0 {
			return errno
		}
	}
	return f.Getattr(ctx, h, out)
}

func (f *diskFile) put(w write) {
	f.seen, f.cache = w.apply(f.seen), append(f.cache, w)
}

func (f *diskFile) Read(_ context.Context, _ fusefs.FileHandle, dest []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if at >= int64(len(f.seen)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(dest[:copy(dest, f.seen[at:])]), 0
}

func (f *diskFile) Write(_ context.Context, _ fusefs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if errno := f.disk.denied(); errno != 0 {
		return 0, errno
	}
	data = append([]byte{}, data...)
	for i := 0; i < len(data); i += sector {
		f.put(write{at: at + int64(i), data: data[i:min(i+sector, len(data))]})
	}
	return uint32(len(data)), 0
}

func (f *diskFile) Flush(context.Context, fusefs.FileHandle) syscall.Errno { return 0 }

func (f *diskFile) Fsync(context.Context, fusefs.FileHandle, uint32) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if errno := f.disk.denied(); errno != 0 {
		return errno
	}
	if f.disk.lies {
		return 0
	}
	for _, w := range f.cache {
		f.flushed = w.apply(f.flushed)
	}
	f.cache = nil
	return 0
}

type diskFolder struct {
	fusefs.Inode
	disk *disk
}

func (r *diskFolder) Fsync(context.Context, fusefs.FileHandle, uint32) syscall.Errno { return 0 }

func (r *diskFolder) denied() syscall.Errno {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	return r.disk.denied()
}

func (r *diskFolder) Create(ctx context.Context, name string, _, _ uint32, out *fuse.EntryOut) (*fusefs.Inode, fusefs.FileHandle, uint32, syscall.Errno) {
	if errno := r.denied(); errno != 0 {
		return nil, nil, 0, errno
	}
	child := r.NewPersistentInode(ctx, &diskFile{disk: r.disk}, fusefs.StableAttr{Mode: fuse.S_IFREG})
	r.AddChild(name, child, true)
	out.Mode = 0o600
	return child, nil, 0, 0
}

func (r *diskFolder) Mkdir(ctx context.Context, name string, _ uint32, _ *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if errno := r.denied(); errno != 0 {
		return nil, errno
	}
	return r.NewPersistentInode(ctx, &diskFolder{disk: r.disk}, fusefs.StableAttr{Mode: fuse.S_IFDIR}), 0
}

// Mknod makes the socket.
func (r *diskFolder) Mknod(ctx context.Context, _ string, mode, _ uint32, _ *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	return r.NewPersistentInode(ctx, &diskSocket{}, fusefs.StableAttr{Mode: mode & syscall.S_IFMT}), r.denied()
}

// diskSocket is where a process listens; nothing is written to it.
type diskSocket struct{ fusefs.Inode }

func (s *diskSocket) Getattr(_ context.Context, _ fusefs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = 0o600
	return 0
}

func (s *diskSocket) Setattr(ctx context.Context, h fusefs.FileHandle, _ *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return s.Getattr(ctx, h, out)
}

func (r *diskFolder) Unlink(context.Context, string) syscall.Errno { return r.denied() }

func (r *diskFolder) Rename(context.Context, string, fusefs.InodeEmbedder, string, uint32) syscall.Errno {
	return r.denied()
}

// Statfs tells of a disk with room.
func (r *diskFolder) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.Blocks, out.Bfree, out.Bavail = 4096, 4096, 1<<20, 1<<19, 1<<19
	return 0
}
