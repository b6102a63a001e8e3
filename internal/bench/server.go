package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// domainName is the domain of all mailboxes.
const domainName = "example.com"

// server is a server process, and what a client needs to use its mailboxes.
type server struct {
	url string
	// token is the value of the Authorization header, without its scheme.
	token string
	// mailboxes is the path of the collection, and domain the domain to create one with.
	mailboxes, domain string
	accountID         string
	// created counts the mailboxes created by connections.
	created atomic.Int64
	pid     int
	stop    func()
}

// mailhostd starts mailhostd on a new database with a number of mailboxes.
func (b *bench) mailhostd(ctx context.Context, mailboxes int, args ...string) (*server, error) {
	dir, err := os.MkdirTemp(b.scratch, "mailhostd-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "mailhost.db")
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	return b.serve(ctx, db, path, dir, mailboxes, args...)
}

// serve starts mailhostd on a database, which is open and empty, with a number of mailboxes.
func (b *bench) serve(ctx context.Context, db store.Store, database, dir string, mailboxes int, args ...string) (_ *server, err error) {
	s := &server{domain: domainName}
	if s.accountID, s.token, err = populate(ctx, db, mailboxes); err != nil {
		return nil, err
	}
	s.mailboxes = "/v1/public/accounts/" + s.accountID + "/mailboxes"
	cmd := exec.CommandContext(ctx, b.bin("mailhostd"), append([]string{"serve", "--database", database, "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.start(cmd, dir); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	for s.url == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			s.url = line.URL
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	if s.url == "" {
		s.stop()
		return nil, errors.New("mailhostd ended before it was serving")
	}
	return s, nil
}

// pocketBase starts PocketBase on a new database.
func (b *bench) pocketBase(ctx context.Context) (*server, error) {
	dir, err := os.MkdirTemp(b.scratch, "pocketbase-")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.bin("pocketbase"), "-dir", dir, "-listen", address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + address, mailboxes: "/api/collections/mailboxes/records"}
	if err := s.start(cmd, dir); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscan(out, &s.token, &s.domain); err != nil {
		s.stop()
		return nil, fmt.Errorf("PocketBase does not start: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s, s.await(ctx, address)
}

// start starts the process and sets how to stop it, which removes its files too.
func (s *server) start(cmd *exec.Cmd, dir string) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	s.pid = cmd.Process.Pid
	s.stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	return nil
}

// await waits until something listens at an address.
func (s *server) await(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			s.stop()
			return fmt.Errorf("nothing listens at %s: %w", address, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// peakMiB returns the peak of the process's resident memory, 0 where it is unknown.
func peakMiB(pid int) float64 {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0
	}
	return kib / 1024
}

// link is a way to a server with a latency. It counts the requests.
type link struct {
	*httptest.Server
	requests atomic.Int64
}

// newLink returns a link on which each request waits for the latency.
func newLink(to string, latency time.Duration) (*link, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	l := new(link)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.requests.Add(1)
		time.Sleep(latency)
		proxy.ServeHTTP(w, r)
	}))
	return l, nil
}

// populateFile is populate in a new SQLite file.
func populateFile(ctx context.Context, path string) (accountID string, err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return "", err
	}
	accountID, _, err = populate(ctx, db, 0)
	return accountID, err
}

// populate creates an account that has a domain and mailboxes in it, and closes the store.
func populate(ctx context.Context, db store.Store, mailboxes int) (accountID, token string, err error) {
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		return "", "", errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if accountID, token, err = service.InitAccount(ctx, "", "bench"); err != nil {
		return "", "", err
	}
	domain := store.Domain{
		ID: api.DerivedID(accountID, "domain"), AccountID: accountID, Name: domainName,
		WorkspaceID: api.DefaultWorkspaceID(accountID), State: store.Provisioning{Status: vocab.DomainActive}, CreatedAt: time.Now(),
	}
	if err := db.Update(ctx, func(tx store.Tx) error { return tx.CreateDomain(&domain) }); err != nil {
		return "", "", err
	}
	const atOnce = 10_000
	created := time.Now()
	for done := 0; done < mailboxes; done += atOnce {
		err := db.Update(ctx, func(tx store.Tx) error {
			for n := done; n < min(done+atOnce, mailboxes); n++ {
				p := personAt(n)
				if err := tx.CreateMailbox(&store.Mailbox{
					ID: uuid.Must(uuid.NewV7()).String(), AccountID: accountID, DomainID: domain.ID, LocalPart: p.localPart,
					FirstName: p.first, LastName: p.last, State: store.Provisioning{Status: vocab.MailboxActive},
					CreatedAt: created.Add(time.Duration(n) * time.Millisecond),
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return "", "", err
		}
	}
	return accountID, token, nil
}
