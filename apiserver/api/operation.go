package api

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Prefix is the path under which every operation lives.
const Prefix = "/v1/public/accounts/{account_id}"

// Spec is what the contract says of one operation, apart from its types.
type Spec struct {
	// Number is the operation's number in the published specification; 0 marks
	// the lifecycle operations beyond it.
	Number int
	// ID is the operation's name in the OpenAPI document and in logs.
	ID     string
	Method string
	// Path is complete, Prefix included, with {names} for the path parameters.
	Path string
	// Status is the code of a successful answer.
	Status int
	// Capability is what a caller's grants must name; empty where a valid
	// credential of the account is enough.
	Capability Capability
	// Narrowable says that a capability grant narrowed to a workspace or a domain
	// is enough, for what lies in it. Elsewhere a narrowed grant permits nothing.
	Narrowable bool
	// Tag groups operations by resource in the OpenAPI document.
	Tag     string
	Summary string
	// Request and Response are the types of the input and of the answer's body.
	Request, Response reflect.Type
}

// Keyed reports whether the operation takes an Idempotency-Key: every request
// that creates something or moves money does.
func (s Spec) Keyed() bool {
	_, ok := s.Request.FieldByName("IdempotencyKey")
	return ok
}

// Operation is one operation of the API with the type of its request (path,
// query and header parameters, and Body) and of its response body.
type Operation[Req, Resp any] struct {
	Spec
}

// Lifecycle reports whether the operation is beyond the 22 published ones.
func (s Spec) Lifecycle() bool { return s.Number == 0 }

// Changes reports whether the operation changes something; a cancelled account
// takes no such request.
func (s Spec) Changes() bool {
	return s.Method != http.MethodGet && s.Response != reflect.TypeFor[CSV]()
}

// NoContent is the response type of an operation that answers 204.
type NoContent struct{}

// CSV is the response type of an operation that streams text/csv.
type CSV struct{}

var operations []operation

// operation is an Operation without its types.
type operation struct {
	Spec
	document func(huma.API)
}

// Specs returns every operation: the published ones in the order of the
// specification, then the lifecycle operations by path.
func Specs() []Spec {
	all := make([]Spec, 0, len(operations))
	for _, o := range sorted() {
		all = append(all, o.Spec)
	}
	return all
}

func sorted() []operation {
	return slices.SortedFunc(slices.Values(operations), func(a, b operation) int {
		if a.Lifecycle() != b.Lifecycle() {
			return cmp.Compare(b.Number, a.Number)
		}
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
}

// define builds an operation from "METHOD /path/after/prefix" and records it.
func define[Req, Resp any](route string, s Spec) Operation[Req, Resp] {
	method, path, ok := strings.Cut(route, " ")
	if !ok || s.ID == "" || s.Tag == "" || s.Summary == "" {
		panic(fmt.Sprintf("api: incomplete operation %q", route))
	}
	s.Method, s.Path = method, Prefix+path
	s.Request, s.Response = reflect.TypeFor[Req](), reflect.TypeFor[Resp]()
	switch {
	case s.Status != 0:
	case s.Response == reflect.TypeFor[NoContent]():
		s.Status = http.StatusNoContent
	default:
		s.Status = http.StatusOK
	}
	op := Operation[Req, Resp]{Spec: s}
	operations = append(operations, operation{Spec: s, document: func(h huma.API) { op.register(h, nil) }})
	return op
}
