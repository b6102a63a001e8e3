package proxy

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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

// Forms of replacements, of which %d is the number.
const (
	userForm, firstForm, lastForm = "user-%d", "First %d", "Last %d"
	nameForm                      = "Name %d" // of a whole person, or of a registrant's organization and so on
	textForm                      = "Text %d"
	hostForm                      = "host-%d"
)

// personal lists the personal members in the form of plain, also those that another host may add.
var personal = map[string]string{
	"localpart": userForm, "username": userForm, "login": userForm,
	"firstname": firstForm, "givenname": firstForm, "lastname": lastForm, "familyname": lastForm, "surname": lastForm,
	"submittername": nameForm, "displayname": nameForm, "fullname": nameForm, "organization": nameForm, "address1": nameForm, "phone": nameForm,
	"title": textForm, "description": textForm, "adminnotes": textForm, "remoteaddress": hostForm,
}

// fixed lists the members whose strings are words of the API, also in the errors of another host.
var fixed = []string{
	"action", "capability_key", "code", "country_code", "currency", "error_code", "estimated_total", "fields", "ip", "loc", "operation", "price", "rdns",
	"request_id", "status", "token_last4", "token_prefix", "token_public_id", "type",
}

// messages lists the members of errors that contain a message, also in the errors of another host.
var messages = []string{"detail", "error", "error_description", "errors", "message", "messages", "msg", "reason"}

// separators are characters that a local part may contain, and that separate it from other text more often.
const separators = "'=/&?|"

var (
	// addressPattern matches an address in a text.
	addressPattern = regexp.MustCompile("[\\pL\\pM\\pN.!#$%&'*+/=?^_`{|}~-]+@(?:[\\pL\\pM\\pN-]+\\.)+[\\pL\\pN-]{2,}")
	// tokenPattern matches an id, a dotted name or a word.
	tokenPattern = regexp.MustCompile(`[[:xdigit:]]{8}(?:-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}|[\pL\pM\pN_-]+(?:\.[\pL\pM\pN_-]+)+|[\pL\pM\pN_]+`)
	// escapedPattern matches a part of a text that contains an escaped byte of a URL.
	escapedPattern = regexp.MustCompile(`[^\s"]*%[[:xdigit:]]{2}[^\s"]*`)
)

// vocabulary contains the values of all enumerations.
var vocabulary = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, s := range api.Specs() {
		for _, f := range fieldsOf(s) {
			for _, word := range f.Enum {
				words[strings.ToLower(word)] = true
			}
		}
	}
	return words
})

