// Package replay responds to requests of the API from a recording, a cassette of go-vcr, in place of a
// host.
//
// A client never sends the requests of a recording again in the same order: it sends several at once,
// reads an object alone or in a list, and asks for pages of another size. So a Recording is a small model
// of the account. Each object has the steps that the recording shows, its creation, changes and deletion,
// and between two steps the values that responses had. A change that arrives is matched by its operation,
// its object and its body, gets the recorded response, and takes its object to that step. Single reads
// and lists both return the last recorded value of the step that an object is at.
//
// A step may be skipped, and the steps of a deleted object begin again with its creation, so that a
// client may do less than the recorded one, or repeat it. A change that is not the next step of its object
// changes the members that it changed in the recording, and leaves the others as they are.
//
// Objects that equal requests have created are twins: the files of a test suite create the same mailbox
// one after the other, and a module several service accounts with the same name. A client can't know which
// twin its create returns, and so an object without a step for a change follows that of a twin. It keeps
// its id. An object in a twin of the owner that exists, such as a mailbox in a domain that was bought again,
// belongs to the owner that exists.
//
// Other responses, such as the account, are the last recorded ones before any change that is still to come
// of an object that they depend on. An export is composed of the current mailboxes.
//
// The files, in the order in which to read them:
//
//	read.go        a cassette becomes exchanges
//	request.go     a request in one spelling, so that two of them can be compared
//	model.go       the objects of the account with their steps
//	build.go       exchanges become the model
//	twins.go       objects that equal requests have created
//	state.go       the step and the value of an object now
//	respond.go     the response to a request; to a read
//	lists.go       the response to a request for a list
//	documents.go   the response to another read, such as an export
//	changes.go     the response to a change
//	unrecorded.go  the response to a request that the recording lacks
package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// Read reads a cassette of go-vcr v4.
func Read(r io.Reader) (*Recording, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var c cassette.Cassette
	switch err := yaml.Unmarshal(text, &c); {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, errors.New("the file is empty; record it anew with mailhostd proxy --record")
	case err != nil:
		return nil, fmt.Errorf("it is no recording, which is YAML: %w; record it anew with mailhostd proxy --record", err)
	case c.Version != cassette.CassetteFormatVersion && len(c.Interactions) == 0:
		return nil, errors.New("it is no recording of mailhostd proxy --record or go-vcr, which has a version and interactions")
	case c.Version != cassette.CassetteFormatVersion:
		return nil, fmt.Errorf("its version is %d, and go-vcr v4 writes version %d; record it anew", c.Version, cassette.CassetteFormatVersion)
	}
	rec := newRecording()
	for i, interaction := range c.Interactions {
		if interaction == nil {
			return nil, fmt.Errorf("interaction %d is empty", i)
		}
		x, ok, err := newExchange(i, interaction)
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", i, err)
		}
		if ok {
			rec.exchanges = append(rec.exchanges, x)
		}
	}
	if len(rec.exchanges) == 0 {
		return nil, errors.New("it contains no request of this API")
	}
	rec.build()
	return rec, nil
}

// newExchange returns an exchange; ok is false if the request is for no operation.
func newExchange(at int, i *cassette.Interaction) (x *exchange, ok bool, err error) {
	u, err := url.Parse(i.Request.URL)
	if err != nil {
		return nil, false, err
	}
	escaped := u.EscapedPath()
	start := strings.Index(escaped, strings.TrimSuffix(api.Prefix, "{account_id}")) // after a host's own prefix
	if start < 0 {
		return nil, false, nil
	}
	if u, err = url.Parse(escaped[start:] + "?" + u.RawQuery); err != nil {
		return nil, false, err
	}
	s, ok := conformance.OperationOf(&http.Request{Method: i.Request.Method, URL: u})
	if !ok || i.Request.Method != s.Method {
		return nil, false, nil
	}
	x = &exchange{at: at, request: newRequest(s, u, []byte(i.Request.Body)), status: i.Response.Code, header: i.Response.Headers, body: []byte(i.Response.Body)}
	x.value = decode(x.body)
	return x, true, nil
}

// decode returns a JSON value with its numbers as they are, or nil.
func decode(text []byte) (value any) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return nil
	}
	return value
}
