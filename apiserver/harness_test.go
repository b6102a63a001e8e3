package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const (
	accountID = "11111111-2222-4333-8444-555555555555"
	nobody    = "99999999-9999-4999-8999-999999999999" // the id of nothing
)

// start is when every test begins.
var start = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// clock is a time that passes when a test says so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// harness is a service with one account, whose owner the embedded client is.
type harness struct {
	*client
	svc   *apiserver.Service
	clock *clock
}

// newHarness starts a service; configure may change its options before.
func newHarness(t *testing.T, configure ...func(*apiserver.Options)) *harness {
	t.Helper()
	c := &clock{now: start}
	o := apiserver.Options{Clock: c.Now, PasswordCost: apiserver.PasswordCost{MemoryKiB: 8, Passes: 1}}
	for _, fn := range configure {
		fn(&o)
	}
	if o.Store == nil {
		s, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Store = s
	}
	svc, err := apiserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &harness{svc: svc, clock: c}
	h.client = h.owner(t, accountID)
	return h
}

// owner makes an account, unless it is there, and returns its owner's client.
func (h *harness) owner(t *testing.T, accountID string) *client {
	t.Helper()
	if _, err := h.svc.EnsureAccount(t.Context(), accountID); err != nil {
		t.Fatal(err)
	}
	return &client{t: t, http: h.svc.OwnerClient(accountID), account: accountID}
}

// as returns a client of the account that presents a token.
func (h *harness) as(token string) *client {
	return &client{t: h.t, http: h.svc.Client(), account: accountID, token: token}
}

// client makes requests in an account.
type client struct {
	t       *testing.T
	http    *http.Client
	account string
	token   string
}

// in returns the client for a subtest.
func (c *client) in(t *testing.T) *client {
	copied := *c
	copied.t = t
	return &copied
}

// do sends a request and checks its answer against the contract. The path is
// that after the prefix, or a whole one; the body is sent as it is if it is a
// string, else as JSON; the headers are names and values in turn.
func (c *client) do(method, path string, body any, headers ...string) *answer {
	c.t.Helper()
	a, err := c.try(c.t.Context(), method, path, body, headers...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	a.conforms()
	return a
}

// doReader is do for a body that arrives in pieces.
func (c *client) doReader(method, path string, body io.Reader) *answer {
	c.t.Helper()
	a, err := c.try(c.t.Context(), method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	a.conforms()
	return a
}

// try is do for a request that may fail, and for other goroutines.
func (c *client) try(ctx context.Context, method, path string, body any, headers ...string) (*answer, error) {
	if !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "//") {
		path = "/v1/public/accounts/" + c.account + path
	}
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case io.Reader:
		reader = b
	default:
		data, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://mailhost.test"+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for pair := range slices.Chunk(headers, 2) {
		if r.Header.Set(pair[0], pair[1]); pair[1] == "" {
			r.Header.Del(pair[0])
		}
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{t: c.t, request: r, status: resp.StatusCode, header: resp.Header}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	if len(a.raw) > 0 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err = json.Unmarshal(a.raw, &a.json); json.Valid(a.raw) {
			err = nil // a number of free-form attributes is beyond a float
		}
	}
	return a, err
}

func (c *client) get(path string) *answer             { c.t.Helper(); return c.do("GET", path, nil) }
func (c *client) post(path string, body any) *answer  { c.t.Helper(); return c.do("POST", path, body) }
func (c *client) patch(path string, body any) *answer { c.t.Helper(); return c.do("PATCH", path, body) }
func (c *client) delete(path string) *answer          { c.t.Helper(); return c.do("DELETE", path, nil) }

// answer is what came back.
type answer struct {
	t       *testing.T
	request *http.Request
	status  int
	header  http.Header
	raw     []byte
	json    any
}

func (a *answer) String() string {
	return fmt.Sprintf("%s %s: %d %.2000s", a.request.Method, a.request.URL, a.status, a.raw)
}

// want ends the test unless the answer has that status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s; want %d", a, status)
	}
	return a
}

// at returns the value at a place of the body, such as "items.0.id", and nil
// where there is none.
func (a *answer) at(place string) any {
	v := a.json
	for key := range strings.SplitSeq(place, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// str returns the string at a place, and the empty one for null.
func (a *answer) str(place string) string {
	s, _ := a.at(place).(string)
	return s
}

// is compares values of the body: places and values in turn.
func (a *answer) is(pairs ...any) *answer {
	a.t.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		got, want := a.at(pair[0].(string)), pair[1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got != want {
			a.t.Errorf("%s is %v; want %v in %s", pair[0], got, want, a)
		}
	}
	return a
}

// each returns the strings at a place of each item of a page.
func (a *answer) each(place string) []string {
	a.t.Helper()
	items, ok := a.want(200).at("items").([]any)
	if !ok {
		a.t.Fatalf("no items: %s", a)
	}
	out := make([]string, len(items))
	for i := range items {
		out[i] = a.str("items." + strconv.Itoa(i) + "." + place)
	}
	return out
}

// problems renders the problems of an error as "place type", the place with dots.
func (a *answer) problems() []string {
	var body struct {
		Detail []struct {
			Loc       []string
			Msg, Type string
		}
	}
	if err := json.Unmarshal(a.raw, &body); err != nil {
		a.t.Errorf("%s: %v", a, err)
	}
	var out []string
	for _, p := range body.Detail {
		out = append(out, strings.Join(p.Loc, ".")+" "+p.Type)
	}
	return out
}

// refused ends the test unless the answer is an error with those problems.
func (a *answer) refused(status int, problems ...string) *answer {
	a.t.Helper()
	if a.status != status || !slices.Equal(a.problems(), problems) {
		a.t.Fatalf("%s; want %d %q", a, status, problems)
	}
	return a
}

// says ends the test unless the message of the first problem holds the words.
func (a *answer) says(words ...string) *answer {
	a.t.Helper()
	for _, w := range words {
		if !strings.Contains(a.str("detail.0.msg"), w) {
			a.t.Fatalf("%s; want the message to hold %q", a, w)
		}
	}
	return a
}

// same compares two lists of strings.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q; want %q", what, got, want)
	}
}

type obj = map[string]any

var itoa = strconv.Itoa
