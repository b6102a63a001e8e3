package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Response is a received response.
type Response struct {
	T       TB
	Request *http.Request
	Status  int
	Header  http.Header
	Raw     []byte
	JSON    any // the body, if it is JSON
}

// String renders the request and the response.
func (r *Response) String() string {
	return fmt.Sprintf("%s %s: %d %.2000s", r.Request.Method, r.Request.URL, r.Status, r.Raw)
}

// Want fails the test unless the status code matches.
func (r *Response) Want(status int) *Response {
	r.T.Helper()
	if r.Status != status {
		r.T.Fatalf("%s; want %d", r, status)
	}
	return r
}

// Into decodes the body.
func (r *Response) Into(v any) *Response {
	r.T.Helper()
	if err := json.Unmarshal(r.Raw, v); err != nil {
		r.T.Fatalf("%s: %v", r, err)
	}
	return r
}

// At returns the value at a place of the body, such as "items.0.id", or nil.
func (r *Response) At(place string) any {
	v := r.JSON
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

// Str returns the string at a place of the body, or "".
func (r *Response) Str(place string) string {
	s, _ := r.At(place).(string)
	return s
}

// Is compares values of the body. pairs alternates places and values.
func (r *Response) Is(pairs ...any) *Response {
	r.T.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		got, want := r.At(pair[0].(string)), pair[1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got != want {
			r.T.Errorf("%s is %v; want %v in %s", pair[0], got, want, r)
		}
	}
	return r
}

// Each returns the strings at a place of each item of a page.
func (r *Response) Each(place string) []string {
	r.T.Helper()
	items, ok := r.Want(200).At("items").([]any)
	if !ok {
		r.T.Fatalf("no items: %s", r)
	}
	out := make([]string, len(items))
	for i := range items {
		out[i] = r.Str("items." + strconv.Itoa(i) + "." + place)
	}
	return out
}

// Problems returns the problems of an error, each as its location with dots and its type.
func (r *Response) Problems() []string {
	var body struct {
		Detail []struct {
			Loc       []string
			Msg, Type string
		}
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		r.T.Errorf("%s: %v", r, err)
	}
	var out []string
	for _, p := range body.Detail {
		out = append(out, strings.Join(p.Loc, ".")+" "+p.Type)
	}
	return out
}

// Refused fails the test unless the response is an error with exactly these [Response.Problems].
func (r *Response) Refused(status int, problems ...string) *Response {
	r.T.Helper()
	if r.Status != status || !slices.Equal(r.Problems(), problems) {
		r.T.Fatalf("%s; want %d %q", r, status, problems)
	}
	return r
}

// Says fails the test unless the message of the first problem contains all words.
func (r *Response) Says(words ...string) *Response {
	r.T.Helper()
	for _, w := range words {
		if !strings.Contains(r.Str("detail.0.msg"), w) {
			r.T.Fatalf("%s; want %q in the message", r, w)
		}
	}
	return r
}

// Replayed reports whether this is a replayed response.
func (r *Response) Replayed() bool { return r.Header.Get("Idempotency-Replayed") == "true" }
