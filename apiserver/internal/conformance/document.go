package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// document is the OpenAPI document with compiled schemas.
type document struct {
	mux        *http.ServeMux
	operations map[string]api.Spec         // by pattern of mux
	responses  map[string]map[int]response // by operation id and status code
	unexpected response                    // of any other status code of an error
	exported   *jsonschema.Schema          // a row of an export
	// integerHeaders are the headers whose value is a whole number.
	integerHeaders []string
}

// response is a documented response. mediaType is empty without a body, and schema is nil unless the
// body is JSON.
type response struct {
	headers   []string
	mediaType string
	schema    *jsonschema.Schema
}

type object = map[string]any

const documentURL = "openapi.json"

var theDocument = sync.OnceValue(func() *document {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(httpapi.Document(true)))
	if err != nil {
		panic(err)
	}
	root := parsed.(object)
	components := root["components"].(object)
	tighten(components["schemas"].(object))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, format := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			s, ok := v.(string)
			if ok && !format.form.MatchString(s) {
				return errors.New("it has another form")
			}
			if ok && format.parse != nil {
				return format.parse(s)
			}
			return nil
		}})
	}
	if err := compiler.AddResource(documentURL, parsed); err != nil {
		panic(err)
	}
	d := &document{mux: http.NewServeMux(), operations: map[string]api.Spec{}, responses: map[string]map[int]response{}}
	for name, header := range components["headers"].(object) {
		if header.(object)["schema"].(object)["type"] == "integer" {
			d.integerHeaders = append(d.integerHeaders, name)
		}
	}
	slices.Sort(d.integerHeaders)
	d.exported = compiler.MustCompile(documentURL + "#/components/schemas/" + exported)
	d.unexpected = newResponse(compiler, root, "components", "responses", "UnexpectedError")
	for _, s := range api.Specs() {
		pattern := s.Method + " " + s.Path
		d.mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		d.operations[pattern], d.responses[s.ID] = s, map[int]response{}
		place := []string{"paths", s.Path, strings.ToLower(s.Method), "responses"}
		for status := range at(root, place...) {
			if code, err := strconv.Atoi(status); err == nil { // the other one is default
				d.responses[s.ID][code] = newResponse(compiler, root, append(slices.Clip(place), status)...)
			}
		}
	}
	return d
})

const dateTime = "date-time"

// formats are the forms of strings in the contract. parse, if any, checks the rest.
var formats = map[string]struct {
	form    *regexp.Regexp
	meaning string
	parse   func(string) error
}{
	dateTime: {
		regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`), "a time in UTC with microseconds, 0000-00-00T00:00:00.000000Z",
		func(s string) error { _, err := time.Parse(api.TimestampLayout, s); return err }, // a day of the calendar
	},
	"uuid":  {regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), "a UUID in lower case", nil},
	"email": {regexp.MustCompile(`^[^\s@]+@[^\s@]+$`), "an email address", nil},
	"ip":    {regexp.MustCompile(`^[0-9A-Fa-f:.]+$`), "an IP address", func(s string) error { _, err := netip.ParseAddr(s); return err }},
}

// The patterns of strings in a response, with their meaning.
const (
	lowerCase = `^[^A-Z\x{80}-\x{10FFFF}]*$`
	hostName  = `^[^A-Z\x{80}-\x{10FFFF}]*[^A-Z\x{80}-\x{10FFFF}.]$`
	amount    = `^[0-9]+(\.[0-9]+)?$`
	digits    = `^[0-9]+$`
	country   = `^[A-Z]{2}$`
)

var patterns = map[string]string{
	lowerCase: "ASCII in lower case", hostName: "ASCII in lower case without a final dot", amount: "a decimal amount", digits: "a whole number", country: "two letters in upper case",
}

// inWords lists the rules for members that the document states in words, by schema.
var inWords = map[string]map[string]object{
	"Mailbox":            {"domain_name": {"pattern": hostName}, "local_part": {"pattern": lowerCase}, "primary_email": {"pattern": hostName}},
	"MailboxAlias":       {"alias": {"format": "email"}},
	"Domain":             {"name": {"pattern": hostName}},
	"DomainAvailability": {"price": {"pattern": amount}},
	"Purchase":           {"estimated_total": {"pattern": amount}},
	"PurchaseResult":     {"id": {"format": "uuid"}},
	"DedicatedIP":        {"country_code": {"pattern": country}},
	"DedicatedIPOption":  {"country_code": {"pattern": country}},
	"IPAddress":          {"ip": {"format": "ip"}},
	"Error":              {"detail": {"minItems": 1}},
	"Problem":            {"loc": {"minItems": 1, "prefixItems": []any{object{"enum": []any{"path", "query", "header", "body"}}}}},
}

// exported is the name of a schema for a row of an export: a mailbox as texts.
const exported = "ExportedMailbox"

// tighten adds to schemas what the document states in words: an object has no other members, a whole number
// has 64 bits, a member whose name ends in email is an address, and no value is null, not an empty text.
func tighten(schemas object) {
	for schema, members := range inWords {
		for member, keywords := range members {
			maps.Copy(at(schemas, schema, "properties", member), keywords)
		}
	}
	for _, schema := range schemas {
		members, ok := schema.(object)["properties"].(object)
		if !ok {
			continue
		}
		schema.(object)["additionalProperties"] = false
		for name, member := range members {
			if strings.HasSuffix(name, "email") {
				member.(object)["format"] = "email"
			}
			keywords := object{}
			switch types, _ := member.(object)["type"].([]any); {
			case member.(object)["format"] == "int64":
				keywords = object{"minimum": json.Number(strconv.Itoa(math.MinInt64)), "maximum": json.Number(strconv.Itoa(math.MaxInt64))}
			case slices.Contains(types, any("string")): // or null
				keywords = object{"minLength": json.Number("1")}
			}
			maps.Copy(keywords, member.(object))
			members[name] = keywords
		}
	}
	row := object{"quota_allowed": object{"pattern": digits}, "quota_used": object{"pattern": digits}}
	for name, member := range at(schemas, "Mailbox", "properties") {
		if slices.Contains(api.ExportColumns, name) && name != "workspace_name" {
			row[name] = member
		}
	}
	schemas[exported] = object{"properties": row}
}

// at returns the object at a place, or nil.
func at(o object, place ...string) object {
	for _, step := range place {
		o, _ = o[step].(object)
	}
	return o
}

// newResponse returns the response at a place of the document.
func newResponse(compiler *jsonschema.Compiler, root object, place ...string) (r response) {
	documented := at(root, place...)
	if ref, shared := documented["$ref"].(string); shared {
		return newResponse(compiler, root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	for name := range at(documented, "headers") {
		r.headers = append(r.headers, name)
	}
	for mediaType := range at(documented, "content") {
		r.mediaType = mediaType
		if mediaType == "application/json" {
			escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
			pointer := []string{documentURL + "#"}
			for _, step := range append(slices.Clip(place), "content", mediaType, "schema") {
				pointer = append(pointer, escape.Replace(step))
			}
			r.schema = compiler.MustCompile(strings.Join(pointer, "/"))
		}
	}
	if r.mediaType != "" && len(at(documented, "content")) != 1 {
		panic(fmt.Sprintf("conformance: a response of %s has several media types", strings.Join(place, "/")))
	}
	return r
}
