// Package certificate loads the server's TLS certificate from two files, and reloads
// it without a restart when they change.
//
// The package imports only the standard library.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// interval is the minimum time between two checks of the files. A check compares
// their content, because a modification time can stay the same.
const interval = time.Second

// Reloader has the current certificate. It checks the files during TLS handshakes and
// runs nothing in the background. It is safe for concurrent use.
type Reloader struct {
	certFile, keyFile string
	clock             func() time.Time
	log               *slog.Logger
	current           atomic.Pointer[pair]

	mu      sync.Mutex
	checked time.Time
	// invalid is the content that was last logged as unusable.
	invalid string
}

// pair is a certificate with the content of its files, or with the error of reading them.
type pair struct {
	tls.Certificate
	source string
}

// Open loads a certificate chain and its key, in PEM. A nil clock is the system's.
func Open(certFile, keyFile string, clock func() time.Time, log *slog.Logger) (*Reloader, error) {
	if clock == nil {
		clock = time.Now
	}
	r := &Reloader{certFile: certFile, keyFile: keyFile, clock: clock, log: log, checked: clock()}
	p, err := r.read()
	if err != nil {
		return nil, err
	}
	r.use(p)
	return r, nil
}

// Config returns the configuration of a server with the certificate.
func (r *Reloader) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			r.check()
			return &r.current.Load().Certificate, nil
		},
	}
}

// NotAfter returns when the certificate expires.
func (r *Reloader) NotAfter() time.Time { return r.current.Load().Leaf.NotAfter }

// Leaf returns the certificate.
func (r *Reloader) Leaf() *x509.Certificate { return r.current.Load().Leaf }

// Reload reads the files now, and logs the result even if nothing has changed.
func (r *Reloader) Reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invalid = ""
	if !r.refresh() {
		r.log.Info("the TLS certificate has not changed", "not_after", r.NotAfter())
	}
}

// check reloads the certificate if the interval has passed. Concurrent handshakes
// don't wait for it.
func (r *Reloader) check() {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if now := r.clock(); now.Sub(r.checked) >= interval {
		r.checked = now
		r.refresh()
	}
}

// refresh uses the files' content if it is new and valid. It reports whether it
// logged anything; invalid content is logged once.
func (r *Reloader) refresh() bool {
	p, err := r.read()
	switch {
	case err != nil && p.source == r.invalid:
		return false
	case err != nil:
		r.invalid = p.source
		r.log.Error("the new TLS certificate can't be used; the old one is kept", "error", err, "not_after", r.NotAfter())
		return true
	}
	r.invalid = ""
	if p.source == r.current.Load().source {
		return false
	}
	r.use(p)
	return true
}

func (r *Reloader) use(p *pair) {
	r.current.Store(p)
	r.log.Info("TLS certificate loaded", "names", p.Leaf.DNSNames, "not_after", p.Leaf.NotAfter)
	switch now := r.clock(); {
	case now.After(p.Leaf.NotAfter):
		r.log.Warn("the TLS certificate has expired: clients will reject it", "not_after", p.Leaf.NotAfter)
	case now.Before(p.Leaf.NotBefore):
		r.log.Warn("the TLS certificate is not valid yet: clients will reject it", "not_before", p.Leaf.NotBefore)
	}
}

// read loads the files. If there is an error, only the pair's source is set.
func (r *Reloader) read() (*pair, error) {
	cert, certErr := os.ReadFile(r.certFile)
	key, keyErr := os.ReadFile(r.keyFile)
	if err := errors.Join(withPrefix("--tls-cert", certErr), withPrefix("--tls-key", keyErr)); err != nil {
		return &pair{source: err.Error()}, err
	}
	p := &pair{source: string(cert) + "\n" + string(key)}
	var err error
	if p.Certificate, err = tls.X509KeyPair(cert, key); err != nil {
		return p, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", r.certFile, r.keyFile, err)
	}
	return p, nil
}

func withPrefix(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
