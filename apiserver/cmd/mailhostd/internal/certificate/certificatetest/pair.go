// Package certificatetest creates certificates for tests.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// Pair names the files of a self-signed certificate for localhost.
type Pair struct{ Cert, Key string }

// NewPair creates a pair in a temporary directory, valid for an hour.
func NewPair(t *testing.T, serial int64) Pair {
	t.Helper()
	dir := t.TempDir()
	p := Pair{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	p.Write(t, serial, time.Now().Add(time.Hour))
	return p
}

// Write replaces the certificate and its key. The certificate is valid for a day.
func (p Pair) Write(t *testing.T, serial int64, notAfter time.Time) {
	t.Helper()
	p.WriteFor(t, serial, notAfter.Add(-24*time.Hour), notAfter)
}

// WriteFor is Write with both ends of the validity.
func (p Pair) WriteFor(t *testing.T, serial int64, notBefore, notAfter time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	assert.NilError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	assert.NilError(t, err)
	assert.NilError(t, errors.Join(
		os.WriteFile(p.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),
		os.WriteFile(p.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)))
}

// Pool returns a pool with the certificate, for a client that trusts it.
func (p Pair) Pool(t *testing.T) *x509.CertPool {
	t.Helper()
	cert, err := os.ReadFile(p.Cert)
	assert.NilError(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}
