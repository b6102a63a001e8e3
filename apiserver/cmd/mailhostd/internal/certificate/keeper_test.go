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

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
)

// kept is a certificate with all that a test looks at.
type kept struct {
	*certificate.Keeper
	certificatetest.Pair
	now time.Time
	log bytes.Buffer
}

func open(t *testing.T) *kept {
	t.Helper()
	k := &kept{Pair: certificatetest.NewPair(t, 1), now: time.Now()}
	var err error
	k.Keeper, err = certificate.Open(k.Cert, k.Key, func() time.Time { return k.now }, slog.New(slog.NewTextHandler(&k.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// serial is the number of the certificate that a handshake shows.
func (k *kept) serial(t *testing.T) int64 {
	t.Helper()
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	var hands sync.WaitGroup
	defer hands.Wait()
	hands.Go(func() {
		if err := tls.Server(server, k.Config()).HandshakeContext(t.Context()); err != nil {
			t.Error(err)
		}
	})
	conn := tls.Client(client, &tls.Config{InsecureSkipVerify: true}) // whatever it is, the test looks at it
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func (k *kept) shows(t *testing.T, want int64) {
	t.Helper()
	if got := k.serial(t); got != want {
		t.Errorf("the certificate is number %d, want %d", got, want)
	}
}

// logged counts the lines with a text.
func (k *kept) logged(t *testing.T, text string, want int) {
	t.Helper()
	if got := strings.Count(k.log.String(), text); got != want {
		t.Errorf("%q was logged %d times, want %d:\n%s", text, got, want, &k.log)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.shows(t, 1)
	k.Write(t, 2, k.now.Add(2*time.Hour))
	k.shows(t, 1) // the files are looked at now and then
	k.now = k.now.Add(time.Second)
	k.shows(t, 2)
	if want := k.now.Add(2 * time.Hour); want.Sub(k.NotAfter()).Abs() > time.Minute {
		t.Errorf("it expires at %s, want about %s", k.NotAfter(), want)
	}
	k.Write(t, 3, k.now.Add(time.Hour))
	k.Reload()
	k.shows(t, 3)
	k.logged(t, "TLS certificate loaded", 3)
	k.Reload()
	k.logged(t, "the same as before", 1)
}

func TestBrokenPairKeepsTheOld(t *testing.T) {
	t.Parallel()
	const refusal = "can't be used; the old one stays"
	other := certificatetest.NewPair(t, 9)
	for name, spoil := range map[string]func(*testing.T, *kept){
		"mismatch": func(t *testing.T, k *kept) {
			key, err := os.ReadFile(other.Key)
			if err == nil {
				err = os.WriteFile(k.Key, key, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"cut off": func(t *testing.T, k *kept) {
			if err := os.Truncate(k.Cert, 100); err != nil {
				t.Fatal(err)
			}
		},
		"gone": func(t *testing.T, k *kept) {
			if err := os.Remove(k.Key); err != nil {
				t.Fatal(err)
			}
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
			k.Reload() // whoever asks is told again
			k.logged(t, refusal, 2)
			k.Write(t, 2, k.now.Add(time.Hour))
			k.now = k.now.Add(time.Minute)
			k.shows(t, 2)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
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
			_, err := certificate.Open(tt.Cert, tt.Key, nil, slog.New(slog.DiscardHandler))
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestTimesOfTheCertificate(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.Write(t, 2, k.now.Add(-time.Minute))
	k.Reload()
	k.logged(t, "has expired", 1)
	k.Write(t, 3, k.now.Add(48*time.Hour))
	k.Reload()
	k.logged(t, "is not valid yet", 1)
}

func TestOldVersionsAreRefused(t *testing.T) {
	t.Parallel()
	k := open(t)
	client, server := net.Pipe()
	defer client.Close()
	go func() {
		_ = tls.Server(server, k.Config()).HandshakeContext(t.Context())
		_ = server.Close()
	}()
	conn := tls.Client(client, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	if err := conn.HandshakeContext(t.Context()); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
}
