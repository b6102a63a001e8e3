package proxy

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// anonymizer replaces what identifies people in a complete recording. It goes through the recording three times: to
// learn the ids and the domains, to learn the personal values, and to replace them. The same value always gets the
// same replacement, so that the recording still fits together:
//
//   - The value of a personal member is replaced as a whole, and the local part of an address anywhere.
//   - A string of a member that the contract lacks is replaced as a whole, because nobody knows its meaning.
//   - In any other string, each word or sequence of words that is a personal value elsewhere is replaced: in the
//     message of an error, the name of a workspace, a path.
//   - Ids, domains, enumerations, times and the names of the contract's members stay.
//
// This file goes through the recording. personal.go lists what is personal, and replace.go replaces it in a string.
type anonymizer struct {
	replacements map[string]string // by form and value
	numbers      map[string]int    // of replacements by form
	words        map[string]string // the replacements in texts, by value
	parts        map[string]string // the same for the words of a name
	lengths      []int             // numbers of tokens of the keys of words, the largest first
	ids, domains map[string]bool

	operation api.Spec
	fields    map[string]*api.Field            // of the operation
	all       map[string]map[string]*api.Field // by operation
}

// anonymous returns the interactions of a recording without what identifies people, and the replacements of the names and
// local parts.
func anonymous(exchanges []*recorded) ([]*cassette.Interaction, map[string]string) {
	a := &anonymizer{ids: map[string]bool{}, domains: map[string]bool{}, all: map[string]map[string]*api.Field{}}
	var interactions []*cassette.Interaction
	for round := range 3 {
		if round < 2 {
			a.replacements, a.numbers, a.words, a.parts = map[string]string{}, map[string]int{}, map[string]string{}, map[string]string{}
		}
		interactions = nil
		for _, x := range exchanges {
			interactions = append(interactions, a.interaction(x))
		}
	}
	replaced := map[string]string{}
	for key, replacement := range a.replacements {
		for _, form := range []string{userForm, firstForm, lastForm, nameForm} {
			if value, ok := strings.CutPrefix(key, form); ok {
				replaced[value] = replacement
			}
		}
	}
	return interactions, replaced
}

func (a *anonymizer) interaction(x *recorded) *cassette.Interaction {
	a.operation, a.fields = x.operation, a.all[x.operation.ID]
	if a.fields == nil {
		a.fields = fieldsOf(x.operation)
		a.all[x.operation.ID] = a.fields
	}
	i := *x.interaction
	before, after, _ := strings.Cut(i.Request.URL, "?")
	i.Request.URL = strings.TrimSuffix(before, x.path) + a.path(x.path)
	if after != "" {
		i.Request.URL += "?" + a.query(after)
	}
	a.value(x.registrant, "")
	i.Request.Body, i.Response.Body = a.body(i.Request.Body), a.body(i.Response.Body)
	i.Request.ContentLength, i.Response.ContentLength = int64(len(i.Request.Body)), int64(len(i.Response.Body))
	i.Request.Headers, i.Response.Headers = a.headers(i.Request.Headers), a.headers(i.Response.Headers)
	return &i
}

// headers replaces the values in the headers that may contain any text.
func (a *anonymizer) headers(all http.Header) http.Header {
	all = all.Clone()
	for _, name := range []string{"Content-Disposition", "User-Agent", "WWW-Authenticate"} {
		for i, value := range all.Values(name) {
			all.Values(name)[i] = a.text(value)
		}
	}
	return all
}

// path replaces the values in the parameters of a path.
func (a *anonymizer) path(escaped string) string {
	segments := strings.Split(escaped, "/")
	for i, parameter := range strings.Split(a.operation.Path, "/") {
		if !strings.HasPrefix(parameter, "{") || i >= len(segments) {
			continue
		}
		name, err := url.PathUnescape(segments[i])
		replaced := a.text(name)
		if parameter == "{mailbox}" {
			replaced = a.address(name)
		}
		if err == nil && replaced != name {
			segments[i] = url.PathEscape(replaced)
		}
	}
	return strings.Join(segments, "/")
}

