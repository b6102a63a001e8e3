package transport

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxProblems limits the problems of one error.
const maxProblems = 100

// Problem is one thing that is wrong with a request.
type Problem struct {
	// Loc begins with path, query, header or body; empty if the API names no
	// place.
	Loc  []string
	Msg  string
	Type string
}

// String returns the message, after the name of the field that it is about. Other
// places of a request mean nothing to the client's users.
func (p Problem) String() string {
	if len(p.Loc) < 2 || p.Loc[0] != "body" && p.Loc[0] != "query" {
		return p.Msg
	}
	return strings.Join(p.Loc[1:], ".") + ": " + p.Msg
}

// problemParser reads the body of an error response. The API's own is
// {"detail": [{loc, msg, type}]}. Other servers of the family, and gateways before
// them, also send a detail that is a string or an object, or a message under
// another name.
type problemParser struct{ secrets }

func (p problemParser) parse(body []byte) []Problem {
	var parsed any
	if json.Unmarshal(body, &parsed) != nil {
		return nil
	}
	object, ok := parsed.(map[string]any)
	if !ok {
		return p.any(parsed)
	}
	for _, key := range []string{"detail", "details", "errors", "error", "message", "msg", "title"} {
		if found := p.any(object[key]); len(found) > 0 {
			return found
		}
	}
	return nil
}

func (p problemParser) any(v any) []Problem {
	switch v := v.(type) {
	case string:
		if msg := p.text(v); msg != "" {
			return []Problem{{Msg: msg}}
		}
	case []any:
		var all []Problem
		for _, element := range v[:min(len(v), maxProblems)] {
			all = append(all, p.any(element)...)
		}
		return all
	case map[string]any:
		return p.object(v)
	}
	return nil
}

// object reads a problem, or an object that has problems.
func (p problemParser) object(v map[string]any) []Problem {
	for _, key := range []string{"msg", "message", "detail", "error", "reason", "title"} {
		inner, isText := v[key].(string)
		if !isText {
			if found := p.any(v[key]); len(found) > 0 {
				return found
			}
			continue
		}
		if msg := p.text(inner); msg != "" {
			typ, _ := v["type"].(string)
			return []Problem{{Loc: p.loc(v["loc"]), Msg: msg, Type: p.text(typ)}}
		}
	}
	return nil
}

// loc reads a location, whose elements may be numbers.
func (p problemParser) loc(v any) []string {
	elements, ok := v.([]any)
	if !ok {
		return nil
	}
	loc := make([]string, len(elements))
	for i, element := range elements {
		loc[i] = p.text(fmt.Sprint(element))
	}
	return loc
}

func (p problemParser) text(s string) string { return Clean(p.redact(s)) }
