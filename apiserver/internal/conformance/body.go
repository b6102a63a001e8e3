package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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
	if members, ok := c.otherError(); ok {
		c.differ(inBody, "an error with detail, an array of problems", "an object with "+members)
		return
	}
	mediaType, parameters, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	charset := parameters["charset"]
	switch {
	case mediaType != documented.mediaType:
		c.differ("header Content-Type", documented.mediaType, mediaTypeOf(mediaType, err))
		if isJSON := json.Valid(c.Body); isJSON != (documented.schema != nil) || textOf(c.Body) == "a page" {
			return // the body is of another type too
		}
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		c.differ("header Content-Type", documented.mediaType+" in UTF-8", "another charset")
	}
	if documented.schema == nil {
		c.csv()
		return
	}
	body, marked := bytes.CutPrefix(c.Body, []byte(byteOrderMark))
	if marked {
		c.differ(inBody, "JSON without a byte order mark", "a byte order mark")
	}
	value, err := Decode(body)
	if err != nil || !utf8.Valid(body) {
		c.differ(inBody, "JSON in UTF-8", textOf(body))
		return
	}
	c.duplicate(body)
	c.validate(documented.schema, value)
	if c.Status >= http.StatusBadRequest {
		c.typeOfError(value)
	}
	if c.Status/100 == 2 && c.operation.ID != "" {
		c.rules(value)
	}
}

// statusOfType contains the status codes that belong to a type of error. Any other type is one of a 422.
var statusOfType = map[string]int{
	api.TypeNotAuthenticated: http.StatusUnauthorized, api.TypeInvalidToken: http.StatusUnauthorized, api.TypeTokenExpired: http.StatusUnauthorized,
	api.TypeTokenRevoked: http.StatusUnauthorized, api.TypePermissionDenied: http.StatusForbidden, api.TypeAccountCancelled: http.StatusForbidden,
	api.TypeNotFound: http.StatusNotFound, api.TypeConflict: http.StatusConflict, api.TypePayloadTooLarge: http.StatusRequestEntityTooLarge,
	api.TypeUnsupportedMedia: http.StatusUnsupportedMediaType, api.TypeRateLimited: http.StatusTooManyRequests,
	api.TypeInternal: http.StatusInternalServerError, api.TypeUnavailable: http.StatusServiceUnavailable,
}

// typeOfError checks that the type of an error belongs to its status, if both are the contract's.
func (c *comparison) typeOfError(value any) {
	o, _ := value.(object)
	problems, _ := o["detail"].([]any)
	if len(c.found) > 0 || len(problems) == 0 {
		return
	}
	problem, _ := problems[0].(object)
	name, _ := problem["type"].(string)
	if want := cmp.Or(statusOfType[name], http.StatusUnprocessableEntity); want != c.Status && Documents(c.operation, want) {
		c.differ("status", strconv.Itoa(want)+", because of the type "+name, strconv.Itoa(c.Status))
	}
}

// otherError lists the members of an error in another form, such as problem details (RFC 9457), which is one
// difference with its media type. Other errors are compared member by member.
func (c *comparison) otherError() (members string, ok bool) {
	value, _ := Decode(c.Body)
	o, isObject := value.(object)
	_, isList := o["detail"].([]any)
	if c.Status < http.StatusBadRequest || !isObject || isList || len(o) == 0 || len(o) == 1 && o["detail"] != nil {
		return "", false
	}
	return namesOf(o), true
}

// validate adds the differences of a value from a schema.
func (c *comparison) validate(schema *jsonschema.Schema, value any) {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(value)); ok {
		c.invalid(invalid, value)
	}
}

// duplicate adds a difference for the first member that an object contains twice.
func (c *comparison) duplicate(body []byte) {
	_, err := jsontext.NewDecoder(bytes.NewReader(body)).ReadValue()
	if twice, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(err, jsontext.ErrDuplicateName) {
		place := slices.Collect(twice.JSONPointer.Tokens())
		if !slices.Contains(place, "attributes") { // they are free-form
			c.differ(inBody+" "+pointer(place), "a member once", "a member twice")
		}
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

const byteOrderMark = "\ufeff"

// Decode decodes a JSON value with numbers as json.Number, like a client that ignores a byte order mark. Every
// number of the contract is a whole one: another one becomes 0.5, and a very long one is shortened, because
// the validator calculates with all digits and exponents.
func Decode(body []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte(byteOrderMark))))
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
		switch {
		case strings.ContainsAny(v.String(), ".eE"):
			return json.Number("0.5")
		case len(v) > 40:
			return v[:40]
		}
	}
	return value
}

