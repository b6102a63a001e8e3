package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A database file is told apart from a copy, an older state and another database
// by the first 100 bytes of its first page. Two fields of them are ours:
//
//   - application_id: 16 bits that mark a file as ours, and 16 random bits, the
//     instance, which a new database and each backup get anew;
//   - user_version: the schema's version in the low 8 bits, and a generation of 23
//     bits, which every commit that writes increases.
//
// Every commit therefore has page 1 in the write-ahead log, and every checkpoint of the
// whole log writes a new header into the file. One that a reader limits to the log's
// beginning may write other pages only, since it writes the latest version of each page or
// none; the log's index counts it (see progress). So the file fits the log beside it if
// its header is one of those in the log, or has the generation just before the log's first
// one; and while it is open, its generation never decreases.
const (
	headerSize      = 100
	pageSize        = 4096
	logHeaderSize   = 32
	frameHeaderSize = 24
	frameSize       = frameHeaderSize + pageSize
	generations     = 1 << 23
)

// header is the beginning of a database file (https://sqlite.org/fileformat.html,
// section 1.3). The zero value stands for an empty file.
type header [headerSize]byte

func (h header) field(offset int) uint32 { return binary.BigEndian.Uint32(h[offset:]) }

func (h header) pages() int64       { return int64(h.field(28)) }
func (h header) generation() uint32 { return h.field(60) >> 8 & (generations - 1) }
func (h header) instance() uint32   { return h.field(68) }
func (h header) isDatabase() bool   { return bytes.HasPrefix(h[:], []byte("SQLite format 3\x00")) }

// isUnnumbered reports a database without a generation: it has just been created, or
// a version of this program before generations wrote it.
func (h header) isUnnumbered() bool {
	isNew := h.field(40) == 0 && h.instance() == 0 // it has no schema; what was written to it since is in the log
	return h.isDatabase() && h.generation() == 0 && (isNew || h.instance()>>16 == applicationMark)
}

// isLater reports whether a generation comes after another one. They start at random
// and wrap around, without 0.
func isLater(a, b uint32) bool { return a != b && (a-b)%generations < generations/2 }

func nextGeneration(g uint32) uint32 { return max(1, (g+1)%generations) }

// look is what can be seen of a file's content at little cost.
type look struct {
	header
	size     int64
	modified int64 // in Unix nanoseconds
}

// isWhole reports a database file with all its pages.
func (l look) isWhole() bool { return l.isDatabase() && l.size >= l.pages()*pageSize }

// lookAt looks at a file. One that is too short has the zero header.
func lookAt(f *os.File) (l look, err error) {
	info, err := f.Stat()
	if err != nil {
		return look{}, err
	}
	l.size, l.modified = info.Size(), info.ModTime().UnixNano()
	if _, err = f.ReadAt(l.header[:], 0); errors.Is(err, io.EOF) {
		l.header, err = header{}, nil
	}
	return l, err
}

// log is what a write-ahead log holds (https://sqlite.org/fileformat.html, section
// 4). Frames that a rolled-back transaction has left at its end count too.
type log struct {
	prefix  [logHeaderSize]byte
	headers []header       // of page 1, in order
	pages   map[int64]bool // the pages that have a frame
	progress
}

// readLog reads a log, which may not exist: it has no headers then.
func readLog(path string) (l log, err error) {
	f, err := os.Open(path) // SQLite keeps no locks on this file
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer f.Close()
	if _, err := f.ReadAt(l.prefix[:], 0); err != nil || binary.BigEndian.Uint32(l.prefix[8:]) != pageSize {
		return log{}, nil // a log that was not begun
	}
	salts := l.prefix[16:24]
	l.pages = map[int64]bool{}
	for at := int64(logHeaderSize); ; at += frameSize {
		var frame [frameHeaderSize]byte
		if _, err := f.ReadAt(frame[:], at); err != nil || !bytes.Equal(frame[8:16], salts) {
			return l, nil // its end
		}
		page := int64(binary.BigEndian.Uint32(frame[:]))
		l.pages[page] = true
		if page == 1 {
			var h header
			if _, err := f.ReadAt(h[:], at+frameHeaderSize); err != nil {
				return l, nil // its end
			}
			l.headers = append(l.headers, h)
		}
	}
}

// progress counts the frames of the log that checkpoints have moved into the file, from the
// index beside it (https://sqlite.org/walformat.html, section 2.1). They are zero again when
// the log begins anew.
type progress struct{ moved, attempted uint32 }

// readProgress reads the progress. Without an index nothing is in progress.
func readProgress(index *os.File) (progress, error) {
	if index == nil {
		return progress{}, nil
	}
	// Not in one piece: where locks are mandatory, SQLite's lie between the two.
	var moved, attempted [4]byte
	for _, part := range []struct {
		data   []byte
		offset int64
	}{{moved[:], 96}, {attempted[:], 128}} {
		if _, err := index.ReadAt(part.data, part.offset); errors.Is(err, io.EOF) {
			return progress{}, nil // it was not begun
		} else if err != nil {
			return progress{}, err
		}
	}
	return progress{binary.NativeEndian.Uint32(moved[:]), binary.NativeEndian.Uint32(attempted[:])}, nil
}

// examine looks at a file and reads the log beside it and its progress. The file was the
// same before and after reading them, unless it changes all the time.
func examine(h *handle, logPath string) (now look, l log, err error) {
	before, err := lookAt(h.file)
	for range 100 {
		if err != nil {
			break
		}
		if l, err = readLog(logPath); err != nil {
			break
		}
		var index *os.File
		if index, err = h.index(strings.TrimSuffix(logPath, "-wal") + "-shm"); err != nil {
			break
		}
		if l.progress, err = readProgress(index); err != nil {
			break
		}
		if now, err = lookAt(h.file); now == before {
			break
		}
		before = now
	}
	return now, l, err
}

// has reports whether a checkpoint of the log may have written a header.
func (l log) has(h header) bool { return slices.Contains(l.headers, h) }

// fits reports whether a file with this header is the one that the log belongs to.
func (l log) fits(h header) bool {
	if len(l.headers) == 0 {
		return true
	}
	first := l.headers[0]
	if first.isUnnumbered() || h.isUnnumbered() {
		return true
	}
	return l.has(h) || h.isDatabase() && h.instance() == first.instance() && nextGeneration(h.generation()) == first.generation()
}

// completes reports whether each page that a file of a size lacks is in the log.
func (l log) completes(f look) bool {
	for page := f.size/pageSize + 1; page <= f.pages(); page++ {
		if !l.pages[page] {
			return false
		}
	}
	return true
}

// advance increases the generation of the database within a transaction.
func (s *session) advance() error {
	ctx := context.Background()
	current, err := readUserVersion(ctx, s)
	if err != nil {
		return err
	}
	next := userVersion(nextGeneration(current>>8), int(current&0xff))
	// Not by s.ExecContext, which keeps each statement.
	_, err = s.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, next))
	return err
}

// renew gives the file of a backup, which nobody has open, an identity of its own.
func renew(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	h, err := lookAt(f)
	if err == nil && h.instance()>>16 == applicationMark && h.generation() != 0 {
		application, generation := newIdentity()
		_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, userVersion(generation, int(h.field(60)&0xff))), 60)
		if err == nil {
			_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, application), 68)
		}
	}
	return errors.Join(err, f.Close())
}
