package maildns

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	// The keys of RFC 6376, appendix C, and of RFC 8463, appendix A.2.
	rsaPEM = `-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkM
oGeLnQg1fWn7/zYtIxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/R
tdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhitdY9tf6mcwGjaNBcWToI
MmPSPDdQPNUYckcQ2QIDAQAB
-----END PUBLIC KEY-----
`
	rsaBase64     = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYtIxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhitdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB"
	ed25519Base64 = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
	// The private key of RFC 8032, section 7.1, test 1. RFC 8463 uses it.
	ed25519Seed = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="
)

func encodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func unbase64(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	assert.NilError(t, err)
	return b
}

func TestDKIMRecord(t *testing.T) {
	t.Parallel()
	public, err := x509.ParsePKIXPublicKey(unbase64(t, rsaBase64))
	assert.NilError(t, err)
	pkcs1 := x509.MarshalPKCS1PublicKey(public.(*rsa.PublicKey))
	spki, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(unbase64(t, ed25519Base64)))
	assert.NilError(t, err)
	rsaRecord, edRecord := "v=DKIM1; k=rsa; p="+rsaBase64, "v=DKIM1; k=ed25519; p="+ed25519Base64
	tests := recordTests{
		"RSA":                   {DKIM{PublicKey: rsaPEM}, rsaRecord},
		"RSA in base64":         {DKIM{PublicKey: rsaBase64}, rsaRecord},
		"RSA in lines":          {DKIM{PublicKey: " " + rsaBase64[:64] + "\r\n" + rsaBase64[64:] + "\n"}, rsaRecord},
		"RSA, indented":         {DKIM{PublicKey: strings.ReplaceAll(rsaPEM, "\n", "\n    ")}, rsaRecord},
		"RSA without lines":     {DKIM{PublicKey: strings.ReplaceAll(rsaPEM, "\n", "")}, rsaRecord},
		"RSA, spaces for lines": {DKIM{PublicKey: strings.ReplaceAll(rsaPEM, "\n", " ")}, rsaRecord},
		"RSA by PKCS 1":         {DKIM{PublicKey: encodePEM("RSA PUBLIC KEY", pkcs1)}, rsaRecord},
		"PKCS 1 in base64":      {DKIM{PublicKey: base64.StdEncoding.EncodeToString(pkcs1)}, rsaRecord},
		"type set":              {DKIM{PublicKey: rsaPEM, K: "rsa"}, rsaRecord},
		"Ed25519":               {DKIM{PublicKey: encodePEM("PUBLIC KEY", spki)}, edRecord},
		"Ed25519 in base64":     {DKIM{PublicKey: base64.StdEncoding.EncodeToString(spki)}, edRecord},
		"Ed25519, bare":         {DKIM{PublicKey: ed25519Base64}, edRecord},
		"every tag":             {DKIM{PublicKey: ed25519Base64, K: "ed25519", H: []string{"sha256"}, S: []string{"email"}, T: []string{"y", "s"}, N: "of 2026"}, "v=DKIM1; k=ed25519; h=sha256; s=email; t=y:s; n=of 2026; p=" + ed25519Base64},
		"every service":         {DKIM{PublicKey: ed25519Base64, S: []string{"*"}}, "v=DKIM1; k=ed25519; s=*; p=" + ed25519Base64},
		"note to quote":         {DKIM{PublicKey: ed25519Base64, N: " a;b=ü~\n "}, "v=DKIM1; k=ed25519; n==20a=3Bb=3D=C3=BC~=0A=20; p=" + ed25519Base64},
		"revoked":               {DKIM{Revoked: true}, "v=DKIM1; p="},
		"revoked Ed25519":       {DKIM{Revoked: true, K: "ed25519", N: "lost"}, "v=DKIM1; k=ed25519; n=lost; p="},
		"revoked, for testing":  {DKIM{Revoked: true, T: []string{"y"}}, "v=DKIM1; t=y; p="},
	}
	tests.check(t)
}

