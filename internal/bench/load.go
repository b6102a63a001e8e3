package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// connection is one kept-alive connection to a server. It writes requests by itself,
// because the load shares the CPUs with the server, and Go's client costs more than many
// a request to serve.
type connection struct {
	net.Conn
	s   *server
	in  *bufio.Reader
	out []byte
}

func (s *server) connect(ctx context.Context) (*connection, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c, s: s, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

// call sends a request and returns the response's body after checking its status.
func (c *connection) call(method, path, body string) (*http.Response, error) {
	c.out = fmt.Appendf(c.out[:0], "%s %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n", method, path, c.s.token)
	if body != "" {
		c.out = fmt.Appendf(c.out, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.Write(c.out); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode > http.StatusCreated {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return resp, nil
}

// timed returns how many seconds a request takes until its body is read.
func (c *connection) timed(method, path, body string) (float64, error) {
	begun := time.Now()
	resp, err := c.call(method, path, body)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return time.Since(begun).Seconds(), err
}

// create creates the server's next mailbox and returns its id.
func (c *connection) create() (string, error) {
	p := personAt(int(c.s.created.Add(1)))
	body := fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":%q,"last_name":%q}`, c.s.domain, p.localPart, p.first, p.last)
	resp, err := c.call(http.MethodPost, c.s.mailboxes, body)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var created struct{ ID string }
	err = json.NewDecoder(resp.Body).Decode(&created)
	return created.ID, err
}

// load sends requests on several connections for a time, and returns how many per second
// got a response. Each call of send gets a number of its own.
func load(ctx context.Context, s *server, connections int, duration time.Duration, send func(c *connection, n int) error) (rate float64, err error) {
	open := make([]*connection, connections)
	for i := range open {
		if open[i], err = s.connect(ctx); err != nil {
			return 0, err
		}
		defer open[i].Close()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, duration, nil)
	defer cancel()
	var next, done atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, connections)
	begun := time.Now()
	for _, c := range open {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := send(c, int(next.Add(1))); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	took := time.Since(begun).Seconds()
	select {
	case err = <-failed:
	default:
	}
	return float64(done.Load()) / took, err
}
