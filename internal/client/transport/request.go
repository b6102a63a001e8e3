package transport

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// request is an encoded request, without the headers that each attempt adds.
type request struct {
	url    *url.URL
	header http.Header
	body   []byte // nil if the operation has none
	// object is the value of the path's last parameter, which names what the
	// request is about.
	object string
}

// encode builds a request from a request struct of the contract. req is a pointer to the struct.
func encode(base string, s api.Spec, req any) (*request, error) {
	e, err := s.Encode(req)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(base + e.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: the request's URL is malformed", s.ID)
	}
	u.RawQuery = e.Query.Encode()
	return &request{url: u, header: e.Header, body: e.Body, object: e.Object}, nil
}

// setField sets a string field that the contract's embedded structs promote.
func setField(req any, name, value string) {
	reflect.ValueOf(req).Elem().FieldByName(name).SetString(value)
}

// namesObject reports whether the operation's path names an object besides the
// account.
func namesObject(s api.Spec) bool { return strings.Count(s.Path, "{") > 1 }

func isCSV(s api.Spec) bool { return s.Response == reflect.TypeFor[api.CSV]() }

// listsAll reports whether the request is for a list that every API has, without a
// filter. If that fails with 404, the API or the account does not exist.
func (e *request) listsAll(s api.Spec) bool {
	if s.Method != http.MethodGet || s.Lifecycle() || namesObject(s) {
		return false
	}
	query := e.url.Query()
	query.Del("page")
	query.Del("page_size")
	return len(query) == 0
}
