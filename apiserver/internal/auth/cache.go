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

// cacheSize limits the entries plus their grants, about 20 MB. A full cache is cleared.
const cacheSize = 50_000

// greatestAge limits the age of an entry, so that a database without the triggers that change the
// AuthorizationVersion does not keep a revoked credential working.
const greatestAge = 30 * time.Second

// entry holds the credential, account and grants of a caller. It is shared and must not be changed.
type entry struct {
	// version is the store.Reader.AuthorizationVersion at which the entry was read.
	version int64
	// storedAt is set by put.
	storedAt       time.Time
	serviceAccount store.ServiceAccount // zero for a user
	account        store.Account
	grants         []store.Authorization
}

func (e entry) size() int64 { return int64(1 + len(e.grants)) }

// cache stores entries by Caller.key. It is safe for concurrent use.
type cache struct {
	// clock is time.Now, and another one in tests. Its monotonic reading gives the age of an entry, however the
	// clock of the system or of the service is set.
	clock   func() time.Time
	entries sync.Map // key → entry
	size    atomic.Int64
}

// lookup returns the caller's entry in r: the cached one if its version is the same, or a new one.
// It returns a 401 if the token belongs to no service account.
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
		return e, err // for a user, an account without a grant does not exist
	}
	e.grants = distinct(grants)
	if e.account, err = r.Account(who.AccountID); err != nil {
		return entry{}, fmt.Errorf("account of an accepted credential: %w", err)
	}
	c.put(key, e)
	return e, nil
}

// get returns the entry of a key, possibly outdated but not older than greatestAge. All uses of an entry begin here.
func (c *cache) get(key string) (entry, bool) {
	found, ok := c.entries.Load(key)
	if !ok {
		return entry{}, false
	}
	e := found.(entry)
	return e, c.clock().Sub(e.storedAt) < greatestAge
}

// put stores an entry under its key. The size of a replaced entry still counts. A full cache is
// cleared.
func (c *cache) put(key string, e entry) {
	if c.size.Add(e.size()) > cacheSize {
		c.entries.Clear()
		c.size.Store(e.size())
	}
	e.storedAt = c.clock()
	c.entries.Store(key, e)
}

// distinct removes grants with the same permission as another, for instance a group's.
func distinct(grants []store.Authorization) []store.Authorization {
	seen := map[store.Authorization]bool{}
	return slices.DeleteFunc(grants, func(g store.Authorization) bool {
		g.ID, g.SubjectType, g.SubjectID, g.CreatedBy, g.CreatedAt = "", "", "", store.AuditSubject{}, time.Time{}
		duplicate := seen[g]
		seen[g] = true
		return duplicate
	})
}
