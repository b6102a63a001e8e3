package main

import (
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
)

// tlsFlags say how the public listener is encrypted.
type tlsFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate chain in PEM, to serve the API over TLS. Read again when it changes, and on SIGHUP."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Private key of --tls-cert, in PEM."`
}

func (f tlsFlags) validate() error {
	if (f.TLSCert == "") != (f.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key: give both, or none for plain HTTP")
	}
	return nil
}

// openCertificate returns nil where no certificate is given.
func (f tlsFlags) openCertificate(log *slog.Logger) (*certificate.Keeper, error) {
	if f.TLSCert == "" {
		return nil, nil
	}
	return certificate.Open(f.TLSCert, f.TLSKey, nil, log)
}

// reloadOnHangup reads the certificate again on each SIGHUP until stop is called.
// A server without one goes on: whoever sends the signal means no harm.
func reloadOnHangup(keeper *certificate.Keeper, log *slog.Logger) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-signals:
				if keeper == nil {
					log.Info("there is nothing to reload")
					continue
				}
				keeper.Reload()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