// fieldsOf returns the parameters and members of an operation and of an error by name.
func fieldsOf(s api.Spec) map[string]*api.Field {
	fields := map[string]*api.Field{}
	var add func([]*api.Field)
	add = func(all []*api.Field) {
		for _, f := range all {
			if f.Name != "" && (fields[f.Name] == nil || f.Kind == reflect.Struct || f.Kind == reflect.Slice) {
				fields[f.Name] = f
			}
			add(f.Members)
			if f.Element != nil {
				add(f.Element.Members)
			}
		}
	}
	for _, t := range []reflect.Type{s.Request, s.Response, reflect.TypeFor[api.Error]()} {
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		add(api.FieldsOf(t))
	}
	return fields
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

// plain returns the name of a member or column without spaces and punctuation, in lower case.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
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

// address replaces an address, with or without the name of a person before it, or a local part alone.
func (a *anonymizer) address(s string) string {
	if a.isFixed(s) {
		return s
	}
	parsed, err := mail.ParseAddress(s)
	at := strings.LastIndex(s, "@")
	switch {
	case err == nil && parsed.Name != "":
		return a.replace(nameForm, parsed.Name) + " <" + a.address(parsed.Address) + ">"
	case at > 0 && s[:at] != "*":
		a.domains[strings.ToLower(s[at+1:])] = strings.Contains(s[at+1:], ".")
		return a.replace(userForm, s[:at]) + "@" + a.text(s[at+1:])
	case at >= 0:
		return s
	}
	return a.replace(userForm, s)
}

// addresses replaces the addresses in a text.
func (a *anonymizer) addresses(s string) string {
	return addressPattern.ReplaceAllStringFunc(s, func(match string) string {
		local := match[:strings.LastIndex(match, "@")]
		start := 0 // of a known local part, or else after the last character that a local part seldom contains
		for a.replacements[userForm+strings.ToLower(local[start:])] == "" {
			next := strings.IndexAny(local[start:], separators)
			if next < 0 {
				break
			}
			start += next + 1
		}
		if start == len(local) || local[start:] == "*" {
			return match
		}
		return local[:start] + a.replace(userForm, local[start:]) + match[len(local):]
	})
}

// text replaces the addresses in a text, and the words that are personal values.
func (a *anonymizer) text(s string) string {
	s = escapedPattern.ReplaceAllStringFunc(s, func(escaped string) string {
		unescaped, err := url.PathUnescape(escaped)
		if replaced := a.text(unescaped); err == nil && replaced != unescaped {
			return (&url.URL{Path: replaced}).EscapedPath()
		}
		return escaped
	})
	var b strings.Builder
	end := 0
	for _, address := range addressPattern.FindAllStringIndex(s, -1) {
		b.WriteString(a.replaceWords(s[end:address[0]]))
		b.WriteString(a.addresses(s[address[0]:address[1]]))
		end = address[1]
	}
	b.WriteString(a.replaceWords(s[end:]))
	return b.String()
}

// replaceWords replaces the longest sequences of words that are personal values.
func (a *anonymizer) replaceWords(s string) string {
	var b strings.Builder
	end := 0
	tokens := tokenPattern.FindAllStringIndex(s, -1)
	for i := 0; i < len(tokens); i++ {
		for _, n := range a.lengths {
			if i+n > len(tokens) {
				continue
			}
			replacement := a.word(s[tokens[i][0]:tokens[i+n-1][1]])
			if replacement != "" {
				b.WriteString(s[end:tokens[i][0]])
				b.WriteString(replacement)
				i += n - 1
				end = tokens[i][1]
				break
			}
		}
	}
	return b.String() + s[end:]
}

// word returns the replacement of a word or a sequence of words, or "".
func (a *anonymizer) word(s string) string {
	if a.isFixed(s) {
		return ""
	}
	s = norm.NFC.String(s)
	lower := strings.ToLower(s)
	if found := cmp.Or(a.words[s], a.words[lower], a.parts[lower]); found != "" || !strings.Contains(s, ".") {
		return found
	}
	labels := strings.Split(s, ".") // such as jane.doe
	for i, label := range labels {
		if labels[i] = cmp.Or(a.words[label], a.words[strings.ToLower(label)], a.parts[strings.ToLower(label)]); labels[i] == "" {
			return ""
		}
	}
	return strings.Join(labels, ".")
}

// isFixed reports whether a value is an id, or a domain of the recording or a name in it.
func (a *anonymizer) isFixed(s string) bool {
	if api.IsID(s) || a.ids[s] || strings.ContainsAny(s, "@ ") {
		return api.IsID(s) || a.ids[s]
	}
	for s = strings.ToLower(s); strings.Contains(s, "."); _, s, _ = strings.Cut(s, ".") {
		if a.domains[s] {
			return true
		}
	}
	return false
}

// replace returns the replacement of a personal value, and learns it for texts.
func (a *anonymizer) replace(form, value string) string {
	value = norm.NFC.String(value)
	if form == userForm {
		value = strings.ToLower(value)
	}
	key := form + value
	if found := a.replacements[key]; found != "" {
		return found
	}
	a.numbers[form]++
	replacement := fmt.Sprintf(form, a.numbers[form])
	a.replacements[key] = replacement
	tokens := tokenPattern.FindAllStringIndex(value, -1)
	if len(tokens) == 0 || form == textForm && len(tokens) == 1 { // a single word of a free text may be any word
		return replacement
	}
	value = value[tokens[0][0]:tokens[len(tokens)-1][1]]
	a.learn(a.words, value, replacement, len(tokens))
	if len(tokens) > 1 && (form == firstForm || form == lastForm || form == nameForm) {
		for _, token := range tokenPattern.FindAllString(value, -1) {
			if first, _ := utf8.DecodeRuneInString(token); unicode.IsUpper(first) && utf8.RuneCountInString(token) > 2 {
				a.learn(a.parts, token, replacement, 1)
			}
		}
	}
	return replacement
}

// learn adds the replacement of a value with a number of tokens, unless it is a single letter or a word of the API.
func (a *anonymizer) learn(words map[string]string, value, replacement string, tokens int) {
	lower := strings.ToLower(value)
	if utf8.RuneCountInString(value) < 2 || vocabulary()[lower] {
		return
	}
	for _, key := range []string{value, lower} {
		if words[key] == "" {
			words[key] = replacement
		}
	}
	if !slices.Contains(a.lengths, tokens) {
		a.lengths = append(a.lengths, tokens)
		slices.SortFunc(a.lengths, func(a, b int) int { return b - a })
	}
}
