// Package password hashes master passwords with argon2id (RFC 9106).
package password

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/argon2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
)

// Cost is the cost of a hash, which is stored with it. The zero value is OWASP's recommendation.
type Cost struct {
	MemoryKiB, Passes uint32
}

var recommended = Cost{MemoryKiB: 19 * 1024, Passes: 2}

const (
	threads   = 1
	keyBytes  = 32
	saltBytes = 16
	// concurrency is how many hashes are computed at once, each in the memory of its cost.
	concurrency = 4
)

// Hasher hashes passwords, a few at a time. It is safe for concurrent use.
type Hasher struct {
	random *random.Source
	cost   Cost
	slots  chan struct{}
}

// NewHasher returns a Hasher with salts from source.
func NewHasher(source *random.Source, cost Cost) *Hasher {
	return &Hasher{random: source, cost: cmp.Or(cost, recommended), slots: make(chan struct{}, concurrency)}
}

// Hash returns the hash of a password in PHC string format.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	salt := h.random.Bytes(saltBytes)
	key := argon2.IDKey([]byte(password), salt, h.cost.Passes, h.cost.MemoryKiB, threads, keyBytes)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.MemoryKiB, h.cost.Passes, threads, b64(salt), b64(key)), nil
}
