package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// inBody begins the place of a difference in a body. A JSON pointer follows, with * for each index.
const inBody = "response body"

// body checks the media type, and the body by its schema and by the rules of the operation.
func (c *comparison) body(documented response) {
	if documented.mediaType == "" {
		if len(c.Body) > 0 && c.Status == c.operation.Status {
			c.differ(inBody, "no body", "a body")
		}
		return
	}
	if c.Status == http.StatusNoContent || c.Status/100 == 3 { // another status is the difference
		return
	}
	mediaType, parameters, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	charset := parameters["charset"]
	switch {
	case mediaType != documented.mediaType:
		if c.differ("header Content-Type", documented.mediaType, mediaTypeOf(mediaType, err)); !json.Valid(c.Body) {
			return
		}
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		c.differ("header Content-Type", documented.mediaType+" in UTF-8", "another charset")
	}
	if documented.schema == nil {
		c.csv()
		return
	}
	value, err := decode(c.Body)
	if err != nil || !utf8.Valid(c.Body) {
		c.differ(inBody, "JSON in UTF-8", textOf(c.Body))
		return
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](documented.schema.Validate(value)); ok {
		c.invalid(invalid, value)
	}
	if c.Status == c.operation.Status {
		c.rules(value)
	}
}

// mediaTypeOf describes a received media type.
func mediaTypeOf(mediaType string, err error) string {
	if mediaType == "" || err != nil {
		return "none"
	}
	return form(mediaType)
}

// textOf describes a body that is not JSON.
func textOf(body []byte) string {
	switch text := bytes.TrimSpace(body); {
	case len(text) == 0:
		return "an empty body"
	case text[0] == '<':
		return "a page"
	case text[0] == '{' || text[0] == '[':
		return "broken JSON"
	}
	return "other text"
}

// decode decodes JSON. It bounds the exponents of numbers, because the validator calculates with
// their digits.
func decode(body []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the JSON value")
	}
	return bounded(value), nil
}

func bounded(value any) any {
	switch v := value.(type) {
	case object:
		for name, member := range v {
			v[name] = bounded(member)
		}
	case []any:
		for i, element := range v {
			v[i] = bounded(element)
		}
	case json.Number:
		if strings.ContainsAny(v.String(), "eE") || len(v) > 40 {
			f, err := v.Float64()
			if err != nil {
				return math.MaxFloat64
			}
			return f
		}
	}
	return value
}

// invalid adds the differences that a validation found. At each place it adds the first of several,
// because a value of another type is in no enumeration either.
func (c *comparison) invalid(e *jsonschema.ValidationError, root any) {
	leaves := slices.SortedStableFunc(slices.Values(leavesOf(e, nil)), func(a, b *jsonschema.ValidationError) int { return rank(a) - rank(b) })
	seen := map[string]bool{}
	for _, leaf := range leaves {
		place := strings.Join(leaf.InstanceLocation, "\x00")
		if isWhole := rank(leaf) > 0; isWhole && seen[place] {
			continue
		} else if isWhole || rank(leaf) == 0 && isType(leaf) {
			seen[place] = true
		}
		c.leaf(leaf, valueAt(root, leaf.InstanceLocation))
	}
}

func leavesOf(e *jsonschema.ValidationError, leaves []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return append(leaves, e)
	}
	for _, cause := range e.Causes {
		leaves = leavesOf(cause, leaves)
	}
	return leaves
}

func isType(e *jsonschema.ValidationError) bool {
	_, ok := e.ErrorKind.(*kind.Type)
	return ok
}

// rank is 0 for what is always a difference of its own, and greater for what may follow from a difference
// at the same place.
func rank(e *jsonschema.ValidationError) int {
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.Required, *kind.AdditionalProperties:
		return 0
	case *kind.Enum:
		return 1
	}
	return 2
}

// leaf adds the difference of a part of a validation error that has no further parts.
func (c *comparison) leaf(e *jsonschema.ValidationError, value any) {
	place := inBody + " " + pointer(e.InstanceLocation)
	if len(e.InstanceLocation) == 0 {
		place = inBody
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		slices.SortStableFunc(k.Want, func(a, b string) int { return strings.Count(a, "null") - strings.Count(b, "null") })
		c.differ(place, oneOf(k.Want), k.Got)
	case *kind.Required:
		for _, name := range k.Missing {
			c.differ(inBody+" "+pointer(append(slices.Clip(e.InstanceLocation), name)), Required, "none")
		}
	case *kind.AdditionalProperties:
		members, _ := value.(object)
		for _, name := range slices.Sorted(slices.Values(k.Properties)) {
			c.differ(inBody+" "+pointer(append(slices.Clip(e.InstanceLocation), name)), "no such member", typeOf(members[name]))
		}
	case *kind.Enum:
		words := make([]string, len(k.Want))
		for i, v := range k.Want {
			words[i] = fmt.Sprint(v)
			if v == nil {
				words[i] = "null"
			}
		}
		c.differ(place, oneOf(words), form(fmt.Sprint(k.Got)))
	case *kind.Format:
		received := fmt.Sprint(k.Got)
		if k.Want == dateTime && formats[dateTime].form.MatchString(received) {
			received = "a time that does not exist"
		} else {
			received = shape(received)
		}
		c.differ(place, formats[k.Want].meaning, received)
	case *kind.Pattern:
		c.differ(place, "ASCII in lower case", "other text")
	case *kind.MinItems:
		c.differ(place, "at least one element", "an empty array")
	default:
		c.differ(place, strings.Join(e.ErrorKind.KeywordPath(), " ")+" of the schema", "another value")
	}
}

// valueAt returns the value at a place.
func valueAt(value any, place []string) any {
	for _, step := range place {
		switch v := value.(type) {
		case object:
			value = v[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

var (
	index = regexp.MustCompile(`^\d+$`)
	// memberName matches a name that is no personal value: the member of a map may be an address.
	memberName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]{0,63}$`)
)

// pointer returns a JSON pointer with * for each index, and for a name that may be personal.
func pointer(place []string) string {
	var b strings.Builder
	for _, step := range place {
		if index.MatchString(step) || !memberName.MatchString(step) {
			step = "*"
		}
		b.WriteString("/" + step)
	}
	return b.String()
}

// oneOf lists alternatives.
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case object:
		return "object"
	case []any:
		return "array"
	}
	return "number"
}

// word matches a value that is shown: a word of the host's vocabulary, such as a status or a media type.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z_/+-]{0,30}$`)

// form returns a word, or the form of any other text.
func form(s string) string {
	if word.MatchString(s) || len(s) <= 6 && index.MatchString(s) {
		return s
	}
	return shape(s)
}

var (
	digit  = regexp.MustCompile(`[0-9]`)
	isTime = regexp.MustCompile(`^[+-]?[0-9]{1,4}[0-9T:., /Z+-]{3,40}$`)
)

// shape returns the form of a text: a time with 0 for each digit, or else its length.
func shape(s string) string {
	switch {
	case s == "":
		return "an empty string"
	case isTime.MatchString(s):
		return digit.ReplaceAllString(s, "0")
	}
	return "other text"
}
