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

const (
	headerSize         = 100
	pageSize           = 4096
	walHeaderSize      = 32
	walMagic           = 0x377f0682 // its last bit is the byte order of checksums
	walFrameHeaderSize = 24
	walFrameSize       = walFrameHeaderSize + pageSize
	generations        = 1 << 23
)

// header is the beginning of a database file (https://sqlite.org/fileformat.html,
// section 1.3). The zero value stands for an empty file.
type header [headerSize]byte

func (h header) field(offset int) uint32 { return binary.BigEndian.Uint32(h[offset:]) }

func (h header) pages() int64       { return int64(h.field(28)) }
func (h header) generation() uint32 { return h.field(60) >> 8 & (generations - 1) }
func (h header) instance() uint32   { return h.field(68) }
func (h header) isDatabase() bool   { return bytes.HasPrefix(h[:], []byte("SQLite format 3\x00")) }

// isNew reports a database without a schema: what was written to it is in the WAL.
func (h header) isNew() bool {
	return h.isDatabase() && h.field(40) == 0 && h.generation() == 0 && h.instance() == 0
}

// checkProgram returns an error if the file is not a database of this program. An empty
// file may become one.
func (s fileState) checkProgram() error {
	switch mark := s.instance() >> 16; {
	case s.size == 0, s.isNew():
		return nil
	case !s.isDatabase():
		return errNoDatabase
	case mark == unreleasedMark:
		return errUnreleased
	case mark != applicationMark:
		return errOtherProgram
	}
	return nil
}

// isLater reports whether a generation comes after another one. They start at random
// and wrap around, without 0.
func isLater(a, b uint32) bool { return a != b && (a-b)%generations < generations/2 }

func nextGeneration(g uint32) uint32 { return max(1, (g+1)%generations) }

// fileState is what a database file's metadata and header show.
type fileState struct {
	header
	size     int64
	modified int64 // in Unix nanoseconds
}

// isComplete reports whether the file is a database and has all its pages.
func (s fileState) isComplete() bool { return s.isDatabase() && s.size >= s.pages()*pageSize }

// readState returns the state of a file. One that is too short has the zero header.
func readState(f *os.File) (s fileState, err error) {
	info, err := f.Stat()
	if err != nil {
		return fileState{}, err
	}
	s.size, s.modified = info.Size(), info.ModTime().UnixNano()
	if _, err = f.ReadAt(s.header[:], 0); errors.Is(err, io.EOF) {
		s.header, err = header{}, nil
	}
	return s, err
}

// wal is the content of a write-ahead log (https://sqlite.org/fileformat.html,
// section 4) and how far checkpoints have copied it. It includes frames at the end
// that a rolled-back transaction has left.
type wal struct {
	headers []header       // the versions of page 1, in order
	pages   map[int64]bool // the numbers of the pages that have a frame
	frames  uint32
	salts   [8]byte // of its header
	damaged bool    // SQLite ignores it, because it is not one
	checkpointProgress
}

// readWAL reads the frames of a log. A file that is missing or was not begun has
// none.
func readWAL(path string) (w wal, err error) {
	f, err := os.Open(path) // SQLite holds no locks on this file
	if err != nil {
		return w, ignoreMissing(err)
	}
	defer f.Close()
	var start [walHeaderSize]byte
	if _, err := f.ReadAt(start[:], 0); err != nil || start == [walHeaderSize]byte{} {
		return w, nil
	}
	if magic := binary.BigEndian.Uint32(start[:]); magic&^1 != walMagic || binary.BigEndian.Uint32(start[8:]) != pageSize {
		w.damaged = true
		return w, nil
	}
	copy(w.salts[:], start[16:24])
	w.pages = map[int64]bool{}
	for at := int64(walHeaderSize); ; at += walFrameSize {
		var frame [walFrameHeaderSize]byte
		if _, err := f.ReadAt(frame[:], at); err != nil || !bytes.Equal(frame[8:16], w.salts[:]) {
			return w, nil // its end
		}
		page := int64(binary.BigEndian.Uint32(frame[:]))
		w.pages[page] = true
		w.frames++
		if page == 1 {
			var h header
			if _, err := f.ReadAt(h[:], at+walFrameHeaderSize); err != nil {
				return w, nil // its end
			}
			w.headers = append(w.headers, h)
		}
	}
}

