package replay

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// exchange is a recorded request with its response. Its place in the recording is its time.
type exchange struct {
	at      int
	request request
	status  int
	header  http.Header
	body    []byte
	value   any // the body as JSON, or nil
}

// request is a request for an operation, without its secrets.
type request struct {
	operation api.Spec
	account   string
	url       *url.URL
	query     url.Values
	body      any // as JSON, or nil
}

// object is a JSON object.
type object = map[string]any

// newRequest returns a request without its secrets, so that those of a recording need not be known.
func newRequest(s api.Spec, u *url.URL, body []byte) request {
	query, _ := url.ParseQuery(journal.RedactQuery(u.RawQuery))
	return request{s, api.CanonicalID(s.PathValues(u)["account_id"]), u, query, decode(journal.Redact(s.ID, body))}
}

// collectionOf returns the path of the collection that an operation reads or changes.
func collectionOf(s api.Spec) string {
	path, _, _ := strings.Cut(s.Path[len(api.Prefix):], "/{")
	for _, verb := range []string{"/claim", "/purchase", "/bulk", "/export"} {
		path = strings.TrimSuffix(path, verb)
	}
	return path
}

// isList reports whether an operation lists objects that have an id.
func isList(s api.Spec) bool {
	if _, paged := s.Request.FieldByName("PageSize"); paged {
		return true
	}
	return s.ID == api.ListAuthorizations.ID
}

// nameParameter returns the last parameter of a path, which names the object, or "".
func nameParameter(s api.Spec) string {
	if parameters := s.PathParameters(); len(parameters) > 1 {
		return parameters[len(parameters)-1]
	}
	return ""
}

// nameKey identifies an operation with the name in its path.
func nameKey(r request) string {
	return r.operation.ID + " " + canonical(r.operation.PathValues(r.url)[nameParameter(r.operation)])
}

// canonical returns the spelling of a name that the API stores: of an id, a domain, an address or a part of one.
func canonical(name string) string {
	if api.IsID(name) {
		return api.CanonicalID(name)
	}
	for _, normalize := range []func(string) (string, error){emailaddr.Normalize, domainname.Normalize} {
		if normal, err := normalize(name); err == nil {
			return normal
		}
	}
	return strings.ToLower(name)
}

// itemsOf returns the creates of single mailboxes that have the same effect as a bulk create.
func itemsOf(r request) (items []request) {
	if r.operation.ID != api.CreateMailboxes.ID {
		return nil
	}
	body, _ := r.body.(object)
	for _, item := range objectsIn(body["items"]) {
		single := object{"domain": body["domain"]}
		maps.Copy(single, item)
		items = append(items, request{operation: api.CreateMailbox.Spec, account: r.account, url: r.url, body: single})
	}
	return items
}

func objectsIn(list any) (objects []object) {
	elements, _ := list.([]any)
	for _, element := range elements {
		if o, ok := element.(object); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// timesOf returns the times in a body.
func timesOf(r request) map[string]time.Time {
	times := map[string]time.Time{}
	body, _ := r.body.(object)
	if r.operation.Body() == nil {
		return nil
	}
	for _, f := range r.operation.Body().Members {
		text, _ := body[f.Name].(string)
		if t, err := time.Parse(time.RFC3339, text); err == nil && f.Format == "date-time" {
			times[f.Name] = t
		}
	}
	return times
}
