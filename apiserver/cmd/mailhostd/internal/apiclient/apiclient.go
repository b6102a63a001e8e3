// Package apiclient calls operations of one account for mailhostd's commands, over HTTP or in process.
// Its errors are for people at a terminal.
//
//	sa, err := apiclient.Call(ctx, c, api.CreateServiceAccount, &api.CreateServiceAccountRequest{Body: …})
//	for sa, err := range apiclient.All(ctx, c, api.ListServiceAccounts, &api.ListRequest{}) { … }
package apiclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// Client calls operations of an account.
type Client struct {
	AccountID string
	// Token is sent with each request; empty in process.
	Token string
	// URL is the URL of the API. In process, only its path matters.
	URL  string
	HTTP *http.Client
}

// Limits of the attempts over a network. An API that can't be reached is reported within seconds; a 429
// contains the time of the next attempt.
const (
	retries        = 4
	retryWait      = 250 * time.Millisecond
	retryWaitLimit = 30 * time.Second
	dialTimeout    = 5 * time.Second
	requestTimeout = 2 * time.Minute
	maxResponse    = 64 << 20 // in bytes, as in the provider; not for an export
)

// NewHTTP returns an HTTP client for an API on a network. It retries all requests: those that create
// objects contain an Idempotency-Key, and the others can be repeated.
func NewHTTP() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = retries, retryWait, retryWaitLimit
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler // the response contains the reason
	c.CheckRetry = func(ctx context.Context, response *http.Response, err error) (bool, error) {
		if _, ok := errors.AsType[*net.OpError](err); ok {
			return false, err // no server listens there
		}
		return retryablehttp.DefaultRetryPolicy(ctx, response, err)
	}
	c.HTTPClient = &http.Client{
		Transport: transport, Timeout: requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is only for this URL
	}
	return c.StandardClient()
}

// Call makes one request and returns the response's body.
func Call[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], in *Req) (*Resp, error) {
	response, err := c.Send(ctx, op.Spec, in)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	out := new(Resp)
	if op.Response == reflect.TypeFor[api.NoContent]() {
		return out, nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return nil, fmt.Errorf("%s: the response is not the API's; check the URL %s", op.ID, c.URL)
	}
	return out, nil
}

// Send makes one request and returns a successful response. The caller must close its body. in is a
// pointer to a request struct of the operation; Send sets its account and Idempotency-Key.
func (c *Client) Send(ctx context.Context, s api.Spec, in any) (*http.Response, error) {
	v := reflect.ValueOf(in).Elem()
	v.FieldByName("AccountID").SetString(c.AccountID)
	if s.Keyed() {
		v.FieldByName("IdempotencyKey").SetString(uuid.NewString())
	}
	r, err := c.request(ctx, s, in)
	if err != nil {
		return nil, err
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if response.StatusCode == s.Status {
		return response, nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return nil, c.refused(s, response, body)
}

// All returns every object of a paged list.
func All[Req, Item any](ctx context.Context, c *Client, op api.Operation[Req, api.Page[Item]], in *Req) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		paged := any(in).(interface{ SetPaging(page, size int) })
		var last []Item
		for n, seen := 1, 0; ; n++ {
			paged.SetPaging(n, api.MaxPageSize)
			page, err := Call(ctx, c, op, in)
			if err == nil && len(last) > 0 && reflect.DeepEqual(page.Items, last) {
				err = fmt.Errorf("%s: the API at %s ignores the parameter page, so that the list can't be read", op.ID, c.URL)
			}
			if err != nil {
				yield(*new(Item), err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			last = page.Items
			if seen += len(page.Items); len(page.Items) == 0 || seen >= page.Total {
				return
			}
		}
	}
}

func Collect[Item any](all iter.Seq2[Item, error]) ([]Item, error) {
	items := []Item{}
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// TokenState returns the state of a service account's token: active, expired or revoked.
func TokenState(a api.ServiceAccount, now time.Time) string {
	if a.RevokedAt != nil {
		return "revoked"
	}
	if at, err := api.ParseTime(api.Value(a.ExpiresAt)); err == nil && !now.Before(at) {
		return "expired"
	}
	return "active"
}

func (c *Client) request(ctx context.Context, s api.Spec, in any) (*http.Request, error) {
	e, err := s.Encode(in)
	if err != nil {
		return nil, err
	}
	target := strings.TrimSuffix(c.URL, "/") + e.Path
	if encoded := e.Query.Encode(); encoded != "" {
		target += "?" + encoded
	}
	r, err := http.NewRequestWithContext(ctx, s.Method, target, bytes.NewReader(e.Body))
	if err != nil {
		return nil, fmt.Errorf("the API's URL %s is malformed", c.URL)
	}
	r.Header = e.Header
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return r, nil
}

// Error is an error response.
type Error struct {
	Operation string
	Status    int
	RequestID string
	// Message is the API's message, for people.
	Message string
	// Problems are from the API; empty if a server in front of it responded.
	Problems []api.Problem
}

func (e *Error) Error() string {
	source := fmt.Sprintf("HTTP %d", e.Status)
	if e.RequestID != "" {
		source += ", request id " + e.RequestID
	}
	return fmt.Sprintf("%s failed: %s (%s)", e.Operation, e.Message, source)
}

// Denied reports whether the caller lacks the capability for an operation, or the API does not offer the operation.
func Denied(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusForbidden || Missing(err)
}

// Missing reports whether the API does not offer the operation, because it offers only the published ones.
func Missing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed {
		return false
	}
	for _, p := range e.Problems {
		// The 404 for an object names its path parameter, the 404 for an unknown path does not.
		if p.Type != api.TypeMethodNotAllowed && len(p.Loc) > 1 {
			return false
		}
	}
	return true
}

func (c *Client) refused(s api.Spec, response *http.Response, body []byte) error {
	e := &Error{Operation: s.ID, Status: response.StatusCode, RequestID: text.PrintableLine(response.Header.Get("X-Request-Id"))}
	var detail struct{ Detail []api.Problem }
	if json.Unmarshal(body, &detail) == nil {
		e.Problems = detail.Detail
	}
	var messages []string
	for _, p := range e.Problems {
		msg := api.PlainMessage(p.Msg)
		if len(p.Loc) > 1 && (p.Loc[0] == "body" || p.Loc[0] == "query") {
			msg = strings.Join(p.Loc[1:], ".") + ": " + msg
		}
		messages = append(messages, text.PrintableLine(msg)) // a line break could imitate a message of this program
	}
	switch {
	case s.Lifecycle() && len(messages) > 0 && Missing(e):
		e.Message = "the API at " + c.URL + " does not have this operation: it offers only the published ones, or its URL is wrong"
	case len(messages) > 0:
		e.Message = strings.Join(messages, "; ")
	case e.Status >= http.StatusBadGateway && e.Status <= http.StatusGatewayTimeout:
		e.Message = "a proxy responded at " + c.URL + ", and no server behind it is ready; try again, or ask the operator"
	default:
		e.Message = "the response is not the API's; check the URL " + c.URL
	}
	if e.Status == http.StatusUnauthorized && c.Token != "" {
		e.Message += "; check MAILHOST_TOKEN"
	}
	return e
}

// unreachable explains the cause of a missing response, and the next step.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("the certificate of %s is not trusted: %w; set SSL_CERT_FILE to a PEM file with the authority that signed it", c.URL, err)
	}
	return fmt.Errorf("the API at %s can't be reached: %w; check the URL and that the server runs", c.URL, err)
}
