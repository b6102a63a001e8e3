//go:build !linux

package serve

// freeSpace reports that the free space is not known.
func freeSpace(string) (bytes uint64, known bool) { return 0, false }

// clockSynchronized reports that it is not known.
func clockSynchronized() (synchronized, known bool) { return false, false }
