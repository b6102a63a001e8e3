package idempotency

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestSealedResponses checks that a response is opened as it was sealed, that a long one is
// stored compressed, and that one of version 0.1.0 is not expected to be.
func TestSealedResponses(t *testing.T) {
	who := auth.Caller{AccountID: "account", Subjects: []store.Subject{{Type: "service_account", ID: "ci"}}}
	k := newKey(who, "create-mailbox", "a key", nil)
	medium, long := []byte(strings.Repeat("x", packedFrom)), []byte("["+strings.Repeat(`{"local_part":"jane"},`, 1000)+"{}]")
	for _, response := range [][]byte{nil, []byte(`{"id":"x"}`), medium, long} {
		sealed := k.seal(response)
		if len(sealed) > 500 {
			t.Errorf("a response of %d bytes is stored as %d", len(response), len(sealed))
		}
		uncompressed := k.cipher.Seal(nil, nil, response, k.fingerprint)
		if opened, err := newKey(who, "create-mailbox", "another key", nil).open(sealed); err == nil {
			t.Errorf("a response is opened with another key as %q", opened)
		}
		for _, stored := range [][]byte{sealed, uncompressed} {
			if opened, err := k.open(stored); err != nil || !bytes.Equal(opened, response) {
				t.Errorf("a response of %d bytes is opened as %d bytes, %v", len(response), len(opened), err)
			}
		}
	}
}
