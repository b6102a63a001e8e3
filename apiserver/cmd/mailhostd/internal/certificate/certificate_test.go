package certificate_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
)

// testReloader is a Reloader with its certificate files, clock and log.
type testReloader struct {
	*certificate.Reloader
	certificatetest.Pair
	now time.Time
	log bytes.Buffer
}

func open(t *testing.T) *testReloader {
	t.Helper()
	k := &testReloader{Pair: certificatetest.NewPair(t, 1), now: time.Now()}
	var err error
	k.Reloader, err = certificate.Open(k.Cert, k.Key, func() time.Time { return k.now }, slog.New(slog.NewTextHandler(&k.log, nil)))
	assert.NilError(t, err)
	return k
}

// serial returns the serial number of the certificate that a handshake presents.
func (k *testReloader) serial(t *testing.T) int64 {
	t.Helper()
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	var handshake sync.WaitGroup
	defer handshake.Wait()
	handshake.Go(func() {
		assert.Check(t, tls.Server(server, k.Config()).HandshakeContext(t.Context()))
	})
	conn := tls.Client(client, &tls.Config{InsecureSkipVerify: true}) // the test checks the certificate
	assert.NilError(t, conn.HandshakeContext(t.Context()))
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func (k *testReloader) shows(t *testing.T, want int64) {
	t.Helper()
	assert.Check(t, is.Equal(k.serial(t), want), "the certificate has serial number")
}

// logged checks the number of log lines that contain a text.
func (k *testReloader) logged(t *testing.T, text string, want int) {
	t.Helper()
	got := strings.Count(k.log.String(), text)
	assert.Check(t, got == want, "%q was logged %d times, want %d:\n%s", text, got, want, &k.log)
}

func TestRotation(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.shows(t, 1)
	k.Write(t, 2, k.now.Add(2*time.Hour))
	k.shows(t, 1) // not checked again yet
	k.now = k.now.Add(time.Second)
	k.shows(t, 2)
	want := k.now.Add(2 * time.Hour)
	assert.Check(t, want.Sub(k.Leaf().NotAfter).Abs() <= time.Minute, "the certificate expires at %s, want about %s", k.Leaf().NotAfter, want)
	k.Write(t, 3, k.now.Add(time.Hour))
	k.Reload()
	k.shows(t, 3)
	k.logged(t, "TLS certificate loaded", 3)
	k.Reload()
	k.logged(t, "TLS certificate loaded", 4)
}

func TestInvalidFilesKeepTheOldCertificate(t *testing.T) {
	t.Parallel()
	const refusal = "can't be used; the old one is kept"
	other := certificatetest.NewPair(t, 9)
	for name, spoil := range map[string]func(*testing.T, *testReloader){
		"mismatch": func(t *testing.T, k *testReloader) {
			key, err := os.ReadFile(other.Key)
			if err == nil {
				err = os.WriteFile(k.Key, key, 0o600)
			}
			assert.NilError(t, err)
		},
		"cut off": func(t *testing.T, k *testReloader) {
			assert.NilError(t, os.Truncate(k.Cert, 100))
		},
		"missing": func(t *testing.T, k *testReloader) {
			assert.NilError(t, os.Remove(k.Key))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			spoil(t, k)
			for range 3 {
				k.now = k.now.Add(time.Minute)
				k.shows(t, 1)
			}
			k.logged(t, refusal, 1)
			k.Reload() // logs it again
			k.logged(t, refusal, 2)
			k.Write(t, 2, k.now.Add(time.Hour))
			k.now = k.now.Add(time.Minute)
			k.shows(t, 2)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	good, other := certificatetest.NewPair(t, 1), certificatetest.NewPair(t, 2)
	nothing := filepath.Join(t.TempDir(), "nothing.pem")
	for name, tt := range map[string]struct {
		certificatetest.Pair
		want []string
	}{
		"no certificate": {certificatetest.Pair{Cert: nothing, Key: good.Key}, []string{"--tls-cert", nothing, "no such file"}},
		"no key":         {certificatetest.Pair{Cert: good.Cert, Key: nothing}, []string{"--tls-key", nothing, "no such file"}},
		"mismatch":       {certificatetest.Pair{Cert: good.Cert, Key: other.Key}, []string{good.Cert, other.Key, "private key does not match public key"}},
		"switched":       {certificatetest.Pair{Cert: good.Key, Key: good.Cert}, []string{"PEM inputs may have been switched"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := certificate.Open(tt.Cert, tt.Key, time.Now, slog.New(slog.DiscardHandler))
			assert.Assert(t, err != nil, "the invalid pair was accepted")
			for _, want := range tt.want {
				assert.Check(t, strings.Contains(err.Error(), want), "%q lacks %q", err, want)
			}
		})
	}
}

func TestValidityWarnings(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.Write(t, 2, k.now.Add(-time.Minute))
	k.Reload()
	k.logged(t, "has expired", 1)
	k.Write(t, 3, k.now.Add(48*time.Hour))
	k.Reload()
	k.logged(t, "is not valid yet", 1)
}
