package auth

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// TestForgedSessions checks that whoever knows the key of sessions can't make the server
// panic or use much memory with one.
func TestForgedSessions(t *testing.T) {
	hash := []byte("the hash of a token's secret")
	aead := sessionCipher(hash)
	for _, length := range []int{0, expiryLength - 1, expiryLength, expiryLength + 5} {
		if _, err := open(hash, accountID, aead.Seal(nil, nil, make([]byte, length), []byte(accountID))); err == nil {
			t.Errorf("a session of %d bytes is accepted", length)
		}
	}
	for length, valid := range map[int]bool{5: true, maxToken: true, maxToken + 1: false, 40 << 20: false} {
		sealed := seal(hash, accountID, time.Now(), strings.Repeat("a", length))
		content, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sealed, accountID+"."))
		if err != nil {
			t.Fatal(err)
		}
		u, err := open(hash, accountID, content)
		if (err == nil) != valid || valid && len(u.token) != length {
			t.Errorf("a token of %d bytes is opened as %d bytes, %v", length, len(u.token), err)
		}
	}
}
