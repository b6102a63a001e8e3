// Package proxy stands between clients and a host of the API, and compares each response with the
// contract (package conformance). It passes requests and responses on as they are.
//
// The observer keeps no credential, no body and no value of an object: it remembers credentials, ids and
// Idempotency-Keys as hashes with a key of the process.
package proxy

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

const (
	// maxResponse is the size up to which a response is compared; clients accept no larger one.
	maxResponse = 64 << 20
	// maxHeaderLine is the size of the part of a CSV file that is compared.
	maxHeaderLine = 4 << 10
)

// Proxy is an http.Handler in front of a host. It is safe for concurrent use.
type Proxy struct {
	upstream *url.URL
	readOnly bool
	reverse  *httputil.ReverseProxy
	observer *observer
	// recording is nil unless exchanges are recorded.
	recording *recording
}

// New returns a proxy in front of the host at upstream. If readOnly, it passes only requests on that
// change nothing.
func New(upstream *url.URL, readOnly bool) *Proxy {
	p := &Proxy{upstream: upstream, readOnly: readOnly, observer: newObserver()}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // as the client receives it
	p.reverse = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      transport,
		ModifyResponse: p.receive,
		ErrorHandler:   p.unreachable,
		FlushInterval:  -1, // an export is streamed
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	return p
}

// rewrite sends a request to the host. It asks for no compression, so that the response can be read.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.upstream)
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.Header.Del("Accept-Encoding")
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, ok := conformance.OperationOf(r)
	ok = ok && r.Method == s.Method // a HEAD is for none
	if p.readOnly && mayChange(s, ok, r) {
		name := "a " + r.Method
		if ok {
			name = s.ID
		}
		p.observer.blocked(name)
		blocked(name).Write(w)
		return
	}
	if !ok {
		p.observer.outside()
		p.reverse.ServeHTTP(w, r)
		return
	}
	x := p.observer.begin(s, r)
	defer p.observer.end(x)
	if p.recording != nil {
		defer p.recording.end(x)
	}
	if r.Body != nil {
		r.Body = &copied{ReadCloser: r.Body, limit: api.MaxBodyBytes, done: func(body []byte) { x.sent.Store(&body) }}
	}
	p.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// mayChange reports whether a request may change something. Of the operations that are no GET, only the
// export changes nothing. Some hosts take the method from a header or from the query.
func mayChange(s api.Spec, isOperation bool, r *http.Request) bool {
	query, _ := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "&")) // hosts differ in the separator
	methods := query["_method"]
	for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
		methods = append(methods, r.Header.Values(name)...)
	}
	if slices.ContainsFunc(methods, func(method string) bool { return !isSafe(strings.ToUpper(method)) }) {
		return true
	}
	return !isSafe(r.Method) && (!isOperation || s.Changes())
}

// isSafe reports whether requests of a method change nothing (RFC 9110, section 9.2.1).
func isSafe(method string) bool {
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}, method)
}

// blocked returns the response to a request that is not passed on.
func blocked(name string) *api.Error {
	return api.NewError(http.StatusForbidden, api.TypeReadOnly,
		"mailhostd proxy --read-only did not pass %s on to the API, because it may change something; nothing has changed", name).At("path")
}

type exchangeKey struct{}

// receive compares a response when its body has been read.
func (p *Proxy) receive(r *http.Response) error {
	x, ok := r.Request.Context().Value(exchangeKey{}).(*exchange)
	if !ok || r.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	x.Status, x.Header, x.answered = r.StatusCode, r.Header.Clone(), true
	limit := maxResponse
	if isCSV := p.recording == nil && x.operation.ID == api.ExportMailboxes.ID && r.StatusCode == x.operation.Status; isCSV {
		limit = maxHeaderLine
	}
	r.Body = &copied{ReadCloser: r.Body, limit: limit, beginning: limit == maxHeaderLine, done: func(body []byte) {
		plain, ok := decompress(x.Header.Get("Content-Encoding"), body)
		x.Body, x.Compressed = plain, !ok
		p.observer.observe(x)
		if p.recording != nil {
			p.recording.add(p.upstream.String(), x)
		}
	}}
	return nil
}

// decompress returns a body without its coding, or false if it is too large, or in a coding that the standard
// library can't read.
func decompress(coding string, body []byte) ([]byte, bool) {
	var r io.Reader
	var err error
	switch strings.ToLower(coding) {
	case "", "identity":
		return body, true
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate": // of some hosts without the header of zlib
		if r, err = zlib.NewReader(bytes.NewReader(body)); err != nil {
			r, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	default:
		return body, false
	}
	if err != nil {
		return body, false
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxResponse+1))
	isReadable := err == nil || errors.Is(err, io.ErrUnexpectedEOF) // of an export, body is the beginning
	return plain, isReadable && len(plain) <= maxResponse
}

// unreachable writes the response to a request that got none. It is a 502, because the host may have
// processed the request.
func (p *Proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // the client is gone
		panic(http.ErrAbortHandler)
	}
	p.observer.unreachable(err)
	api.NewError(http.StatusBadGateway, api.TypeUnavailable, "mailhostd proxy has got no response from %s: %s", p.upstream.Host, err).Write(w)
}

// copied is a body that keeps a copy of what is read. It calls done once at the end of the body, unless
// the body is larger than limit; of a larger one, done gets the beginning if that is enough.
type copied struct {
	io.ReadCloser
	limit     int
	beginning bool
	done      func([]byte)

	kept  bytes.Buffer
	ended bool
}

func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.kept.Write(p[:min(n, max(c.limit+1-c.kept.Len(), 0))])
	if errors.Is(err, io.EOF) && !c.ended {
		c.ended = true
		switch {
		case c.kept.Len() <= c.limit:
			c.done(c.kept.Bytes())
		case c.beginning:
			c.done(c.kept.Bytes()[:c.limit])
		}
	}
	return n, err
}
