package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

type HealthcheckCommand struct {
	Listen  string        `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address of the server, as for mailhostd serve. Default: ${default}."`
	TLSCert string        `name:"tls-cert" placeholder:"FILE" help:"Set if the server serves TLS, as for mailhostd serve."`
	Timeout time.Duration `default:"4s" placeholder:"DURATION" help:"How long the response may take. Default: ${default}."`
}

func (HealthcheckCommand) Help() string {
	return "Requests /healthz/ready. The exit code is 0 if the server is ready, and 1 if it is not or can't be reached. " +
		"With the server's MAILHOSTD_ variables in the environment it needs no flags."
}

func (c HealthcheckCommand) Run(ctx context.Context) error {
	if err := checkAddress("--listen", c.Listen); err != nil {
		return err
	}
	url := urlOf(loopbackForPort(c.Listen)) + "/healthz/ready"
	// The certificate is for the server's public name, but this connection stays on the machine.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	defer transport.CloseIdleConnections()
	if c.TLSCert != "" {
		url = "https" + strings.TrimPrefix(url, "http")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport, Timeout: c.Timeout}).Do(req)
	if err != nil {
		return fmt.Errorf("the server can't be reached: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return errors.Join(fmt.Errorf("the server is not ready: %s: %s", resp.Status, strings.TrimSpace(string(body))), err)
}
