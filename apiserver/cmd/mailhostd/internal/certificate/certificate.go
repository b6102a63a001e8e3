// Package certificate loads the server's TLS certificate from two files, and reloads changed files
// without a restart.
package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// interval is the minimum time between two checks of the files. A check compares their content, because
// the modification time may not change.
const interval = time.Second

// Reloader holds the current certificate. It checks the files during TLS handshakes and runs nothing in
// the background. It is safe for concurrent use.
type Reloader struct {
	certFile, keyFile string
	clock             func() time.Time
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]

	mu      sync.Mutex
	checked time.Time
	// found is the chain that was last read, or the error of the read.
	found string
}

// Open loads a certificate chain and its key, in PEM.
func Open(certFile, keyFile string, clock func() time.Time, log *slog.Logger) (*Reloader, error) {
	r := &Reloader{certFile: certFile, keyFile: keyFile, clock: clock, log: log, checked: clock()}
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// Config returns the TLS configuration of a server with the certificate.
func (r *Reloader) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			r.check()
			return r.current.Load(), nil
		},
	}
}

func (r *Reloader) Leaf() *x509.Certificate { return r.current.Load().Leaf }

// CheckChain returns an error if a certificate of the chain is not valid at a time, or not signed by the one after it.
func (r *Reloader) CheckChain(now time.Time) error {
	chain := r.chain()
	for i, cert := range chain {
		name := fmt.Sprintf("the certificate of %s in --tls-cert", cert.Subject)
		if i == 0 {
			name = "the certificate"
		}
		switch {
		case now.After(cert.NotAfter):
			return fmt.Errorf("%s expired at %s; renew it", name, cert.NotAfter.UTC().Format(time.RFC3339))
		case now.Before(cert.NotBefore):
			return fmt.Errorf("%s is valid only from %s; check this machine's clock", name, cert.NotBefore.UTC().Format(time.RFC3339))
		case i+1 < len(chain) && cert.CheckSignatureFrom(chain[i+1]) != nil:
			return fmt.Errorf("%s is signed by %s, and the certificate after it is that of %s; write the chain to --tls-cert in order, the server's certificate first", name, cert.Issuer, chain[i+1].Subject)
		}
	}
	return nil
}

// KnownHere reports whether a client on this machine accepts the chain's authority.
func (r *Reloader) KnownHere() bool {
	chain, intermediates := r.chain(), x509.NewCertPool()
	for _, cert := range chain[1:] {
		intermediates.AddCert(cert)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Intermediates: intermediates})
	return err == nil
}

// chain returns the current certificates, the server's first. Those that can't be parsed are left out.
func (r *Reloader) chain() []*x509.Certificate {
	chain := []*x509.Certificate{r.Leaf()}
	for _, der := range r.current.Load().Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			chain = append(chain, cert)
		}
	}
	return chain
}

// Reload reads the files now, and logs the result even for an unchanged certificate.
func (r *Reloader) Reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = ""
	r.reload()
}

// check reloads the certificate after the interval. Concurrent handshakes don't wait for it.
func (r *Reloader) check() {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if now := r.clock(); now.Sub(r.checked) >= interval {
		r.checked = now
		r.reload()
	}
}

// reload logs an invalid certificate, and keeps the old one.
func (r *Reloader) reload() {
	if err := r.load(); err != nil {
		r.log.Error("the new TLS certificate can't be used; the old one is kept", "error", err, "not_after", r.Leaf().NotAfter)
	}
}

// load loads the certificate from the files. It does not return the same error twice in a row.
func (r *Reloader) load() error {
	cert, err := tls.LoadX509KeyPair(r.certFile, r.keyFile)
	found := string(bytes.Join(cert.Certificate, nil))
	if err != nil {
		found = err.Error()
	}
	if found == r.found {
		return nil
	}
	if r.found = found; err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", r.certFile, r.keyFile, err)
	}
	r.current.Store(&cert)
	r.log.Info("TLS certificate loaded", "names", cert.Leaf.DNSNames, "not_after", cert.Leaf.NotAfter)
	switch now := r.clock(); {
	case now.After(cert.Leaf.NotAfter):
		r.log.Warn("the TLS certificate has expired: clients will reject it", "not_after", cert.Leaf.NotAfter)
	case now.Before(cert.Leaf.NotBefore):
		r.log.Warn("the TLS certificate is not valid yet: clients will reject it", "not_before", cert.Leaf.NotBefore)
	}
	return nil
}
