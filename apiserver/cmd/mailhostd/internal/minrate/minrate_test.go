package minrate_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/minrate"
)

// connection is a ResponseWriter for a client that takes a fixed time per write.
type connection struct {
	http.ResponseWriter
	takes         time.Duration
	read, written time.Time
}

func (c *connection) Write(b []byte) (int, error) {
	time.Sleep(c.takes)
	if !c.written.IsZero() && !time.Now().Before(c.written) {
		return 0, os.ErrDeadlineExceeded
	}
	return len(b), nil
}

func (c *connection) Flush()                             {}
func (c *connection) SetReadDeadline(t time.Time) error  { c.read = t; return nil }
func (c *connection) SetWriteDeadline(t time.Time) error { c.written = t; return nil }

// TestMinimumRate checks how many writes clients of different speeds complete.
func TestMinimumRate(t *testing.T) {
	t.Parallel()
	limits := minrate.Limits{Grace: 30 * time.Second, Rate: 1 << 10, MaxCredit: 2 * time.Minute}
	for name, tt := range map[string]struct {
		// takes is the client's time per KiB.
		takes  time.Duration
		writes int
		want   int // successful writes
	}{
		"quick":                        {0, 1000, 1000},
		"at the minimum":               {time.Second, 10_000, 10_000},
		"a little slower":              {time.Second + 100*time.Millisecond, 10_000, 299},
		"not at all":                   {time.Hour, 2, 0},
		"one byte before the deadline": {31*time.Second - 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &connection{ResponseWriter: httptest.NewRecorder(), takes: tt.takes}
				succeeded := 0
				serve(c, limits, func(w http.ResponseWriter, _ *http.Request) {
					for range tt.writes {
						if _, err := w.Write(make([]byte, 1<<10)); err != nil {
							return
						}
						succeeded++
					}
				})
				if succeeded != tt.want {
					t.Errorf("%d writes succeeded, want %d", succeeded, tt.want)
				}
			})
		})
	}
}

func serve(w http.ResponseWriter, b minrate.Limits, h http.HandlerFunc) {
	minrate.Handler(h, b).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
}

// TestMaxCredit checks that a fast client collects limited credit.
func TestMaxCredit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &connection{ResponseWriter: httptest.NewRecorder()}
		limits := minrate.Limits{Grace: time.Second, Rate: 1 << 10, MaxCredit: time.Minute}
		serve(c, limits, func(w http.ResponseWriter, _ *http.Request) {
			for range 1 << 20 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					t.Fatal(err)
				}
			}
			if left := time.Until(c.written); left > time.Minute+time.Second {
				t.Errorf("the next write may take %s", left)
			}
			c.takes = 2 * time.Minute
			if _, err := w.Write([]byte("x")); err == nil {
				t.Error("a pause of two minutes is allowed")
			}
		})
	})
}

// TestTimeOfTheHandlerDoesNotCount checks that the time that a handler takes does not
// count.
func TestTimeOfTheHandlerDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &connection{ResponseWriter: httptest.NewRecorder()}
		limits := minrate.Limits{Grace: time.Second, Rate: 1 << 10, MaxCredit: time.Minute}
		serve(c, limits, func(w http.ResponseWriter, _ *http.Request) {
			if !c.written.IsZero() {
				t.Error("the deadline is set before the first write")
			}
			for range 3 {
				time.Sleep(time.Hour)
				if _, err := w.Write([]byte("x")); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Hour)
			if err := http.NewResponseController(w).Flush(); err != nil || !time.Now().Before(c.written) {
				t.Errorf("flushing: %v, before %s", err, c.written)
			}
			time.Sleep(time.Hour)
		})
		if !time.Now().Before(c.written) || time.Until(c.written) > time.Minute {
			t.Errorf("buffered data must be written before %s", c.written)
		}
	})
}