// checkpointProgress holds the counters nBackfill and nBackfillAttempted of the WAL
// index (https://sqlite.org/walformat.html, section 2.1): the frames that checkpoints
// have copied into the file, and have begun to copy. A new log resets them.
type checkpointProgress struct{ backfilled, attempted uint32 }

// readProgress reads the counters. Without an index they are zero.
func readProgress(index *os.File) (checkpointProgress, error) {
	if index == nil {
		return checkpointProgress{}, nil
	}
	// Not in one piece: where locks are mandatory, SQLite's lie between the two.
	var backfilled, attempted [4]byte
	for _, part := range []struct {
		data   []byte
		offset int64
	}{{backfilled[:], 96}, {attempted[:], 128}} {
		if _, err := index.ReadAt(part.data, part.offset); errors.Is(err, io.EOF) {
			return checkpointProgress{}, nil // the index was not begun
		} else if err != nil {
			return checkpointProgress{}, err
		}
	}
	return checkpointProgress{binary.NativeEndian.Uint32(backfilled[:]), binary.NativeEndian.Uint32(attempted[:])}, nil
}

// committed is the header of the WAL index: how many frames the log had after the last
// commit, with which salts.
type committed struct {
	frames uint32
	salts  [8]byte
}

// readCommitted reads the header, which is there twice. One that is missing, or is being
// written, is zero.
func readCommitted(index *os.File) (c committed, err error) {
	const size, version = 48, 3007000
	var copies [2 * size]byte
	if index == nil {
		return c, nil
	}
	if _, err := index.ReadAt(copies[:], 0); errors.Is(err, io.EOF) {
		return c, nil
	} else if err != nil {
		return c, err
	}
	if !bytes.Equal(copies[:size], copies[size:]) || binary.NativeEndian.Uint32(copies[:]) != version || copies[12] != 1 {
		return c, nil
	}
	c.frames = binary.NativeEndian.Uint32(copies[16:])
	copy(c.salts[:], copies[32:40])
	return c, nil
}

// lacks reports whether the log has lost frames that were committed to it and that no
// checkpoint has copied. A crash of the machine may leave an old index beside a new log.
func (w wal) lacks(c committed) bool {
	return c.frames > w.backfilled && (w.salts == [8]byte{} || w.salts == c.salts && w.frames < c.frames)
}

// inspect reads the state of a file together with the WAL beside it. The file had
// that state before and after the WAL was read, unless it changes all the time.
func inspect(f *sharedFile, walPath string) (now fileState, w wal, err error) {
	before, err := readState(f.File)
	for range 100 {
		if err != nil {
			break
		}
		if w, err = readWAL(walPath); err != nil {
			break
		}
		var index *os.File
		if index, err = f.walIndex(strings.TrimSuffix(walPath, "-wal") + "-shm"); err != nil {
			break
		}
		if w.checkpointProgress, err = readProgress(index); err != nil {
			break
		}
		if now, err = readState(f.File); now == before {
			break
		}
		before = now
	}
	return now, w, err
}

// belongsTo reports whether the log is one of a file with a header.
func (w wal) belongsTo(h header) bool {
	if len(w.headers) == 0 {
		return true
	}
	first := w.headers[0]
	return h.isNew() || slices.Contains(w.headers, h) ||
		h.isDatabase() && h.instance() == first.instance() && nextGeneration(h.generation()) == first.generation()
}

// completes reports whether the log has each page that a file lacks at its end.
func (w wal) completes(f fileState) bool {
	for page := f.size/pageSize + 1; page <= f.pages(); page++ {
		if !w.pages[page] {
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
	return s.run(fmt.Sprintf(`PRAGMA user_version = %d`, next))
}

// renewIdentity gives the file of a backup, which nobody has open, a new instance
// and generation.
func renewIdentity(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s, err := readState(f)
	if err == nil {
		application, generation := newIdentity()
		_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, userVersion(generation, int(s.field(60)&0xff))), 60)
		if err == nil {
			_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, application), 68)
		}
	}
	return errors.Join(err, f.Close())
}
