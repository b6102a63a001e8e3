package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Client sends requests for an account.
type Client struct {
	T       TB
	HTTP    *http.Client
	URL     string // empty: in process
	Account string
	Token   string
}

// In returns a copy of the client for a subtest.
func (c *Client) In(t TB) *Client {
	copied := *c
	copied.T = t
	return &copied
}

// Path returns the path below the account's prefix.
func (c *Client) Path(rest string) string {
	return strings.Replace(api.Prefix, "{account_id}", c.Account, 1) + rest
}

// Do sends a request and checks the response against the contract. The path is below the
// account's prefix, or begins with /v1/ or //. A string or an io.Reader is sent as the body
// unchanged, any other body as JSON. headers alternates names and values; an empty value
// removes a header.
func (c *Client) Do(method, path string, body any, headers ...string) *Response {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(c.T.Context(), patience)
	defer cancel()
	r, err := c.Try(ctx, method, path, body, headers...)
	if err != nil {
		c.T.Fatalf("%s %s: %v", method, path, err)
	}
	r.Conforms()
	return r
}

// Try is [Client.Do] for requests that may fail, and for other goroutines. It does not
// check the response.
func (c *Client) Try(ctx context.Context, method, path string, body any, headers ...string) (*Response, error) {
	if !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "//") {
		path = c.Path(path)
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
	url := c.URL
	if url == "" {
		url = "http://mailhost.test"
	}
	r, err := http.NewRequestWithContext(ctx, method, url+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for pair := range slices.Chunk(headers, 2) {
		if r.Header.Set(pair[0], pair[1]); pair[1] == "" {
			r.Header.Del(pair[0])
		}
	}
	return c.Send(r)
}

// Send sends a request unchanged. If the response breaks off, it returns the received part
// with the error.
func (c *Client) Send(r *http.Request) (*Response, error) {
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out := &Response{T: c.T, Request: r, Status: resp.StatusCode, Header: resp.Header}
	if out.Raw, err = io.ReadAll(resp.Body); err != nil {
		return out, err
	}
	if len(out.Raw) > 0 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err = json.Unmarshal(out.Raw, &out.JSON); json.Valid(out.Raw) {
			err = nil // free-form attributes may contain a number that a float can't hold
		}
	}
	return out, err
}

// Get sends a GET.
func (c *Client) Get(path string) *Response { c.T.Helper(); return c.Do("GET", path, nil) }

// Post sends a POST.
func (c *Client) Post(path string, body any) *Response {
	c.T.Helper()
	return c.Do("POST", path, body)
}

// PostKeyed is [Client.Post] with an Idempotency-Key.
func (c *Client) PostKeyed(key, path string, body any) *Response {
	c.T.Helper()
	return c.Do("POST", path, body, api.IdempotencyKeyHeader, key)
}

// Patch sends a PATCH.
func (c *Client) Patch(path string, body any) *Response {
	c.T.Helper()
	return c.Do("PATCH", path, body)
}

// Delete sends a DELETE.
func (c *Client) Delete(path string) *Response { c.T.Helper(); return c.Do("DELETE", path, nil) }