func TestDeadlineOfTheBody(t *testing.T) {
	t.Parallel()
	limit := time.Now()
	for name, tt := range map[string]struct {
		body string
		read bool
		want time.Time
	}{
		"no body":  {"", false, time.Time{}},
		"read":     {"body", true, time.Time{}},
		"not read": {"body", false, limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &connection{ResponseWriter: httptest.NewRecorder(), read: limit}
			var body io.Reader
			if tt.body != "" {
				body = strings.NewReader(tt.body)
			}
			r := httptest.NewRequest(http.MethodPost, "/", body)
			own := r.Body
			minrate.Handler(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
				if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
					t.Error(err)
				}
				if tt.read {
					_, _ = io.ReadAll(in.Body)
				}
			}), minrate.Limits{Rate: 1}).ServeHTTP(c, r)
			if c.read != tt.want {
				t.Errorf("the deadline is %v, want %v", c.read, tt.want)
			}
			if r.Body != own {
				t.Error("net/http does not receive its own body type")
			}
		})
	}
}

// listen starts a server with an endless response, and sends the error that ended it on
// ended.
func listen(t *testing.T, tlsToo bool) (s *httptest.Server, ended <-chan error) {
	t.Helper()
	done := make(chan error, 8)
	s = httptest.NewUnstartedServer(minrate.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for err == nil {
			_, err = w.Write(make([]byte, 4<<10))
		}
		done <- err
	}), minrate.Limits{Grace: 50 * time.Millisecond, Rate: 1 << 30, MaxCredit: 50 * time.Millisecond}))
	s.Config.HTTP2 = &http.HTTP2Config{WriteByteTimeout: 50 * time.Millisecond}
	if tlsToo {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, done
}

// TestClientThatReadsNothing checks that a client that reads nothing is disconnected, and
// that this ends the handler.
func TestClientThatReadsNothing(t *testing.T) {
	t.Parallel()
	s, ended := listen(t, false)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	if err := awaitEnd(t, ended); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing ended with %v", err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("the connection is still open: %v", err)
	}
}

// TestUnreadStream checks that in HTTP/2 a client can leave one stream unread and read
// others.
func TestUnreadStream(t *testing.T) {
	t.Parallel()
	s, ended := listen(t, true)
	client := s.Client()
	response, err := client.Get(s.URL) // the unread body keeps the flow-control window closed
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 {
		t.Fatalf("the protocol is %s", response.Proto)
	}
	if err := awaitEnd(t, ended); err == nil {
		t.Error("writing did not end")
	}
}

// TestUnreadHTTP2Connection checks a client that reads nothing at all, not even a stream
// reset.
func TestUnreadHTTP2Connection(t *testing.T) {
	t.Parallel()
	s, ended := listen(t, true)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	conn, err := tls.Dial("tcp", s.Listener.Addr().String(), &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The preface, settings with the largest window for a stream, the largest
	// window for the connection, and GET / with HPACK's static table.
	for _, frame := range []string{
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x00\x00\x06\x04\x00\x00\x00\x00\x00" + "\x00\x04\x7f\xff\xff\xff",
		"\x00\x00\x04\x08\x00\x00\x00\x00\x00" + "\x7f\xff\x00\x00",
		"\x00\x00\x07\x01\x05\x00\x00\x00\x01" + "\x82\x84\x87\x41\x02\x78\x79",
	} {
		if _, err := io.WriteString(conn, frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := awaitEnd(t, ended); err == nil {
		t.Error("writing did not end")
	}
}

func TestHandlerThatPanics(t *testing.T) {
	t.Parallel()
	c := &connection{ResponseWriter: httptest.NewRecorder()}
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("the panic is swallowed")
		}
		if c.written.IsZero() {
			t.Error("buffered data has no deadline")
		}
	}()
	serve(c, minrate.Limits{Grace: time.Second, Rate: 1, MaxCredit: time.Second}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// awaitEnd returns the error that ended the handler's writes.
func awaitEnd(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the handler is still writing after a minute")
		return nil
	}
}
