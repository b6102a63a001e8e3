// Package conformance compares responses with the contract: the OpenAPI document, and the rules that
// the document states in words, for lists and results (rules.go) and for their objects (identity.go). If several
// rules concern one cause, it reports the first. An independent library validates the bodies. The server's
// tests use it, and mailhostd proxy, which compares another host with the contract.
//
// A Difference never contains a value that may be secret or personal, only its type or form.
package conformance

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// RequestIDHeader is in every response.
const RequestIDHeader = "X-Request-Id"

// Exchange is a request with its response. RequestBody is nil if it is unknown, and the rules about it
// are then not checked.
type Exchange struct {
	Request     *http.Request
	RequestBody []byte
	Status      int
	Header      http.Header
	Body        []byte
	// Compressed means that Body is compressed, so that it can't be compared.
	Compressed bool
}

// Difference is a place at which a response differs from the contract.
type Difference struct {
	// Place is "status", "header X-Request-Id", "response body", or "response body /items/*/id".
	Place    string
	Expected string
	Received string
}

// Required is the Expected of a member that a response lacks.
const Required = "a member"

func (d Difference) String() string {
	return d.Place + ": expected " + d.Expected + ", received " + d.Received
}

// OperationOf returns the operation that a request is for; ok is false for any other request.
func OperationOf(r *http.Request) (s api.Spec, ok bool) {
	d := theDocument()
	if escaped := r.URL.EscapedPath(); path.Clean(escaped) != escaped { // the mux would redirect it
		return s, false
	}
	_, pattern := d.mux.Handler(r)
	s, ok = d.operations[pattern]
	return s, ok
}

// Documents reports whether the operation documents a status code.
func Documents(s api.Spec, status int) bool {
	_, ok := theDocument().responses[s.ID][status]
	return ok
}

// Check compares a response with the operation's documented one.
func Check(s api.Spec, e Exchange) []Difference {
	documented, ok := theDocument().responses[s.ID][e.Status]
	c := &comparison{operation: s, Exchange: e}
	switch {
	case ok:
	case e.Status >= http.StatusBadRequest:
		documented = theDocument().unexpected
		c.differ("status", StatusesOf(s), strconv.Itoa(e.Status))
	default:
		documented = theDocument().responses[s.ID][s.Status]
		c.differ("status", strconv.Itoa(s.Status)+" for a success", strconv.Itoa(e.Status))
	}
	c.headers(documented)
	if e.Request.Method != http.MethodHead && !e.Compressed {
		c.body(documented)
	}
	return c.found
}

// CheckError compares the response to a request that is for no operation with the form of an error.
func CheckError(e Exchange) []Difference {
	c := &comparison{Exchange: e}
	c.headers(theDocument().unexpected)
	if e.Request.Method != http.MethodHead {
		c.body(theDocument().unexpected)
	}
	return c.found
}

// StatusesOf lists the documented status codes of an operation.
func StatusesOf(s api.Spec) string {
	var all []int
	for status := range theDocument().responses[s.ID] {
		all = append(all, status)
	}
	slices.Sort(all)
	words := make([]string, len(all))
	for i, status := range all {
		words[i] = strconv.Itoa(status)
	}
	return oneOf(words)
}

// comparison collects the differences of a response.
type comparison struct {
	operation api.Spec // zero for an error of no operation
	Exchange
	found []Difference
}

func (c *comparison) differ(place, expected, received string) {
	c.found = append(c.found, Difference{place, expected, received})
}

// headers checks the headers that the contract requires, and the form of each that it describes.
func (c *comparison) headers(documented response) {
	required := []string{RequestIDHeader}
	for _, name := range []string{"Retry-After", "WWW-Authenticate", "Content-Disposition"} {
		if slices.Contains(documented.headers, name) {
			required = append(required, name)
		}
	}
	for _, name := range required {
		if c.Header.Get(name) == "" {
			c.differ("header "+name, "a value", "no header")
		}
	}
	if coding := c.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		c.differ("header Content-Encoding", "no header, because the request accepts no compression", form(coding))
	}
	for _, name := range theDocument().integerHeaders {
		if value := c.Header.Get(name); value != "" && strings.Trim(value, "0123456789") != "" {
			c.differ("header "+name, "a whole number", form(value))
		}
	}
	if value := c.Header.Get("WWW-Authenticate"); value != "" && c.Status == http.StatusUnauthorized {
		if scheme, _, _ := strings.Cut(value, " "); !strings.EqualFold(strings.TrimSuffix(scheme, ","), "Bearer") {
			c.differ("header WWW-Authenticate", "Bearer", form(scheme))
		}
	}
	if value := c.Header.Get("Content-Disposition"); value != "" && slices.Contains(documented.headers, "Content-Disposition") {
		if disposition, parameters, err := mime.ParseMediaType(value); err != nil || disposition != "attachment" || parameters["filename"] == "" {
			c.differ("header Content-Disposition", "attachment with a filename", "another value")
		}
	}
	c.replayed()
}

// replayed checks the header that says whether a response is a replayed one.
func (c *comparison) replayed() {
	value := c.Header.Get(api.IdempotencyReplayedHeader)
	lookup := c.Request.Method == http.MethodGet && c.Request.Header.Get(api.IdempotencyKeyHeader) != "" && c.Status == c.operation.Status
	switch {
	case lookup && value != "false":
		c.differ("header "+api.IdempotencyReplayedHeader, "false, because the request has an "+api.IdempotencyKeyHeader, received(value))
	case value != "" && value != "true" && value != "false":
		c.differ("header "+api.IdempotencyReplayedHeader, "true or false", received(value))
	}
}

func received(header string) string {
	if header == "" {
		return "no header"
	}
	return form(header)
}
