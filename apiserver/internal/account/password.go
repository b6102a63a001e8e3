package account

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/argon2"
)

// PasswordCost is the cost of an argon2id hash (RFC 9106), stored with the hash. The zero value is
// OWASP's recommendation.
type PasswordCost struct {
	MemoryKiB, Passes uint32
}

var recommended = PasswordCost{MemoryKiB: 19 * 1024, Passes: 2}

const (
	hashThreads = 1
	keyBytes    = 32
	saltBytes   = 16
	// hashesAtOnce limits the concurrent hashes, because each uses the memory of its cost.
	hashesAtOnce = 4
)

// hash returns the hash of a master password in PHC string format.
func (rules *Rules) hash(ctx context.Context, accountID, password string) (string, error) {
	// The account's own queue comes first, so that one account has at most hashesAtOnce hashes in
	// the shared queue.
	for _, queue := range []string{accountID, ""} {
		leave, err := rules.hashing.enter(ctx, queue)
		if err != nil {
			return "", err
		}
		defer leave()
	}
	cost, salt := cmp.Or(rules.PasswordCost, recommended), rules.Random.Bytes(saltBytes)
	key := argon2.IDKey([]byte(password), salt, cost.Passes, cost.MemoryKiB, hashThreads, keyBytes)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.MemoryKiB, cost.Passes, hashThreads, b64(salt), b64(key)), nil
}