// invalid adds the differences that a validation found. At each place it adds the first of several,
// because a value of another type is in no enumeration either.
func (c *comparison) invalid(e *jsonschema.ValidationError, root any) {
	leaves := slices.SortedStableFunc(slices.Values(leavesOf(e, nil)), func(a, b *jsonschema.ValidationError) int { return rank(a) - rank(b) })
	seen, foreign := map[string]bool{}, foreignObjects(leaves, root)
	for _, leaf := range leaves {
		place := strings.Join(leaf.InstanceLocation, "\x00")
		if required, ok := foreign[place]; ok {
			if members, _ := valueAt(root, leaf.InstanceLocation).(object); !seen[place] {
				seen[place] = true
				c.differ(placeOf(leaf), "an object with "+strings.Join(required, ", "), "an object with "+cmp.Or(namesOf(members), "no member"))
			}
			continue
		}
		if isWhole := rank(leaf) > 0; isWhole && seen[place] {
			continue
		} else if isWhole || rank(leaf) == 0 && isType(leaf) {
			seen[place] = true
		}
		c.leaf(leaf, valueAt(root, leaf.InstanceLocation))
	}
}

// foreignObjects returns the required members of each object that contains no member of the contract, such as
// {"data": …} around another one, by its place. They are one difference.
func foreignObjects(leaves []*jsonschema.ValidationError, root any) map[string][]string {
	required, unknown := map[string][]string{}, map[string]int{}
	for _, leaf := range leaves {
		place := strings.Join(leaf.InstanceLocation, "\x00")
		switch k := leaf.ErrorKind.(type) {
		case *kind.Required:
			required[place] = k.Missing
		case *kind.AdditionalProperties:
			unknown[place] = len(k.Properties)
		}
	}
	maps.DeleteFunc(required, func(place string, missing []string) bool {
		var location []string
		if place != "" {
			location = strings.Split(place, "\x00")
		}
		members, _ := valueAt(root, location).(object)
		return len(missing) < 2 || unknown[place] < len(members)
	})
	return required
}

// placeOf returns the place of a value that a validation error is about.
func placeOf(e *jsonschema.ValidationError) string {
	if len(e.InstanceLocation) == 0 {
		return inBody
	}
	return inBody + " " + pointer(e.InstanceLocation)
}

// namesOf lists the members of an object.
func namesOf(o object) string {
	names := slices.Sorted(maps.Keys(o))
	for i, name := range names {
		names[i] = strings.TrimPrefix(pointer([]string{name}), "/")
	}
	return strings.Join(names, ", ")
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
	place := placeOf(e)
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
		received := shape(fmt.Sprint(k.Got))
		switch {
		case k.Want != dateTime && received != emptyText:
			received = otherText
		case k.Want == dateTime && formats[dateTime].form.MatchString(fmt.Sprint(k.Got)):
			received = "a time that does not exist"
		}
		c.differ(place, formats[k.Want].meaning, received)
	case *kind.Pattern:
		c.differ(place, patterns[k.Want], shape(k.Got))
	case *kind.MinLength, *kind.MaxLength:
		received := "another length"
		if value == "" {
			received = emptyText
		}
		c.differ(place, lengthOf(e), received)
	case *kind.Minimum:
		c.differ(place, "at least "+k.Want.RatString(), "a smaller number")
	case *kind.Maximum:
		c.differ(place, "at most "+k.Want.RatString(), "a larger number")
	case *kind.MinItems:
		c.differ(place, "at least one element", "an empty array")
	default:
		c.differ(place, strings.Join(e.ErrorKind.KeywordPath(), " ")+" of the schema", "another value")
	}
}

// lengthOf describes the violated limit of a text's length.
func lengthOf(e *jsonschema.ValidationError) string {
	if k, tooLong := e.ErrorKind.(*kind.MaxLength); tooLong {
		return fmt.Sprintf("at most %d characters", k.Want)
	}
	if k, tooShort := e.ErrorKind.(*kind.MinLength); tooShort && k.Want > 1 {
		return fmt.Sprintf("at least %d characters", k.Want)
	}
	return "a text that is not empty"
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
	// personal matches a name that is not from the host's schema: the member of a map may be an address or an id.
	personal = regexp.MustCompile(`.@|[0-9a-f]{8}-[0-9a-f]{4}|\pC|.{65}`)
)

// pointer returns a JSON pointer with * for each index, and for a name that may be personal.
func pointer(place []string) string {
	var b strings.Builder
	for _, step := range place {
		if index.MatchString(step) || personal.MatchString(step) {
			step = "*"
		}
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
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

// word matches a value that is shown at a place for which the contract lists the values, or in a header: a word
// of the host's vocabulary, such as a status or a media type.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./+ -]{0,30}$`)

// form returns a word, or the form of any other text.
func form(s string) string {
	if word.MatchString(s) && !isTime.MatchString(s) {
		return s
	}
	return shape(s)
}

const emptyText, otherText = "an empty string", "other text"

var (
	digit  = regexp.MustCompile(`[0-9]`)
	isTime = regexp.MustCompile(`^[+-]?[0-9]{1,4}[0-9T:., /Z+-]{3,40}$`)
)

// shape returns the form of a text: a time with 0 for each digit, or no more than whether it is empty.
func shape(s string) string {
	switch {
	case s == "":
		return emptyText
	case isTime.MatchString(s):
		return digit.ReplaceAllString(s, "0")
	}
	return otherText
}
