package api

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Prefix is the path prefix of every operation.
const Prefix = "/v1/public/accounts/{account_id}"

// Spec describes one operation of the contract.
type Spec struct {
	// Number is the operation's number in the published specification, or 0 for a lifecycle operation.
	Number int
	// ID is the operation's name in the OpenAPI document and in logs.
	ID     string
	Method string
	// Path is the complete path, including Prefix, with {names} for the path parameters.
	Path string
	// Status is the status code of a successful response.
	Status int
	// Capability is the capability that a grant must name; empty if any credential of the account suffices.
	Capability vocab.Capability
	// Narrowable means that a grant restricted to a workspace or a domain permits the operation on the
	// objects in it.
	Narrowable bool
	// WhenCancelled means that the operation may change a cancelled account.
	WhenCancelled bool
	Kind          Kind
	Summary       string
	// Request and Response are the types of the input and of the response body.
	Request, Response reflect.Type
}

// Kind is a kind of object, with the operations on it.
type Kind struct {
	// Tag groups the kind's operations in the OpenAPI document, with a description.
	Tag, Description string
	// Noun names an object in messages; empty if no operation contains one in its path.
	Noun string
}

// Keyed reports whether the operation takes an Idempotency-Key, because it creates an object or moves
// money.
func (s Spec) Keyed() bool {
	_, ok := s.Request.FieldByName("IdempotencyKey")
	return ok
}

// Operation is one operation of the API with its request (parameters and Body) and response
// type.
type Operation[Req, Resp any] struct {
	Spec
}

// Lifecycle reports whether the operation is not among the 22 published ones.
func (s Spec) Lifecycle() bool { return s.Number == 0 }

// Changes reports whether the operation changes the account. A cancelled account refuses changes.
func (s Spec) Changes() bool {
	return s.Method != http.MethodGet && s.Response != reflect.TypeFor[CSV]()
}

// NoContent is the response type of an operation with the status code 204.
type NoContent struct{}

// CSV is the response of an operation that streams text/csv.
type CSV struct {
	Filename string
	Write    func(io.Writer) error
}

var specs []Spec

// Specs returns the published operations in the specification's order, and then the others by path.
func Specs() []Spec {
	return slices.SortedFunc(slices.Values(specs), func(a, b Spec) int {
		if a.Lifecycle() != b.Lifecycle() {
			return cmp.Compare(b.Number, a.Number)
		}
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
}

// define adds an operation with a JSON response to Specs. route is "METHOD /path/after/prefix".
func define[Req, Resp any](route, summary string, s Spec) Operation[Req, Resp] {
	method, path, ok := strings.Cut(route, " ")
	if !ok || s.ID == "" || s.Kind.Tag == "" {
		panic(fmt.Sprintf("api: incomplete operation %q", route))
	}
	s.Method, s.Path, s.Summary, s.Status = method, Prefix+path, summary, cmp.Or(s.Status, http.StatusOK)
	s.Request, s.Response = reflect.TypeFor[Req](), reflect.TypeFor[Resp]()
	specs = append(specs, s)
	return Operation[Req, Resp]{s}
}

// defineCreate is define for an operation that creates one object, with the status code 201.
func defineCreate[Body, Resp any](route, summary string, s Spec) Operation[KeyedRequest[Body], Resp] {
	s.Status = http.StatusCreated
	return define[KeyedRequest[Body], Resp](route, summary, s)
}

// defineEmpty is define for an operation without a response body.
func defineEmpty[Req any](route, summary string, s Spec) Operation[Req, NoContent] {
	s.Status = http.StatusNoContent
	return define[Req, NoContent](route, summary, s)
}

// Capabilities returns every capability that an operation requires, in the operations' order.
func Capabilities() []vocab.Capability { return capabilitiesOf(func(Spec) bool { return true }) }

// PathParameters returns the names of the parameters in the operation's path, in order.
func (s Spec) PathParameters() (names []string) {
	for segment := range strings.SplitSeq(s.Path, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.Trim(segment, "{}"))
		}
	}
	return names
}

// PathValues returns the path parameters in a URL of the operation.
func (s Spec) PathValues(u *url.URL) map[string]string {
	values := map[string]string{}
	segments := strings.Split(u.EscapedPath(), "/") // an escaped slash does not end a segment
	for i, segment := range strings.Split(s.Path, "/") {
		if !strings.HasPrefix(segment, "{") || i >= len(segments) {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			value = segments[i]
		}
		values[strings.Trim(segment, "{}")] = value
	}
	return values
}

// PlanCapabilities returns the capabilities that a plan requires: those of all reads except the audit
// log. None permits a change.
func PlanCapabilities() []vocab.Capability {
	return capabilitiesOf(func(s Spec) bool { return s.Method == http.MethodGet && s.ID != ListAuditLog.ID })
}

func capabilitiesOf(selected func(Spec) bool) (caps []vocab.Capability) {
	for _, s := range Specs() {
		if s.Capability != "" && selected(s) && !slices.Contains(caps, s.Capability) {
			caps = append(caps, s.Capability)
		}
	}
	return caps
}
