package maildns

import (
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// DKIM is the public key of a signer (RFC 6376), to publish at <selector>._domainkey. Empty fields
// are omitted from the record.
type DKIM struct {
	// PublicKey is a PEM block, its content in base64, or the 32 octets of an Ed25519 key in
	// base64.
	PublicKey string
	// Revoked revokes the key of this selector. PublicKey must then be empty.
	Revoked bool
	// K is the type of the key, rsa or ed25519. Record detects the type, and reports a problem if K
	// differs. Only a revoked key requires K.
	K string
	// H lists the hash algorithms that signatures may use: sha256.
	H []string
	// S lists the services that the key is for: email, or * for all.
	S []string
	// T lists flags: y while the domain is testing DKIM, s if the identity of a signature (i=) must
	// not be in a subdomain of its domain (d=).
	T []string
	// N is a note for people.
	N string
}

func (d DKIM) Record() (string, error) {
	var ps Problems
	ps.optional("k", d.K, keyRSA, keyEd25519)
	keyType, p := d.K, ""
	switch {
	case d.Revoked && d.PublicKey != "":
		ps.add("revoked", whole, "a revoked key is published without the key; set public_key to \"\" (RFC 6376, section 3.6.1)")
	case d.PublicKey == "" && !d.Revoked:
		ps.add("public_key", whole, "must not be empty, because that would revoke the selector; to revoke it, set revoked = true (RFC 6376, section 3.6.1)")
	case !d.Revoked:
		key, err := parseDKIMKey(d.PublicKey)
		ps.addErr("public_key", whole, err)
		if err == nil && d.K != "" && d.K != key.Type {
			ps.add("k", whole, "is %.60q, but the key is of type %s; omit k", d.K, key.Type)
		}
		keyType, p = key.Type, base64.StdEncoding.EncodeToString(key.Data)
	}
	tags := tagList{"v=DKIM1"}
	tags.add("k", keyType)
	tags.add("h", ps.words("h", d.H, "sha256"))
	tags.add("s", ps.words("s", d.S, "*", "email"))
	tags.add("t", ps.words("t", d.T, "y", "s"))
	tags.add("n", quotePrintable(d.N))
	tags = append(tags, "p="+p) // an empty p means revoked
	return ps.finish("n", strings.Join(tags, "; "))
}

// quotePrintable encodes a note as qp-section (RFC 6376, section 2.10). The result contains no line
// breaks, because a record must not.
func quotePrintable(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		atEnd := i == 0 || i == len(s)-1
		if c > ' ' && c <= '~' && c != '=' && c != ';' || c == ' ' && !atEnd {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

const (
	keyRSA     = "rsa"
	keyEd25519 = "ed25519"
)

// The sizes of RSA keys that every verifier supports (RFC 8301, section 3.2).
const (
	minRSABits = 1024
	maxRSABits = 4096
)

var (
	errPrivateKey = errors.New("this is a PRIVATE key, which must never be published, because everybody who has it can sign as the domain; use the public key, which openssl pkey -pubout prints, and replace the private key if it has left its host")
	errNoKey      = errors.New("this is not a public key; expected one PEM block that begins with -----BEGIN PUBLIC KEY-----, or the whole base64 text of one, which a record has after p=")
)

// DKIMKey is a public key as verifiers accept it.
type DKIMKey struct {
	// Type is rsa or ed25519.
	Type string
	// Bits is the size of an RSA key.
	Bits int
	// Data are the octets encoded in p: for RSA the SubjectPublicKeyInfo, for Ed25519 the bare key
	// (RFC 8463, section 4.2).
	Data []byte
}

// ParseDKIMKey parses a SubjectPublicKeyInfo, an RSAPublicKey of PKCS #1 or a bare Ed25519 key.
func ParseDKIMKey(der []byte) (DKIMKey, error) {
	if isPrivateKey(der) {
		return DKIMKey{}, errPrivateKey
	}
	if len(der) == ed25519.PublicKeySize { // an RSA key is longer
		return DKIMKey{Type: keyEd25519, Data: der}, nil
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		if key, err = x509.ParsePKCS1PublicKey(der); err != nil {
			return DKIMKey{}, errors.New("this is not a public key of RSA or Ed25519, or not the whole of one")
		}
	}
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return DKIMKey{}, fmt.Errorf("the RSA key has %d bits, and not all verifiers support less than %d or more than %d; create one of 2048 (RFC 8301, section 3.2)", bits, minRSABits, maxRSABits)
		}
		data, err := x509.MarshalPKIXPublicKey(key)
		return DKIMKey{keyRSA, key.N.BitLen(), data}, err
	case ed25519.PublicKey:
		return DKIMKey{Type: keyEd25519, Data: key}, nil
	}
	return DKIMKey{}, errors.New("DKIM does not support this type of key; expected RSA or Ed25519")
}

// pemBoundary matches the boundaries of a PEM block. The decoder requires each on a separate line,
// but an indented heredoc or an environment variable without line breaks moves them.
var pemBoundary = regexp.MustCompile(`-----(BEGIN|END) [A-Z0-9 ]+-----`)

// parseDKIMKey parses a public key in any text form. Its errors contain no part of the text, which
// may be secret.
func parseDKIMKey(s string) (DKIMKey, error) {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "PRIVATE KEY") {
		return DKIMKey{}, errPrivateKey
	}
	if !strings.HasPrefix(s, "-----BEGIN") {
		der, err := base64.StdEncoding.Strict().DecodeString(strings.Join(strings.Fields(s), ""))
		if err != nil {
			return DKIMKey{}, errNoKey
		}
		return ParseDKIMKey(der)
	}
	block, rest := pem.Decode([]byte(pemBoundary.ReplaceAllString(s, "\n$0\n")))
	if block == nil || strings.TrimSpace(string(rest)) != "" || block.Type != "PUBLIC KEY" && block.Type != "RSA PUBLIC KEY" {
		return DKIMKey{}, errNoKey
	}
	return ParseDKIMKey(block.Bytes)
}

// isPrivateKey reports whether der is a private key in any encoding.
func isPrivateKey(der []byte) bool {
	_, pkcs8 := x509.ParsePKCS8PrivateKey(der)
	_, pkcs1 := x509.ParsePKCS1PrivateKey(der)
	_, sec1 := x509.ParseECPrivateKey(der)
	if pkcs8 == nil || pkcs1 == nil || sec1 == nil {
		return true
	}
	// An Ed25519 private key is the seed followed by the public key.
	return len(der) == ed25519.PrivateKeySize && string(ed25519.NewKeyFromSeed(der[:ed25519.SeedSize])) == string(der)
}
