package proxy

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// anonymizer replaces what identifies a person: names, local parts of addresses, free texts and remote
// addresses. The same value always gets the same replacement, so that a recording still fits together.
// Domains stay, and the names of things: of workspaces, service accounts and master passwords.
type anonymizer struct{ replacements map[string]string }

// personal lists the members with the replacement of their values, of which %d is the number.
var personal = map[string]string{
	"local_part": "user-%d", "first_name": "First %d", "last_name": "Last %d", "submitter_name": "First %d",
	"title": "Text %d", "description": "Text %d", "admin_notes": "Text %d", "message": "Text %d", "remote_address": "host-%d",
}

// addressPattern matches an address anywhere in a text, also in the form of a URL.
var addressPattern = regexp.MustCompile(`[^\s@"'<>()\[\],:;/\\|=&?]+@([\pL\pN-]+\.)+[\pL\pN-]{2,}`)

// replace returns the replacement of a value.
func (a *anonymizer) replace(form, value string) string {
	if form == personal["local_part"] {
		value = strings.ToLower(value)
	}
	key := form + value
	if a.replacements[key] == "" {
		number := 1
		for other := range a.replacements {
			if strings.HasPrefix(other, form) {
				number++
			}
		}
		a.replacements[key] = fmt.Sprintf(form, number)
	}
	return a.replacements[key]
}

// text replaces the addresses in a text.
func (a *anonymizer) text(s string) string {
	return addressPattern.ReplaceAllStringFunc(s, func(address string) string {
		at := strings.LastIndex(address, "@")
		return a.replace(personal["local_part"], address[:at]) + address[at:]
	})
}

// body replaces the values in a body: JSON, or an export.
func (a *anonymizer) body(body []byte) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&v) == nil {
		text, _ := api.EncodeJSON(a.value(v, "")) // decoded JSON, so there is no error
		return bytes.TrimSpace(text)
	}
	rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Contains(rows[0], "primary_email") {
		return []byte(a.text(string(body)))
	}
	for _, row := range rows[1:] {
		for i, column := range rows[0] {
			row[i], _ = a.value(row[i], column).(string)
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.WriteAll(rows) // to a buffer
	return out.Bytes()
}

// value replaces the values in JSON. name is the member that contains it.
func (a *anonymizer) value(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		replaced := map[string]any{}
		_, isPerson := v["subject_type"]
		isPerson = isPerson && v["grants"] != nil || name == "subject" || name == "created_by"
		for _, member := range slices.Sorted(maps.Keys(v)) {
			inner := member
			if name == "attributes" || name == "subject_details" {
				inner = name
			}
			switch text, isText := v[member].(string); {
			case isText && (isPerson && member == "name" || name == "attributes" || name == "subject_details"):
				replaced[member] = a.replace("Text %d", text)
			default:
				replaced[a.text(member)] = a.value(v[member], inner)
			}
		}
		return replaced
	case []any:
		for i := range v {
			v[i] = a.value(v[i], name)
		}
	case string:
		if form := personal[name]; form != "" && v != "" && !(name == "message" && !strings.Contains(v, " ")) {
			return a.replace(form, v)
		}
		return a.text(v)
	}
	return v
}

// url replaces the values in a path and its query.
func (a *anonymizer) url(escapedPath, query string) (string, string) {
	segments := strings.Split(escapedPath, "/")
	for i, segment := range segments {
		if name, err := url.PathUnescape(segment); err == nil && a.text(name) != name {
			segments[i] = url.PathEscape(a.text(name))
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil || query == "" {
		return strings.Join(segments, "/"), a.text(query)
	}
	for name, list := range values {
		for i, value := range list {
			if list[i] = a.text(value); name == "search" && list[i] == value {
				list[i] = a.search(value)
			}
		}
	}
	return strings.Join(segments, "/"), values.Encode()
}

// search returns the replacement of a searched text: that of a name, if it is one, so that it still finds it.
func (a *anonymizer) search(text string) string {
	for _, form := range []string{"user-%d", "First %d", "Last %d"} {
		for key, replacement := range a.replacements {
			if original, ok := strings.CutPrefix(key, form); ok && strings.EqualFold(original, text) {
				return replacement
			}
		}
	}
	if strings.Contains(text, ".") { // a part of a domain
		return text
	}
	return a.replace("Text %d", text)
}
