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

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// server is a server process, with the data that a client needs to use its mailboxes.
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
func (b *bench) mailhostd(ctx context.Context, engine string, mailboxes int) (_ *server, err error) {
	var db store.Store
	var database string
	end := func() {}
	if engine == onSQLite {
		dir, err := os.MkdirTemp(b.scratch, "mailhostd-")
		if err != nil {
			return nil, err
		}
		database = filepath.Join(dir, "mailhost.db")
		db, err = sqlite.Open(ctx, database, sqlite.Options{})
		if err != nil {
			return nil, err
		}
	} else {
		cluster, err := postgrestest.New()
		if err != nil {
			return nil, err
		}
		end = func() { _ = cluster.Close() }
		database = cluster.URL("postgres", "postgres")
		if db, err = postgres.Open(ctx, database, postgres.Options{}); err != nil {
			end()
			return nil, err
		}
	}
	accountID, token, err := populate(ctx, db, mailboxes)
	if err != nil {
		return nil, err
	}
	s := &server{end: end, authorization: "Bearer " + token, domain: domainName, pageSize: "page_size", mailboxes: "/v1/public/accounts/" + accountID + "/mailboxes"}
	cmd := exec.CommandContext(ctx, b.path("mailhostd"), "serve", "--database", database, "--listen", "127.0.0.1:0", "--log-format", "json")
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	return s, s.start(cmd, log, func(line string) bool {
		var entry struct{ Msg, URL string }
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "serving" {
			return false
		}
		s.url = entry.URL
		return true
	})
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
	cmd := exec.CommandContext(ctx, b.path("pocketbase"), b.path("pocketbase-data"), address)
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

// connection is one kept-alive connection to a server. It writes requests itself, because the load
// shares the CPUs with the server, and Go's client costs more than many a request to serve.
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

// load sends requests on several connections for a time, at least until the first response, and returns
// the number of responses per second.
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

// domainName is the domain of all mailboxes.
const domainName = "example.com"

// populate creates an account with a domain and mailboxes, and closes the store.
func populate(ctx context.Context, db store.Store, mailboxes int) (accountID, token string, err error) {
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		return "", "", errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if accountID, token, err = service.InitAccount(ctx, "", "bench"); err != nil {
		return "", "", err
	}
	created := time.Now()
	domainID := uuid.Must(uuid.NewV7()).String()
	const atOnce = 1000
	for done := 0; done == 0 || done < mailboxes; done += atOnce {
		err := db.Update(ctx, func(tx store.Tx) error {
			var err error
			if done == 0 {
				err = tx.Create(&store.Domain{
					ID: domainID, AccountID: accountID, Name: domainName, WorkspaceID: api.DefaultWorkspaceID(accountID),
					State: store.Provisioning{Status: vocab.DomainActive}, CreatedAt: created,
				})
			}
			if err != nil {
				return err
			}
			var people []*store.Mailbox
			for n := done; n < min(done+atOnce, mailboxes); n++ {
				p := personAt(n)
				people = append(people, &store.Mailbox{
					ID: uuid.Must(uuid.NewV7()).String(), AccountID: accountID, DomainID: domainID, LocalPart: p.localPart,
					FirstName: p.first, LastName: p.last, State: store.Provisioning{Status: vocab.MailboxActive},
					CreatedAt: created.Add(time.Duration(n) * time.Millisecond),
				})
			}
			_, err = tx.CreateMailboxes(people, len(people))
			return err
		})
		if err != nil {
			return "", "", err
		}
	}
	return accountID, token, nil
}

// person is the owner of a mailbox.
type person struct{ localPart, first, last string }

// personAt returns the n-th person, with a unique local part.
func personAt(n int) person {
	first, last := fmt.Sprintf("First%d", n%1000), fmt.Sprintf("Last%d", n)
	return person{fmt.Sprintf("%s.%s", strings.ToLower(first), strings.ToLower(last)), first, last}
}