func TestDKIMProblems(t *testing.T) {
	t.Parallel()
	tests := recordTests{
		"no key":           {DKIM{}, "public_key: must not be empty, because that would revoke the selector"},
		"revoked with key": {DKIM{Revoked: true, PublicKey: rsaPEM}, "revoked: a revoked key is published without the key"},
		"another type":     {DKIM{PublicKey: rsaPEM, K: "ed25519"}, `k: is "ed25519", but the key is of type rsa`},
		"unknown type":     {DKIM{Revoked: true, K: "dsa"}, `k: must be rsa or ed25519, not "dsa"`},
		"sha1":             {DKIM{PublicKey: rsaPEM, H: []string{"sha256", "sha1"}}, `h[1]: must be sha256, not "sha1"`},
		"another hash":     {DKIM{PublicKey: rsaPEM, H: []string{"sha512"}}, `h[0]: must be sha256, not "sha512"`},
		"hash twice":       {DKIM{PublicKey: rsaPEM, H: []string{"sha256", "sha256"}}, "h[1]: "},
		"service":          {DKIM{PublicKey: rsaPEM, S: []string{"web"}}, `s[0]: must be * or email, not "web"`},
		"flag":             {DKIM{PublicKey: rsaPEM, T: []string{"y", "n"}}, `t[1]: must be y or s, not "n"`},
		"flag twice":       {DKIM{PublicKey: rsaPEM, T: []string{"y", "y"}}, `t[1]: "y" repeats element 0`},
		"several":          {DKIM{PublicKey: "x", T: []string{"x"}}, "public_key: this is not a public key"},
		"note too long":    {DKIM{PublicKey: rsaPEM, N: strings.Repeat("x", 70000)}, "n: value of TXT must not be longer"},
	}
	tests.checkProblems(t)
}

// TestDKIMKeyProblems checks that no error contains the input, which may be secret.
func TestDKIMKeyProblems(t *testing.T) {
	t.Parallel()
	seed := unbase64(t, ed25519Seed)
	edPrivate := ed25519.NewKeyFromSeed(seed)
	rsaPrivate, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	ecPrivate, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	must := func(der []byte, err error) []byte {
		t.Helper()
		assert.NilError(t, err)
		return der
	}
	ofSize := func(bits uint) *rsa.PublicKey {
		n := new(big.Int).Lsh(big.NewInt(1), bits-1)
		return &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537}
	}
	edPKCS8 := must(x509.MarshalPKCS8PrivateKey(edPrivate))
	rsaPKCS8 := must(x509.MarshalPKCS8PrivateKey(rsaPrivate))
	rsaPKCS1 := x509.MarshalPKCS1PrivateKey(rsaPrivate)
	sec1 := must(x509.MarshalECPrivateKey(ecPrivate))
	ecPublic := must(x509.MarshalPKIXPublicKey(&ecPrivate.PublicKey))
	smallDER := must(x509.MarshalPKIXPublicKey(ofSize(1023)))
	largeDER := must(x509.MarshalPKIXPublicKey(ofSize(4097)))
	text := base64.StdEncoding.EncodeToString

	const private, no, part = "this is a PRIVATE key", "this is not a public key; expected one PEM", "not the whole of one"
	tests := map[string]struct{ in, want string }{
		"PKCS 8":                    {encodePEM("PRIVATE KEY", edPKCS8), private},
		"RSA":                       {encodePEM("RSA PRIVATE KEY", rsaPKCS1), private},
		"encrypted":                 {encodePEM("ENCRYPTED PRIVATE KEY", rsaPKCS1), private},
		"OpenSSH":                   {encodePEM("OPENSSH PRIVATE KEY", rsaPKCS1), private},
		"after the public key":      {rsaPEM + encodePEM("PRIVATE KEY", edPKCS8), private},
		"PKCS 8 in base64":          {text(rsaPKCS8), private},
		"PKCS 8 of Ed25519":         {text(edPKCS8), private},
		"PKCS 1 in base64":          {text(rsaPKCS1), private},
		"SEC 1 in base64":           {text(sec1), private},
		"Ed25519 with its public":   {text(edPrivate), private},
		"under another name":        {encodePEM("PUBLIC KEY", rsaPKCS8), private},
		"elliptic curve":            {encodePEM("PUBLIC KEY", ecPublic), "DKIM does not support"},
		"certificate":               {encodePEM("CERTIFICATE", ecPublic), no},
		"other PEM":                 {encodePEM("X509 CRL", ecPublic), no},
		"two keys":                  {rsaPEM + rsaPEM, no},
		"small":                     {text(smallDER), "has 1023 bits, and not all verifiers support less than 1024"},
		"large":                     {text(largeDER), "has 4097 bits, and not all verifiers"},
		"whole record":              {"v=DKIM1; k=rsa; p=" + rsaBase64, no},
		"only the tag":              {"p=" + rsaBase64, no},
		"ssh":                       {"ssh-rsa " + rsaBase64, no},
		"cut off":                   {rsaBase64[:200], part},
		"not base64":                {"MIGf*", no},
		"broken PEM":                {strings.ReplaceAll(rsaPEM, "END", "AND"), no},
		"64 octets, and no private": {text(append(append([]byte{}, seed...), seed...)), part},
		"white space":               {" \n", part},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DKIM{PublicKey: tt.in}.Record()
			wantProblem(t, got, err, "public_key: ", tt.want)
			for i := 0; i+12 <= len(tt.in); i += 4 {
				part := tt.in[i : i+12]
				if !strings.Contains(part, "-") && !strings.Contains(part, " ") && strings.Contains(err.Error(), part) {
					t.Fatalf("the error contains %q: %v", part, err)
				}
			}
		})
	}
}
