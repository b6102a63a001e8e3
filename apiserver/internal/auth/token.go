package auth

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const (
	publicIDBytes    = 10
	tokenSecretBytes = 32 // 256 bits: a plain hash is enough at rest
	checksumChars    = 7  // a CRC-32 in base 32
)

// SecretEncoding is lower-case base 32, which is easy to copy.
var SecretEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Token is a service account's bearer token.
type Token struct {
	// PublicID identifies the service account. It is not secret.
	PublicID string
	secret   string
}

// NewToken returns a new token.
func NewToken(source *random.Source) Token {
	return Token{
		PublicID: SecretEncoding.EncodeToString(source.Bytes(publicIDBytes)),
		secret:   SecretEncoding.EncodeToString(source.Bytes(tokenSecretBytes)),
	}
}

// String returns mhsa_<public id>_<secret><checksum>.
func (t Token) String() string {
	body := api.TokenPrefix + "_" + t.PublicID + "_" + t.secret
	return body + checksum(body)
}

// Hash returns the SHA-256 of the secret.
func (t Token) Hash() []byte {
	sum := sha256.Sum256([]byte(t.secret))
	return sum[:]
}

// caller returns a caller that only the token identifies so far.
func (t Token) caller() Caller { return Caller{publicID: t.PublicID, secretHash: t.Hash()} }

// checksum distinguishes a mistyped token from an unknown one without a lookup.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return SecretEncoding.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// parseToken reports whether s is a well-formed token.
func parseToken(s string) (Token, bool) {
	parts := strings.Split(s, "_")
	if len(parts) != 3 || len(parts[1]) == 0 || len(parts[2]) <= checksumChars {
		return Token{}, false
	}
	t := Token{PublicID: parts[1], secret: parts[2][:len(parts[2])-checksumChars]}
	return t, t.String() == s
}

// ChosenToken parses a token that a test chose.
func ChosenToken(text string) (Token, error) {
	t, ok := parseToken(text)
	if ok {
		return t, nil
	}
	if public, secret, _ := strings.Cut(strings.TrimPrefix(text, api.TokenPrefix+"_"), "_"); public != "" && secret != "" && !strings.Contains(secret, "_") {
		return t, fmt.Errorf("the token needs a checksum at its end: %s", Token{public, secret})
	}
	return t, fmt.Errorf("a token has the form %s_NAME_SECRET, and a checksum at its end", api.TokenPrefix)
}

// NewServiceAccount returns a service account with a token. It stores only a hash of the token.
func NewServiceAccount(token Token, id, accountID, name string, at time.Time) store.ServiceAccount {
	text := token.String()
	return store.ServiceAccount{
		ID: id, AccountID: accountID, Name: name, PublicID: token.PublicID, SecretHash: token.Hash(),
		Last4: text[len(text)-4:], CreatedAt: at,
	}
}
