package fault

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// values are the values of a request, by the names of the contract.
type values struct {
	injector *Injector
	request  apiserver.Request
	path     map[string]string
	query    url.Values
	body     map[string]any // nil for a body that is no object
}

func (i *Injector) valuesOf(r *http.Request, body []byte) values {
	request := apiserver.RequestOf(r.Context())
	v := values{injector: i, request: request, path: request.Operation.PathValues(r.URL), query: r.URL.Query()}
	_ = json.Unmarshal(body, &v.body)
	return v
}

// canonical returns a text in the spelling that the API stores, if the field determines it, so that all
// spellings of one object are equal. Any other text stays unchanged.
func (v values) canonical(f *api.Field, text string) string {
	var normalize func(string) (string, error)
	switch {
	case api.IsID(text):
		return api.CanonicalID(text)
	case f.Format == api.FormatName: // as a person wrote it
		return text
	case f.Kind == reflect.Int64:
		normalize = func(s string) (string, error) {
			n, err := strconv.ParseInt(s, 10, 64)
			return strconv.FormatInt(n, 10), err
		}
	case f.Name == "domain", f.Name == "domains":
		normalize = domainname.Normalize
	case f.Name == "mailbox", f.Name == "mailboxes", strings.HasSuffix(f.Name, "email"):
		normalize = emailaddr.Normalize
	case f.Name == "local_part":
		normalize = emailaddr.ParseLocalPart
	case f.Name == "name": // of a DNS record, or of a domain to buy
		zone := v.related("domain")
		if zone == "" {
			text = strings.TrimSuffix(text, ".")
		}
		normalize = func(s string) (string, error) { return dnsdata.NormalizeName(s, zone) }
	case f.Name == "value" && v.related("type") != "":
		normalize = func(s string) (string, error) { return dnsdata.NormalizeValue(v.related("type"), s) }
	case strings.HasPrefix(f.Name, "country"):
		normalize = api.CheckCountry
	case f.Name == "search":
		return strings.ToLower(text)
	default:
		return text
	}
	if normal, err := normalize(text); err == nil {
		return normal
	}
	return text
}

// related returns another text of the request, with a name in place of an id.
func (v values) related(name string) string {
	text, _ := v.body[name].(string)
	if v.body == nil {
		text = v.query.Get(name)
	}
	return v.nameOf(text)
}

// same reports whether a value of a request is the one of a rule: an object by its name or its id, in any
// spelling.
func (v values) same(f *api.Field, value, want any) bool {
	if f.Kind == reflect.Struct && f.Members == nil { // a free-form object
		return reflect.DeepEqual(value, want)
	}
	switch want := want.(type) {
	case string:
		text, ok := value.(string)
		text, want = v.canonical(f, text), v.canonical(f, want)
		return ok && (text == want || api.IsID(text) != api.IsID(want) && v.canonical(f, v.nameOf(text)) == v.canonical(f, v.nameOf(want)))
	case []any:
		list, ok := value.([]any)
		for n := range want {
			ok = ok && len(list) == len(want) && v.same(elementOf(f), list[n], want[n])
		}
		return ok && len(list) == len(want)
	case map[string]any:
		object, ok := value.(map[string]any)
		for _, m := range f.Members {
			ok = ok && v.same(m, object[m.Name], want[m.Name])
		}
		return ok && len(object) == len(want)
	}
	return reflect.DeepEqual(value, want)
}

// elementOf returns the field of a list's elements, with the list's name.
func elementOf(f *api.Field) *api.Field {
	element := *f.Element
	element.Name = f.Name
	return &element
}

// nameOf returns the name of the object with an id, also after its deletion, and any other text
// unchanged.
func (v values) nameOf(id string) string {
	name := ""
	if v.request.NameOf != nil {
		name = v.request.NameOf(id)
	}
	if name != "" {
		v.injector.names.Store(id, name)
		return name
	}
	if known, ok := v.injector.names.Load(id); ok {
		return known.(string)
	}
	return id
}
