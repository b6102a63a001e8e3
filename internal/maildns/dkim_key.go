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

// The types of keys, as k tells them.
const (
	keyRSA     = "rsa"
	keyEd25519 = "ed25519"
)

// The sizes of RSA keys that every verifier takes (RFC 8301, section 3.2).
const (
	minRSABits = 1024
	maxRSABits = 4096
)

var (
	errPrivateKey = errors.New("this is a PRIVATE key, which must never be published: whoever has it can sign as the domain; give the public key, as openssl pkey -pubout writes it, and replace the private key if it has left its host")
	errNoKey      = errors.New("this is no public key; expected a PEM block that begins with -----BEGIN PUBLIC KEY-----, or the whole base64 text of one")
)

// parseDKIMKey reads a public key, and returns its type and what p holds: for RSA
// the SubjectPublicKeyInfo that signers publish, for Ed25519 the bare key (RFC
// 8463, section 4.2). No error tells anything of the text, which may be secret.
func parseDKIMKey(s string) (keyType, p string, err error) {
	der, err := keyBytes(strings.TrimSpace(s))
	if err != nil {
		return "", "", err
	}
	if isPrivateKey(der) {
		return "", "", errPrivateKey
	}
	if len(der) == ed25519.PublicKeySize { // an RSA key is longer
		return keyEd25519, base64.StdEncoding.EncodeToString(der), nil
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		// What PEM calls RSA PUBLIC KEY.
		if key, err = x509.ParsePKCS1PublicKey(der); err != nil {
			return "", "", errNoKey
		}
	}
	switch key := key.(type) {
	case *rsa.PublicKey:
		p, err = rsaValue(key)
		return keyRSA, p, err
	case ed25519.PublicKey:
		return keyEd25519, base64.StdEncoding.EncodeToString(key), nil
	}
	return "", "", errors.New("this is a key of a kind that DKIM does not have; expected one of RSA or Ed25519")
}

func rsaValue(key *rsa.PublicKey) (string, error) {
	switch bits := key.N.BitLen(); {
	case bits < minRSABits:
		return "", fmt.Errorf("the RSA key has %d bits, and verifiers refuse less than %d; make one of 2048 (RFC 8301, section 3.2)", bits, minRSABits)
	case bits > maxRSABits:
		return "", fmt.Errorf("the RSA key has %d bits, and verifiers need not take more than %d; make one of 2048 (RFC 8301, section 3.2)", bits, maxRSABits)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", errNoKey
	}
	return base64.StdEncoding.EncodeToString(der), nil
}

// keyBytes returns what a PEM block or a text in base64 holds.
func keyBytes(s string) ([]byte, error) {
	switch {
	case strings.Contains(s, "PRIVATE KEY"):
		return nil, errPrivateKey
	case strings.Contains(s, ";"), strings.HasPrefix(s, "p="):
		return nil, errors.New("this is a whole record; expected only the key, the part after p=")
	case strings.HasPrefix(s, "ssh-"):
		return nil, errors.New("this is a key in the form of OpenSSH; expected PEM, as openssl pkey -pubout writes it")
	case !strings.HasPrefix(s, "-----BEGIN"):
		return base64Bytes(s)
	}
	block, rest := pem.Decode([]byte(pemLines(s)))
	switch {
	case block == nil:
		return nil, errNoKey
	case strings.TrimSpace(string(rest)) != "":
		return nil, errors.New("there is more after the first PEM block; expected one, of a public key")
	case block.Type == "CERTIFICATE":
		return nil, errors.New("this is a certificate; expected its public key, as openssl x509 -pubkey -noout writes it")
	case block.Type != "PUBLIC KEY" && block.Type != "RSA PUBLIC KEY":
		return nil, errNoKey
	}
	return block.Bytes, nil
}

var pemBoundary = regexp.MustCompile(`-----(BEGIN|END) [A-Z0-9 ]+-----`)

// pemLines puts the first and the last line of PEM at the beginning of a line,
// where they have to stand: an indented heredoc moves them, and an environment
// variable may have lost every line break.
func pemLines(s string) string {
	return pemBoundary.ReplaceAllString(s, "\n$0\n")
}

func base64Bytes(s string) ([]byte, error) {
	der, err := base64.StdEncoding.Strict().DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil || len(der) == 0 {
		return nil, errNoKey
	}
	return der, nil
}

// isPrivateKey reports whether what was to be a public key is a private one, in
// any of the forms that have no name of their own outside PEM.
func isPrivateKey(der []byte) bool {
	_, pkcs8 := x509.ParsePKCS8PrivateKey(der)
	_, pkcs1 := x509.ParsePKCS1PrivateKey(der)
	_, sec1 := x509.ParseECPrivateKey(der)
	if pkcs8 == nil || pkcs1 == nil || sec1 == nil {
		return true
	}
	if len(der) != ed25519.PrivateKeySize {
		return false
	}
	// Ed25519 has the public key after the seed.
	private := ed25519.NewKeyFromSeed(der[:ed25519.SeedSize])
	return string(private) == string(der)
}
