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
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// server is a server process, and what a client needs to use its mailboxes.
type server struct {
	url                         string
	authorization               string
	mailboxes, domain, pageSize string       // path of the list, domain to create in, parameter of the list
	created                     atomic.Int64 // mailboxes created by connections
	lastID                      atomic.Value // of a mailbox
	stop, end                   func()
}

// The engines, as the table names them.
const (
	onSQLite   = "SQLite"
	onPostgres = "PostgreSQL"
)

// mailhostd starts mailhostd with a number of mailboxes, on a new SQLite file or a new cluster.
func (b *bench) mailhostd(ctx context.Context, engine string, mailboxes int) (*server, error) {
	s := &server{domain: domainName, pageSize: "page_size", mailboxes: "/v1/public/accounts/" + accountID + "/mailboxes"}
	dir, err := os.MkdirTemp(b.scratch, "mailhostd-")
	if err != nil {
		return nil, err
	}
	database := filepath.Join(dir, "mailhost.db")
	if engine == onPostgres {
		cluster, err := postgrestest.New()
		if err != nil {
			return nil, err
		}
		s.end = func() { _ = cluster.Close() }
		database = cluster.URL("postgres", "postgres")
	}
	if err := b.newAccount(ctx, database); err != nil {
		return nil, err
	}
	created, err := exec.CommandContext(ctx, b.path("mailhostd"), "token", "create", "bench", "--database", database, "--json").Output()
	var token struct{ Token string }
	if err := errors.Join(err, json.Unmarshal(created, &token)); err != nil {
		return nil, err
	}
	s.authorization = "Bearer " + token.Token
	cmd := exec.CommandContext(ctx, b.path("mailhostd"), "serve", "--database", database, "--listen", "127.0.0.1:0", "--log-format", "json")
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.start(cmd, log, func(line string) bool {
		var entry struct{ Msg, URL string }
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "serving" {
			return false
		}
		s.url = entry.URL
		return true
	}); err != nil {
		return nil, err
	}
	return s, s.populate(ctx, mailboxes)
}

// accountID is the account of every database, and domainName the domain of all mailboxes.
const (
	accountID  = "0be0c4d5-0000-4000-8000-000000000000"
	domainName = "example.com"
)

// newAccount creates the account, with the domain, in a database.
func (b *bench) newAccount(ctx context.Context, database string) error {
	fixture := b.path("fixture.json")
	if err := os.WriteFile(fixture, []byte(`{"accounts":[{"id":"`+accountID+`","domains":[{"name":"`+domainName+`"}]}]}`), 0o600); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, b.path("mailhostd"), "fixture", "load", fixture, "--database", database).CombinedOutput(); err != nil {
		return fmt.Errorf("mailhostd fixture load: %w: %s", err, out)
	}
	return nil
}

// populate creates mailboxes in bulk.
func (s *server) populate(ctx context.Context, mailboxes int) error {
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	const atOnce = 1000
	for first := 0; first < mailboxes; first += atOnce {
		var items []map[string]string
		for n := first; n < min(first+atOnce, mailboxes); n++ {
			p := personAt(n)
			items = append(items, map[string]string{"local_part": p.localPart, "first_name": p.first, "last_name": p.last})
		}
		body, err := json.Marshal(map[string]any{"domain": domainName, "items": items})
		if err != nil {
			return err
		}
		if _, err := c.call(http.MethodPost, "/bulk", string(body)); err != nil {
			return err
		}
	}
	return nil
}

// startPocketBase starts PocketBase on a new database.
func (b *bench) startPocketBase(ctx context.Context) (*server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_ = l.Close()
	s := &server{url: "http://" + address, mailboxes: "/api/collections/mailboxes/records", pageSize: "perPage"}
	cmd := exec.CommandContext(ctx, b.path("pocketbase"), "-dir", b.path("pocketbase-data"), "-listen", address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return s, s.start(cmd, out, func(line string) bool {
		if s.domain == "" {
			_, err := fmt.Sscan(line, &s.authorization, &s.domain)
			return err != nil
		}
		return strings.Contains(line, "Server started")
	})
}

// start starts a process, and reads its output until ready returns true.
func (s *server) start(cmd *exec.Cmd, output io.Reader, ready func(line string) bool) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	s.stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.end != nil {
			s.end()
		}
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if ready(lines.Text()) {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return nil
		}
	}
	s.stop()
	return errors.New("the server ended before it was serving")
}

// connection is one kept-alive connection to a server. It writes requests by itself,
// because the load shares the CPUs with the server, and Go's client costs more than many
// a request to serve.
type connection struct {
	net.Conn
	s  *server
	in *bufio.Reader
}

func (s *server) connect(ctx context.Context) (*connection, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	return &connection{c, s, bufio.NewReaderSize(c, 64<<10)}, err
}

// call sends a request and returns the response's body.
func (c *connection) call(method, path, body string) ([]byte, error) {
	if _, err := fmt.Fprintf(c, "%s %s%s HTTP/1.1\r\nHost: bench\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, c.s.mailboxes, path, c.s.authorization, len(body), body); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode > http.StatusCreated {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return text, err
}

func (c *connection) get(path string) error {
	_, err := c.call(http.MethodGet, path, "")
	return err
}

// create creates the server's next mailbox.
func (c *connection) create() error {
	p := personAt(int(c.s.created.Add(1)))
	text, err := c.call(http.MethodPost, "", fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":%q,"last_name":%q}`, c.s.domain, p.localPart, p.first, p.last))
	if err != nil {
		return err
	}
	var created struct{ ID string }
	err = json.Unmarshal(text, &created)
	c.s.lastID.Store(created.ID)
	return err
}

// load sends requests on several connections for a time, at least until there is one response, and
// returns how many per second got one.
func (s *server) load(ctx context.Context, connections int, duration time.Duration, send request) (rate float64, err error) {
	open := make([]*connection, connections)
	for i := range open {
		if open[i], err = s.connect(ctx); err != nil {
			return 0, err
		}
		defer open[i].Close()
	}
	var done atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, connections)
	begun := time.Now()
	for i, c := range open {
		all.Go(func() {
			for failed[i] == nil && ctx.Err() == nil && (done.Load() == 0 || time.Since(begun) < duration) {
				if failed[i] = send(c); failed[i] == nil {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds(), errors.Join(failed...)
}

// person is the owner of a mailbox.
type person struct{ localPart, first, last string }

// personAt returns the n-th person. The names repeat as people's do; the local parts are
// unique.
func personAt(n int) person {
	first, last := name(n*7919), name(n*104729+17)
	return person{fmt.Sprintf("%s.%s.%d", strings.ToLower(first), strings.ToLower(last), n), first, last}
}

// name returns one of 343,000 names of three syllables.
func name(n int) string {
	const consonants, vowels = "bdfgklmnprstvw", "aeiou"
	var b strings.Builder
	for range 3 {
		b.WriteByte(consonants[n%len(consonants)])
		b.WriteByte(vowels[n/len(consonants)%len(vowels)])
		n /= len(consonants) * len(vowels)
	}
	s := b.String()
	return strings.ToUpper(s[:1]) + s[1:]
}
