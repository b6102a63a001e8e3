package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
)

// This file contains the checks of doctor that compare the settings with other programs: the database server,
// other servers on the database, what listens on the addresses, and the collector of traces.

// describeSchema returns the version of the schema, and which older programs may still use it. An SQLite file is
// for this version alone.
func (c DoctorCommand) describeSchema(ctx context.Context) string {
	server, err := cli.InspectServer(ctx, c.Database)
	if err != nil || server == nil {
		return fmt.Sprintf("schema %d", postgres.OwnSchema())
	}
	return fmt.Sprintf("schema %d, which versions of mailhostd with schema %d or later can use", server.Schema, server.Oldest)
}

// checkConnections compares --database-connections with the limits of the database server.
func (c DoctorCommand) checkConnections(ctx context.Context) check {
	server, err := cli.InspectServer(ctx, c.Database)
	switch {
	case err != nil: // a failed check of the database
		return found(checkSkipped, "the database server can't be asked: %s", err)
	case server == nil:
		return found(checkSkipped, "an SQLite file has none")
	case server.Pooler:
		return found(checkSkipped, "the URL leads to a pooler, whose own settings limit the connections")
	}
	own := cmp.Or(c.DatabaseConnections, postgres.DefaultConnections)
	needed := own * server.Servers
	servers := cli.Counted(server.Servers, "server")
	if needed > server.Connections {
		return found(checkWarning, "%s with --database-connections %d each may need %d connections, and PostgreSQL permits %d (%s): at the limit, requests get a 503; lower --database-connections, or raise the limit",
			servers, own, needed, server.Connections, server.Limit)
	}
	return found(checkOK, "%s with up to %d connections each, of %d (%s)", servers, own, server.Connections, server.Limit)
}

// checkPublicURL compares --public-url with the certificate and with the URL that another server has stored.
func (c DoctorCommand) checkPublicURL(ctx context.Context) check {
	own := strings.TrimSuffix(c.PublicURL, "/")
	if strings.HasPrefix(own, "http://") && c.TLSCert != "" {
		return found(checkWarning, "--public-url %s is plain HTTP, and the server has a certificate: links in messages can't be opened; begin the URL with https://", own)
	}
	before := ""
	if db, err := cli.OpenDatabase(ctx, c.Database, cli.OpenOptions{ReadOnly: true, Memory: true}); err == nil { // the check of the database reports an error
		before, _ = store.Read(ctx, db, store.Reader.PublicURL)
		_ = db.Close()
	}
	switch {
	case before != "" && before != own:
		return found(checkWarning, "the server that was started before with this database has --public-url %s, and this one has %s; all replicas need the same, because it is in the links of messages", before, cmp.Or(own, "none"))
	case own == "":
		return found(checkSkipped, "there is no --public-url")
	}
	return found(checkOK, "%s", own)
}

// checkTraces sends nothing but an empty batch. Requests don't wait for a collector, so that none of its faults
// is a failure.
func (c DoctorCommand) checkTraces(ctx context.Context, p cli.Program) check {
	if c.OTLPEndpoint == "" && !tracing.IsConfigured(cli.Variables(p.Environ)) {
		return found(checkSkipped, "there is no --otlp-endpoint")
	}
	if err := tracing.Check(ctx, c.OTLPEndpoint); err != nil {
		return found(checkWarning, "traces are lost until their collector accepts them: %s; start it, or correct --otlp-endpoint or the OTEL_ variables", err)
	}
	return found(checkOK, "the collector accepts traces")
}

// checkListen checks that a server can listen on all its addresses, or already does.
func (c DoctorCommand) checkListen(ctx context.Context) check {
	var states []string
	var serving bool             // a server with this database listens on --listen
	flags := map[string]string{} // by port, of those that this check listens on
	for _, l := range []struct{ flag, address, path, sign string }{
		{"--listen", loopbackForPort(c.Listen), "/healthz/live", `{"status":"live"}`},
		{"--control-listen", loopbackByDefault(string(c.ControlListen)), "/healthz", `"status"`},
		{"--metrics-listen", loopbackByDefault(string(c.MetricsListen)), "/metrics", "mailhostd_build_info"},
	} {
		if l.address == "" {
			continue
		}
		if err := checkAddress(l.flag, l.address); err != nil {
			return found(checkFailed, "%s", err)
		}
		_, port, _ := net.SplitHostPort(l.address)
		opened, err := listen(ctx, l.flag, l.address)
		if err == nil {
			defer opened.Close() // keep it: another setting may name the same address
			flags[port] = l.flag
			states = append(states, l.address+" is free")
			continue
		}
		if other := flags[port]; other != "" {
			return found(checkFailed, "%s and %s name the same port %s; give each its own", other, l.flag, port)
		}
		conn, dialed := new(net.Dialer).DialContext(ctx, "tcp", l.address)
		if dialed != nil { // the port may not be used by this user, or is reserved
			return found(checkFailed, "%s", err)
		}
		_ = conn.Close()
		reason := ""
		switch isServer := responds(ctx, l.address, l.path, l.sign); {
		case !isServer:
			reason = "it is no mailhostd"
		case l.flag == "--listen" && !c.databaseInUse(ctx, l.address):
			reason = "it is a mailhostd with another database"
		case l.flag != "--listen" && !serving:
			reason = "it is another mailhostd, because none with this database listens on " + loopbackForPort(c.Listen)
		}
		if reason != "" {
			return found(checkFailed, "%s: a program listens on %s already, and %s; stop it, or choose another address", l.flag, l.address, reason)
		}
		serving = true
		states = append(states, "a mailhostd listens on "+l.address)
	}
	if serving {
		states = append(states, "if it is not this server, choose another address")
	}
	return found(checkOK, "%s", strings.Join(states, "; "))
}

// responds reports whether a server at an address sends a page with a text, over plain HTTP or TLS.
func responds(ctx context.Context, address, path, text string) bool {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the connection stays on the machine
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 2 * time.Second}
	plain := urlOf(address) + path
	for _, page := range []string{plain, "https" + strings.TrimPrefix(plain, "http")} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
		if err != nil {
			return false
		}
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if _ = resp.Body.Close(); resp.StatusCode == http.StatusOK && strings.Contains(string(body), text) {
			return true
		}
	}
	return false
}

// databaseInUse reports whether a process uses the database, such as the server at an address. It is true if that
// can't be found out.
func (c DoctorCommand) databaseInUse(ctx context.Context, address string) bool {
	if path := c.databaseFile(); path != "" {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		_, err := os.Stat(path + "-wal") // SQLite removes it when the last process closes the database
		return err == nil
	}
	responds(ctx, address, "/healthz/ready", "") // an idle server closes its connections; this opens one
	server, err := cli.InspectServer(ctx, c.Database)
	return err != nil || server != nil && (server.InUse || server.Pooler)
}
