package serve

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// startWithLimits serves new accounts in memory with custom timeouts, and returns a client for each
// of them with its owner's token.
func startWithLimits(t *testing.T, l connectionLimits, o apiserver.Options, pair certificatetest.Pair, accounts int) (*server, []*apitest.Client) {
	t.Helper()
	listener, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	assert.NilError(t, err)
	s := &server{log: slog.New(slog.DiscardHandler), limits: l, public: listener}
	s.ShutdownTimeout, s.TLSCert, s.TLSKey = time.Minute, pair.Cert, pair.Key
	s.certificate, err = s.openCertificate(s.log)
	assert.NilError(t, err)
	o.Store, err = sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	service, err := apiserver.New(o)
	assert.NilError(t, err)
	var owners []*apitest.Client
	for range accounts {
		account, token, err := service.InitAccount(t.Context(), "", "owner")
		assert.NilError(t, err)
		owners = append(owners, &apitest.Client{T: t, HTTP: http.DefaultClient, URL: s.url(), Account: account, Token: token})
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.serve(ctx, service, &control.Plane{}) }()
	t.Cleanup(func() {
		stop()
		assert.Check(t, errors.Join(apitest.Receive(t, ended), service.Close()))
	})
	return s, owners
}

// TestSlowBody checks that a client that does not send its body gets a 408, and its
// connection is closed.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	slow, silent := defaultConnectionLimits, defaultConnectionLimits
	slow.body, silent.pause = 500*time.Millisecond, 500*time.Millisecond
	t.Run("body", func(t *testing.T) { testSlowBody(t, slow) })
	t.Run("pause", func(t *testing.T) { testSlowBody(t, silent) })
}

func testSlowBody(t *testing.T, l connectionLimits) {
	t.Parallel()
	s, owners := startWithLimits(t, l, apiserver.Options{}, certificatetest.Pair{}, 1)
	owner := owners[0]
	for name, body := range map[string]string{
		"of a length": "Content-Length: 100\r\n\r\n" + `{"name":`,
		"in chunks":   "Transfer-Encoding: chunked\r\n\r\n" + "8\r\n" + `{"name":`,
		"not begun":   "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.public.Addr().String())
			assert.NilError(t, err)
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", owner.Path("/workspaces"), owner.Token, body)
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err == nil && resp.StatusCode == http.StatusContinue {
				resp, err = http.ReadResponse(in, nil)
			}
			assert.NilError(t, err)
			isTooSlow(t, resp)
			_, err = in.ReadByte()
			assert.Check(t, errors.Is(err, io.EOF), "after the response: %v, want the connection's end", err)
		})
	}
}

func isTooSlow(t *testing.T, resp *http.Response) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	if resp.StatusCode != http.StatusRequestTimeout || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" ||
		!strings.Contains(string(text), `"type":"`+api.TypeRequestTimeout+`"`) {
		t.Errorf("%s, %v: %s", resp.Status, resp.Header, text)
	}
}

// TestSteadyBody checks that a slow client without a pause succeeds.
func TestSteadyBody(t *testing.T) {
	t.Parallel()
	l := defaultConnectionLimits
	l.pause = 2 * time.Second
	_, owners := startWithLimits(t, l, apiserver.Options{}, certificatetest.Pair{}, 1)
	body := largeWorkspace("steady", 120<<10)
	owners[0].Do(http.MethodPost, "/workspaces", &slowReader{ctx: t.Context(), text: body, sent: len(body), chunk: 5 << 10, pause: 100 * time.Millisecond}).Want(http.StatusCreated)
}

// largeWorkspace returns the body of a request to create a workspace, of about a size.
func largeWorkspace(name string, size int) string {
	return `{"name":"` + name + `","unknown":"` + strings.Repeat("x", size) + `"}`
}

// slowReader reads the first sent bytes of a text in chunks with pauses. If there is more of the text,
// it waits for the end of ctx.
type slowReader struct {
	ctx         context.Context
	text        string
	sent, chunk int
	pause       time.Duration
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.sent == 0 {
		if r.text == "" {
			return 0, io.EOF
		}
		<-r.ctx.Done()
		return 0, r.ctx.Err()
	}
	select {
	case <-time.After(r.pause):
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
	n := copy(p, r.text[:min(r.chunk, r.sent)])
	r.text, r.sent = r.text[n:], r.sent-n
	return n, nil
}

// TestSlowClientsOfAnotherAccount checks that an account's requests succeed beside slow clients of
// another account: with any declared length or none, of any rate, silent or not, over HTTP/1.1 and
// HTTP/2. After the slow requests have ended, their account can use its memory again.
func TestSlowClientsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { t.Parallel(); testSlowClients(t, seed) })
	}
}

