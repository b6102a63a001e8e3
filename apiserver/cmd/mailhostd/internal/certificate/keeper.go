package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// interval is how often the files are looked at, at most. They are small; what
// they hold is compared, since a time stamp can stay the same.
const interval = time.Second

// Keeper keeps a certificate that follows its files. It is safe for concurrent
// use, and runs nothing in the background: a handshake finds what is new.
type Keeper struct {
	certFile, keyFile string
	clock             func() time.Time
	log               *slog.Logger
	current           atomic.Pointer[pair]

	mu      sync.Mutex
	looked  time.Time
	refused fingerprint
}

type fingerprint [sha256.Size]byte

// pair is a certificate and what it was read from.
type pair struct {
	tls.Certificate
	source fingerprint
}

// Open reads a certificate chain and its key, in PEM. clock tells the time; nil:
// the system's.
func Open(certFile, keyFile string, clock func() time.Time, log *slog.Logger) (*Keeper, error) {
	if clock == nil {
		clock = time.Now
	}
	k := &Keeper{certFile: certFile, keyFile: keyFile, clock: clock, log: log, looked: clock()}
	p, err := k.read()
	if err != nil {
		return nil, err
	}
	k.take(p)
	return k, nil
}

// Config returns the configuration of a server with the certificate.
func (k *Keeper) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			k.look()
			return &k.current.Load().Certificate, nil
		},
	}
}

// NotAfter is when the certificate expires.
func (k *Keeper) NotAfter() time.Time { return k.current.Load().Leaf.NotAfter }

// Reload reads the files at once, and says what came of it even where nothing
// has changed.
func (k *Keeper) Reload() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refused = fingerprint{}
	if !k.refresh() {
		k.log.Info("the TLS certificate is the same as before", "not_after", k.NotAfter())
	}
}

// look refreshes the certificate now and then. One handshake does it; the others
// do not wait.
func (k *Keeper) look() {
	if !k.mu.TryLock() {
		return
	}
	defer k.mu.Unlock()
	if now := k.clock(); now.Sub(k.looked) >= interval {
		k.looked = now
		k.refresh()
	}
}

// refresh takes what the files hold, if it is new and good, and reports whether
// it had something to say. What is not good is told once.
func (k *Keeper) refresh() bool {
	p, err := k.read()
	switch {
	case err != nil && p.source == k.refused:
		return false
	case err != nil:
		k.refused = p.source
		k.log.Error("the new TLS certificate can't be used; the old one stays", "error", err, "not_after", k.NotAfter())
		return true
	}
	k.refused = fingerprint{}
	if p.source == k.current.Load().source {
		return false
	}
	k.take(p)
	return true
}

func (k *Keeper) take(p *pair) {
	k.current.Store(p)
	k.log.Info("TLS certificate loaded", "names", p.Leaf.DNSNames, "not_after", p.Leaf.NotAfter)
	switch now := k.clock(); {
	case now.After(p.Leaf.NotAfter):
		k.log.Warn("the TLS certificate has expired: clients will refuse it", "not_after", p.Leaf.NotAfter)
	case now.Before(p.Leaf.NotBefore):
		k.log.Warn("the TLS certificate is not valid yet: clients will refuse it", "not_before", p.Leaf.NotBefore)
	}
}

// read returns what the files hold. With an error the pair has a source only.
func (k *Keeper) read() (*pair, error) {
	cert, certErr := os.ReadFile(k.certFile)
	key, keyErr := os.ReadFile(k.keyFile)
	if err := errors.Join(prefixed("--tls-cert", certErr), prefixed("--tls-key", keyErr)); err != nil {
		return &pair{source: sha256.Sum256([]byte(err.Error()))}, err
	}
	certSum, keySum := sha256.Sum256(cert), sha256.Sum256(key)
	p := &pair{source: sha256.Sum256(append(certSum[:], keySum[:]...))}
	var err error
	if p.Certificate, err = tls.X509KeyPair(cert, key); err != nil {
		return p, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", k.certFile, k.keyFile, err)
	}
	return p, nil
}

func prefixed(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
