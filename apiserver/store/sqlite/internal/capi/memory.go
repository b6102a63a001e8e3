package capi

import (
	"unsafe"

	"modernc.org/libc"
)

// SQLite's memory is not Go's: its addresses are of type uintptr, and the garbage
// collector ignores it.

const pointerSize = 8 // at most

// load returns the value at an address.
func load[T any](address uintptr) T { return *(*T)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }

// memory returns the n bytes at an address.
func memory(address uintptr, n int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), n)
}

// buffer is memory of SQLite's that is used again and again. The zero value is empty.
type buffer struct {
	address uintptr
	size    int
}

// keptBuffer is the size above which a buffer is freed after its use.
const keptBuffer = 4 << 10

// reserve makes the buffer hold at least n bytes. It panics if there is no memory.
func (b *buffer) reserve(tls *libc.TLS, n int) {
	if n <= b.size {
		return
	}
	b.free(tls)
	b.free(tls)
	size := max(n, 256)
	if b.address = libc.Xmalloc(tls, libc.Tsize_t(size)); b.address == 0 {
		panic("sqlite: out of memory")
	}
	b.size = size
}

func (b *buffer) free(tls *libc.TLS) {
	if b.address != 0 {
		libc.Xfree(tls, b.address)
	}
	*b = buffer{}
}
