package auth

import (
	"sync"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// cacheSize bounds the cache. An entry counts 1 and each of its grants too: 20 MB or so.
const cacheSize = 50_000

// entry is what the store has about a caller. It is shared and not changed.
type entry struct {
	// version is the store.Reader.AuthorizationVersion for which it holds.
	version        int64
	serviceAccount store.ServiceAccount // zero for a user
	account        store.Account
	grants         []store.Authorization
	// lastUse is the minute since 1970 in which the service account's use was last noted.
	lastUse *atomic.Int64
}

func (e entry) size() int { return 1 + len(e.grants) }

// cache holds entries by Caller.key. It is safe for concurrent use.
type cache struct {
	mu      sync.RWMutex
	entries map[string]entry
	size    int
}

// get returns the entry of a key if it holds for a version.
func (c *cache) get(key string, version int64) (entry, bool) {
	e, ok := c.latest(key)
	return e, ok && e.version == version
}

// latest returns the entry of a key, which may be outdated.
func (c *cache) latest(key string) (entry, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[key]
	return e, ok
}

// put replaces the entry of a key. A full cache starts anew.
func (c *cache) put(key string, e entry) {
	if e.size() > cacheSize {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok {
		c.size -= old.size()
	}
	if c.size += e.size(); c.size > cacheSize || c.entries == nil {
		c.entries, c.size = map[string]entry{}, e.size()
	}
	c.entries[key] = e
}
