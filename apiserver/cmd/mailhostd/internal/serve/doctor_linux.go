package serve

import "syscall"

// freeSpace returns the number of bytes that an ordinary user can still write below a path.
func freeSpace(path string) (bytes uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}

// unsynchronized is STA_UNSYNC of adjtimex(2).
const unsynchronized = 0x40

// clockSynchronized reports whether a service such as NTP synchronizes the clock.
func clockSynchronized() (synchronized, known bool) {
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynchronized == 0, true
}
