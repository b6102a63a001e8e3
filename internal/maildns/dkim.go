package maildns

import (
	"fmt"
	"strings"
)

// DKIM is the public key of a signer (RFC 6376), for the name
// <selector>._domainkey of the domain. What is empty is left out of the record.
type DKIM struct {
	// PublicKey is the key: a PEM block, or the base64 text of what such a block
	// holds or, for Ed25519, of the 32 octets of the key itself.
	PublicKey string
	// Revoked says that the key of this selector is withdrawn, in place of
	// PublicKey.
	Revoked bool
	// K is the type of the key, rsa or ed25519. It is known from the key, which
	// must not be of another one; only a revoked key needs it.
	K string
	// H are the hash algorithms that signatures may use: sha256.
	H []string
	// S are the kinds of service that the key is for: email, or * for all.
	S []string
	// T are flags: y while the domain is testing DKIM, s where the identity of a
	// signature (i=) must not be in a subdomain of its domain (d=).
	T []string
	// N is a note for people.
	N string
}

// Record returns the key as a record.
func (d DKIM) Record() (string, error) {
	var ps Problems
	ps.optional("k", d.K, keyRSA, keyEd25519)
	keyType, p := d.K, ""
	switch {
	case d.Revoked && d.PublicKey != "":
		ps.add("revoked", whole, "a revoked key is published without the key; give an empty public_key (RFC 6376, section 3.6.1)")
	case d.PublicKey == "" && !d.Revoked:
		ps.add("public_key", whole, "must not be empty, which would revoke the selector; say so by revoked = true where it is meant (RFC 6376, section 3.6.1)")
	case !d.Revoked:
		var err error
		keyType, p, err = parseDKIMKey(d.PublicKey)
		ps.addErr("public_key", whole, err)
		if err == nil && d.K != "" && d.K != keyType {
			ps.add("k", whole, "says %s, but the key is one of %s; leave k out", shorten(d.K), keyType)
		}
	}
	for i, h := range d.H {
		if strings.EqualFold(h, "sha1") {
			ps.add("h", i, "sha1 must not be used (RFC 8301, section 3.1); expected sha256")
			continue
		}
		ps.oneOf("h", i, h, "sha256")
	}
	ps.duplicates("h", d.H)

	tags := tagList{"v=DKIM1"}
	tags.add("k", keyType)
	tags.add("h", strings.Join(d.H, ":"))
	tags.add("s", ps.words("s", d.S, "*", "email"))
	tags.add("t", ps.words("t", d.T, "y", "s"))
	tags.add("n", quotePrintable(d.N))
	tags = append(tags, "p="+p) // without a value it means revoked
	return ps.finish("n", tags.String())
}

// quotePrintable writes a note as qp-section (RFC 6376, section 2.10), in one line
// whatever its length, as the notes of a record are not broken.
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