func (a *anonymizer) query(raw string) string {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return journal.Redacted
	}
	isOfPeople := a.operation.ID == api.ListMailboxes.ID || a.operation.ID == api.ListForwarding.ID
	for name, list := range values {
		for i, value := range list {
			if name == "search" && isOfPeople {
				list[i] = a.search(value)
			} else {
				list[i] = a.string(name, value)
			}
		}
	}
	return values.Encode()
}

// search returns the replacement of a searched text: the one of a name, if it is one, so that it still finds it.
func (a *anonymizer) search(text string) string {
	if replaced := a.text(text); replaced != text || text == "" {
		return replaced
	}
	for domain := range a.domains {
		if strings.Contains(domain, strings.ToLower(text)) {
			return text
		}
	}
	return a.replace(textForm, text)
}

// body replaces the values in a body: JSON, or an export.
func (a *anonymizer) body(body string) string {
	if body == "" || body == journal.Redacted {
		return body
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&v) == nil {
		text, _ := api.EncodeJSON(a.value(v, "")) // decoded JSON, so there is no error
		return string(bytes.TrimSpace(text))
	}
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || !slices.ContainsFunc(rows[0], func(column string) bool { return strings.HasSuffix(plain(column), "email") }) {
		return journal.Redacted
	}
	for _, row := range rows[1:] {
		for i, column := range rows[0] {
			if slices.Contains(api.ExportColumns, column) {
				a.fields[column] = &api.Field{}
			}
			row[i] = a.string(column, row[i])
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.WriteAll(rows) // to a buffer
	return out.String()
}

// value replaces the values in JSON. name is the member that contains it.
func (a *anonymizer) value(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		replaced := map[string]any{}
		isPerson := v["subject_type"] != "service_account" && v["grants"] != nil || (name == "subject" || name == "created_by") && v["type"] != "service_account"
		for _, member := range slices.Sorted(maps.Keys(v)) {
			text, isText := v[member].(string)
			switch {
			case isPerson && member == "name" && isText && !strings.Contains(text, "@"):
				replaced[member] = a.replace(nameForm, text)
			case name == "attributes" || name == "subject_details":
				replaced[a.text(member)] = a.value(v[member], name)
			case a.fields[member] != nil:
				replaced[member] = a.value(v[member], member)
			default:
				replaced[a.text(member)] = a.value(v[member], member)
			}
		}
		return replaced
	case []any:
		for i := range v {
			v[i] = a.value(v[i], name)
		}
	case json.Number:
		if name == "id" {
			a.ids[v.String()] = true
		} else if personal[plain(name)] != "" {
			return a.string(name, v.String())
		}
	case string:
		if name == "attributes" || name == "subject_details" {
			return a.replace(textForm, v)
		}
		return a.string(name, v)
	}
	return v
}

// string replaces the values in a string, which is in the member, parameter or column name.
func (a *anonymizer) string(name, s string) string {
	f, isKnown := a.fields[name]
	form := personal[plain(name)]
	_, err := time.Parse(time.RFC3339, s)
	isDNS := strings.Contains(a.operation.ID, "dns")
	switch {
	case s == "" || s == journal.Redacted || slices.Contains(fixed, name) || err == nil:
		return s
	case isKnown && (f.Kind == reflect.Int64 || f.Kind == reflect.Bool):
		return s
	case name == "id":
		a.ids[s] = true
		return s
	case name == "domain" || name == "domain_name" || name == "domains" || name == "name" && strings.Contains(a.operation.Path, "/domains"):
		if strings.Contains(s, ".") && !strings.Contains(s, "@") {
			a.domains[strings.ToLower(s)] = true
		}
		return a.text(s)
	case isDNS && (name == "name" || name == "value" && (strings.HasPrefix(s, "v=") || !strings.Contains(s, " "))): // words of the DNS
		return a.addresses(s)
	case form == userForm && strings.Contains(s, "@"):
		return a.address(s)
	case form != "":
		a.addresses(s)
		return a.replace(form, s)
	case strings.HasSuffix(plain(name), "email") || name == "alias" || name == "aliases" || name == "mailboxes":
		return a.address(s)
	case !isKnown && !api.IsID(s) && !slices.Contains(messages, name):
		a.addresses(s)
		return a.replace(textForm, s)
	}
	return a.text(s)
}
