package auth

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// TestForgedSessions checks that whoever knows the key of sessions can't make the server
// panic or use much memory with one.
func TestForgedSessions(t *testing.T) {
	a := &Authenticator{now: time.Now}
	hash := []byte("the hash of a token's secret")
	aead, err := sessionCipher(hash, userSessionKey)
	if err != nil {
		t.Fatal(err)
	}
	open := func(content []byte) (token []byte, err error) {
		_, token, err = a.open(hash, userSessionKey, accountID, aead.Seal(nil, nil, content, []byte(accountID)))
		return token, err
	}
	far := append([]byte{0, 0x7f, 0, 0, 0, 0, 0, 0}, "token"...) // an expiry after the year 3000
	for _, length := range []int{0, expiryLength - 1, expiryLength} {
		_, err := open(far[:length])
		if e, ok := errors.AsType[*api.Error](err); !ok || e.GetStatus() != 401 {
			t.Errorf("a session of %d bytes: %v", length, err)
		}
	}
	if token, err := open(far); err != nil || string(token) != "token" {
		t.Errorf("a session with a token has %q, %v", token, err)
	}
	for length, valid := range map[int]bool{maxUnpacked: true, maxUnpacked + 1: false, 40 << 20: false} {
		packed, err := packToken(strings.Repeat("a", length))
		if err != nil {
			t.Fatal(err)
		}
		if token, err := unpackToken(packed); (err == nil) != valid || len(token) > maxUnpacked {
			t.Errorf("a token of %d bytes is unpacked as %d bytes, %v", length, len(token), err)
		}
	}
}
