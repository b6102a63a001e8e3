package auth

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// cacheSize is when a cache starts anew. An entry counts 1 and each of its grants too: 20 MB or so.
const cacheSize = 50_000

// entry holds the credential, account and grants of a caller. It is shared and not changed.
type entry struct {
	// version is the store.Reader.AuthorizationVersion at which the entry was read.
	version        int64
	serviceAccount store.ServiceAccount // zero for a user
	account        store.Account
	grants         []store.Authorization
}

func (e entry) size() int64 { return int64(1 + len(e.grants)) }

// cache holds entries by Caller.key. It is safe for concurrent use.
type cache struct {
	entries sync.Map // of entry
	size    atomic.Int64
}

// lookup returns the entry of a caller in r: the cached one if it was read at the same version, or
// a new one. The error is a 401 if no service account has the token.
func (c *cache) lookup(r store.Reader, who Caller) (e entry, err error) {
	if e.version, err = r.AuthorizationVersion(); err != nil {
		return entry{}, err
	}
	key := who.key()
	if cached, ok := c.get(key); ok && cached.version == e.version {
		return cached, nil
	}
	if who.IsServiceAccount() {
		e.serviceAccount, err = r.ServiceAccountByPublicID(who.publicID)
		if errors.Is(err, store.ErrNotFound) {
			err = unknownToken()
		}
		if err != nil {
			return entry{}, err
		}
		who = who.as(e.serviceAccount)
	}
	grants, err := r.GrantsOf(who.AccountID, who.Subjects)
	if err != nil || len(grants) == 0 && who.isUser() {
		return e, err // for a user, only the accounts exist that grant something
	}
	e.grants = distinct(grants)
	if e.account, err = r.Account(who.AccountID); err != nil {
		return entry{}, fmt.Errorf("account of an accepted credential: %w", err)
	}
	c.put(key, e)
	return e, nil
}

// get returns the entry of a key, which may be outdated. Every use of an entry begins here.
func (c *cache) get(key string) (entry, bool) {
	e, ok := c.entries.Load(key)
	if !ok {
		return entry{}, false
	}
	return e.(entry), true
}

// put replaces the entry of a key, whose earlier one still counts. A full cache starts anew.
func (c *cache) put(key string, e entry) {
	if c.size.Add(e.size()) > cacheSize {
		c.entries.Clear()
		c.size.Store(e.size())
	}
	c.entries.Store(key, e)
}

// distinct removes the grants that permit the same as another, for instance one of a group.
func distinct(grants []store.Authorization) []store.Authorization {
	seen := map[store.Authorization]bool{}
	return slices.DeleteFunc(grants, func(g store.Authorization) bool {
		g.ID, g.SubjectType, g.SubjectID, g.CreatedAt = "", "", "", time.Time{}
		duplicate := seen[g]
		seen[g] = true
		return duplicate
	})
}
