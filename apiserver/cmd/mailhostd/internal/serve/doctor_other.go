//go:build !linux

package serve

// freeSpace reports that the free space is unknown.
func freeSpace(string) (bytes uint64, known bool) { return 0, false }

// clockSynchronized reports that the synchronization is unknown.
func clockSynchronized() (synchronized, known bool) { return false, false }