func testSlowClients(t *testing.T, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, 0))
	l := defaultConnectionLimits
	l.body, l.pause = 30*time.Second, 10*time.Second
	pair := certificatetest.NewPair(t, 1)
	const memory = 6 << 20 // an account can have a body of half a MiB
	s, owners := startWithLimits(t, l, apiserver.Options{BodyMemory: memory}, pair, 2)
	slow, team := owners[0], owners[1]
	var clients []*http.Client
	for _, protocol := range []string{"http/1.1", "h2", "h2"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pair.Pool(t), NextProtos: []string{protocol}}, ForceAttemptHTTP2: protocol == "h2"}
		defer transport.CloseIdleConnections()
		clients = append(clients, &http.Client{Transport: transport})
	}
	slow.HTTP, team.HTTP = clients[0], clients[2]
	team.Domain("example.com")
	mailbox := team.Mailbox("example.com", "ada")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var sending sync.WaitGroup
	for range 15 + draw.IntN(20) {
		length := 1 + draw.IntN(1<<20)
		body := slowReader{text: largeWorkspace("slow", length), sent: draw.IntN(length), chunk: 1 + draw.IntN(64<<10), pause: time.Duration(draw.IntN(20)) * time.Millisecond}
		client, chunked := clients[draw.IntN(2)], draw.IntN(3) == 0
		sending.Go(func() {
			for ctx.Err() == nil {
				requestCtx, cancel := context.WithCancel(ctx) // stops the body after an early response
				body := body
				body.ctx = requestCtx
				r, err := http.NewRequestWithContext(requestCtx, http.MethodPost, s.url()+slow.Path("/workspaces"), &body)
				assert.Check(t, err)
				if !chunked {
					r.ContentLength = int64(len(body.text))
				}
				r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + slow.Token}}
				if resp, err := client.Do(r); err == nil {
					_ = resp.Body.Close()
				}
				cancel()
			}
		})
	}
	for n := range 10 {
		team.Post("/workspaces", largeWorkspace(fmt.Sprint("w", n), 200<<10)).Want(http.StatusCreated)
		team.Patch("/mailboxes/"+mailbox, fmt.Sprintf(`{"first_name":"Ada %d","unknown":"%s"}`, n, strings.Repeat("x", 6<<10))).Want(http.StatusOK)
	}
	end()
	sending.Wait()
	again := func(log poll.LogT) poll.Result { // the server may notice the end of a request late
		if a := slow.Post("/workspaces", largeWorkspace("again", 500<<10)); a.Status != http.StatusCreated {
			return poll.Continue("memory is still reserved: %s", a)
		}
		return poll.Success()
	}
	poll.WaitOn(t, again, poll.WithTimeout(10*time.Second))
}

// TestSlowReadersOfAnotherAccount checks that clients that don't read large lists and exports use up only
// the memory of their account, until they end.
func TestSlowReadersOfAnotherAccount(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	s, owners := startWithLimits(t, defaultConnectionLimits, apiserver.Options{BodyMemory: 2 << 20}, pair, 2)
	for _, owner := range owners {
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pair.Pool(t)}, ForceAttemptHTTP2: true,
			HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 4 << 10},
		}
		defer transport.CloseIdleConnections()
		owner.HTTP = &http.Client{Transport: transport}
	}
	slow, team := owners[0], owners[1]
	slow.Domain("example.com")
	for n := range 100 {
		slow.CreateMailbox("example.com", fmt.Sprint("m", n)).Want(http.StatusCreated)
	}
	for method, path := range map[string]string{http.MethodGet: "/mailboxes?page_size=1000", http.MethodPost: "/mailboxes/export"} {
		read := func(ctx context.Context) *http.Response {
			r, err := http.NewRequestWithContext(ctx, method, s.url()+slow.Path(path), strings.NewReader("{}"))
			assert.NilError(t, err)
			r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + slow.Token}}
			resp, err := slow.HTTP.Do(r)
			assert.NilError(t, err)
			t.Cleanup(func() { resp.Body.Close() })
			return resp
		}
		ctx, end := context.WithCancel(t.Context())
		refused := false
		for range 100 {
			resp := read(ctx)
			if refused = resp.StatusCode == http.StatusServiceUnavailable; refused {
				assert.Check(t, is.Equal(resp.Header.Get("Retry-After"), "1"))
				break
			}
		}
		assert.Check(t, refused, "%s is not limited", path)
		team.Post("/workspaces", largeWorkspace(method, 20<<10)).Want(http.StatusCreated)
		team.Post("/mailboxes/export", "{}").Want(http.StatusOK)
		end()
		poll.WaitOn(t, func(poll.LogT) poll.Result { // the server may notice the end of a request late
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if resp := read(ctx); resp.StatusCode != http.StatusOK {
				return poll.Continue("memory is still reserved: %s", resp.Status)
			}
			return poll.Success()
		}, poll.WithTimeout(10*time.Second))
	}
}

// TestSlowReader checks that the server disconnects a client that does not read its
// response.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	l := defaultConnectionLimits
	l.response = 50 * time.Millisecond
	listener, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	assert.NilError(t, err)
	s := &server{log: slog.New(slog.DiscardHandler), limits: l, public: listener}
	ended := make(chan error, 1)
	server := s.startPublic(context.Background(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for err == nil {
			_, err = w.Write(make([]byte, 4<<10))
		}
		ended <- err
	}), make(chan error, 1))
	defer server.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	assert.NilError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	assert.Check(t, is.ErrorIs(apitest.Receive(t, ended), os.ErrDeadlineExceeded), "writing ended with")
}
