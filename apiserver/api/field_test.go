package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// TestConstantsMatchTags checks the constants that repeat a limit of a struct tag,
// because a tag can't refer to a constant.
func TestConstantsMatchTags(t *testing.T) {
	for _, tt := range []struct {
		of         reflect.Type
		field, tag string
		want       int64
	}{
		{reflect.TypeFor[Paged](), "PageSize", "maximum", MaxPageSize},
		{reflect.TypeFor[CreateMailboxesBody](), "Items", "maxItems", MaxBulkItems},
		{reflect.TypeFor[CreateDNSRecordBody](), "TTL", "default", DefaultDNSTTL},
	} {
		f, ok := tt.of.FieldByName(tt.field)
		if got, want := f.Tag.Get(tt.tag), strconv.FormatInt(tt.want, 10); !ok || got != want {
			t.Errorf("%s.%s has the tag %s:%q; the constant is %s", tt.of.Name(), tt.field, tt.tag, got, want)
		}
	}
}

// TestBodiesAgree checks that an update has the limits of a create of its kind for the fields that both
// have, and that null removes nothing that the create requires.
func TestBodiesAgree(t *testing.T) {
	for _, update := range Specs() {
		for _, create := range Specs() {
			if create.Body() == nil || update.Method != http.MethodPatch || create.Method != http.MethodPost || update.Kind != create.Kind {
				continue
			}
			for _, f := range update.Body().Members {
				i := slices.IndexFunc(create.Body().Members, func(c *Field) bool { return c.Name == f.Name })
				if i < 0 {
					continue
				}
				other := create.Body().Members[i]
				name := bodyOf(update).Name() + "." + f.Name
				limits, wanted := limitsOf(update, f), limitsOf(create, other)
				for key, want := range wanted {
					if limits[key] != want {
						t.Errorf("%s has %s; %s has %s: PATCH would store what POST refuses, or refuse what it stores. Give both the same", name, cmp.Or(limits[key], "no "+key), bodyOf(create).Name(), cmp.Or(want, "no "+key))
					}
				}
				if !reflect.DeepEqual(f.Element, other.Element) || !reflect.DeepEqual(f.Members, other.Members) {
					t.Errorf("%s holds other values than in %s", name, bodyOf(create).Name())
				}
				if other.Required && bodyOf(update).FieldByIndex(f.Index).Type == reflect.TypeFor[Nullable[string]]() {
					t.Errorf("%s is Nullable, but %s requires it: null would remove it. Make it a *string with nullable:\"true\"", name, bodyOf(create).Name())
				}
			}
		}
	}
}

func bodyOf(s Spec) reflect.Type { return s.Request.FieldByIndex(s.Body().Index).Type }

// limitsOf returns the type of a field in JSON, and its limits as they are in the tag, by their names.
func limitsOf(s Spec, f *Field) map[string]string {
	limits := map[string]string{"type": "the type " + f.Kind.String()}
	for _, key := range []string{"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "format", "pattern", "enum"} {
		limits[key] = ""
		if value, ok := bodyOf(s).FieldByIndex(f.Index).Tag.Lookup(key); ok {
			limits[key] = key + ":" + strconv.Quote(value)
		}
	}
	return limits
}

// unlimited lists the texts of bodies that have no maxLength, with the reason.
var unlimited = map[string]string{
	"CreateDNSRecordBody.domain":            "it names an object",
	"CreateForwardingBody.domain":           "it names an object",
	"CreateMailboxBody.domain":              "it names an object",
	"CreateMailboxesBody.domain":            "it names an object",
	"CreateMasterPasswordBody.domain":       "it names an object",
	"ExportMailboxesBody.domain":            "it names an object",
	"CreateDNSRecordBody.value":             "the rule of the record's type limits it",
	"UpdateDNSRecordBody.value":             "the rule of the record's type limits it",
	"GrantAuthorizationBody.capability_key": "it is one of a list",
}

// TestTextsAreLimited checks that each text of a body has a greatest length.
func TestTextsAreLimited(t *testing.T) {
	for _, s := range Specs() {
		if s.Body() == nil {
			continue
		}
		for _, f := range s.Body().Members {
			name := bodyOf(s).Name() + "." + f.Name
			isLimited := f.Kind != reflect.String || f.MaxLength != nil || f.Enum != nil || f.Format == "uuid" || f.Format == "date-time"
			if _, listed := unlimited[name]; isLimited == listed {
				t.Errorf("%s must have either a maxLength in its tag or, with the reason, a line in unlimited", name)
			}
		}
	}
}

// notInBulk lists the fields of a mailbox that an item of a bulk request does not set, with the reason.
var notInBulk = map[string]string{"domain": "the request names it for all items"}

// TestBulkHasEveryField checks that an item of a bulk request has each field that a mailbox can be
// created with.
func TestBulkHasEveryField(t *testing.T) {
	items := FieldsOf(reflect.TypeFor[NewMailboxItem]())
	for _, f := range FieldsOf(reflect.TypeFor[CreateMailboxBody]()) {
		has := slices.ContainsFunc(items, func(item *Field) bool { return item.Name == f.Name })
		if _, listed := notInBulk[f.Name]; has == listed {
			t.Errorf("CreateMailboxBody.%s must be either in NewMailboxItem (apiserver/api/mailbox.go) and its checkItem or, with the reason, in notInBulk", f.Name)
		}
	}
}

// TestCheck checks values below, at and above each limit in the tags of every request body.
func TestCheck(t *testing.T) {
	t.Parallel()
	checked := 0
	check := func(at string, f *Field, value any, want string) {
		checked++
		got := ""
		if p := f.Check(value); p != nil {
			got = p.Type
			assert.Check(t, p.Msg != "" && p.Rule().Error() != "", "%s: %+v", at, p)
		}
		assert.Check(t, got == want, "%s: %.20v is %q, want %q", at, value, got, want)
	}
	var checkStruct func(at string, t reflect.Type)
	checkStruct = func(at string, in reflect.Type) {
		fields := FieldsOf(in)
		for _, declared := range reflect.VisibleFields(in) {
			name, options, _ := strings.Cut(declared.Tag.Get("json"), ",")
			f := fields[slices.IndexFunc(fields, func(f *Field) bool { return f.Name == name })]
			at := at + "." + name
			assert.Check(t, f.Required == (options == ""), at)
			limit := func(key string, value func(n int) any, beyond int, typ string) {
				if n, err := strconv.Atoi(declared.Tag.Get(key)); err == nil {
					check(at, f, value(n-beyond), "")
					check(at, f, value(n), "")
					check(at, f, value(n+beyond), typ)
				}
			}
			text := func(n int) any { return strings.Repeat("ü", n) }
			if f.Enum == nil && declared.Tag.Get("minLength") != declared.Tag.Get("maxLength") {
				limit("minLength", text, -1, TypeStringTooShort)
				limit("maxLength", text, +1, TypeStringTooLong)
			}
			limit("minimum", func(n int) any { return json.Number(strconv.Itoa(n)) }, -1, TypeGreaterThanEqual)
			limit("maximum", func(n int) any { return int64(n) }, +1, TypeLessThanEqual)
			list := func(n int) any { return make([]any, n) }
			limit("minItems", list, -1, TypeTooShort)
			limit("maxItems", list, +1, TypeTooLong)
			if enum := declared.Tag.Get("enum"); enum != "" {
				for value := range strings.SplitSeq(enum, ",") {
					check(at, f, &value, "")
					check(at, f, value+"x", TypeEnum)
				}
			}
			for value, typ := range map[string]string{"name": TypePattern, "uuid": TypeUUID, "date-time": TypeDatetime} {
				if declared.Tag.Get("format") == value {
					check(at, f, "a\tb", typ)
				}
			}
			if declared.Tag.Get("pattern") != "" {
				check(at, f, "a\x00b", TypeValue)
			}
			if f.Members != nil {
				checkStruct(at, declared.Type)
			}
		}
	}
	for _, s := range Specs() {
		if body, ok := s.Request.FieldByName("Body"); ok {
			checkStruct(s.ID, body.Type)
		}
	}
	assert.Check(t, checked > 150, "%d values were checked", checked)
}

func TestFieldOf(t *testing.T) {
	t.Parallel()
	name := FieldOf[CreateMasterPasswordBody]("value")
	assert.Check(t, *name.MinLength == 4 && *name.MaxLength == 256 && name.MaxItems == nil, "value: %+v", name)
	ttl := FieldOf[CreateDNSRecordBody]("ttl")
	assert.Check(t, *ttl.Minimum == 60 && *ttl.Maximum == 86400 && ttl.MaxLength == nil && ttl.Default == "3600", "ttl: %+v", ttl)
	assert.Check(t, len(FieldOf[ListDNSRecordsRequest]("type").Enum) == 8)
	defer func() {
		assert.Check(t, is.Contains(recover(), `api.RenameMasterPasswordBody has no field "nom"; declare it there`))
	}()
	FieldOf[RenameMasterPasswordBody]("nom")
}

func TestRule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field *Field
		value any
		want  string
	}{
		{FieldOf[CreateMasterPasswordBody]("value"), "abc", "must have 4 to 256 characters"},
		{FieldOf[CreateMailboxBody]("domain"), "", "must not be empty"},
		{FieldOf[CreateMailboxBody]("first_name"), "a\tb", text.CheckName("a\tb").Error()},
		{FieldOf[CreateDNSRecordBody]("ttl"), 59, "must be 60 to 86400"},
		{FieldOf[ListRequest]("page"), 0, "must be at least 1"},
		{FieldOf[GrantAuthorizationBody]("resource_type"), "x", "must be one of workspace, domain"},
		{FieldOf[GrantAuthorizationBody]("resource_id"), "x", "must be a UUID"},
		{FieldOf[SubmitFeedbackBody]("description"), "\x00", "must not hold the character NUL"},
	} {
		assert.Check(t, is.Error(tt.field.Check(tt.value).Rule(), tt.want), tt.field.Name)
	}
	assert.NilError(t, FieldOf[CreateDNSRecordBody]("ttl").Check(60).Rule())
}

// TestNamePattern checks that the document's pattern accepts each name that CheckName accepts, and
// refuses control characters.
func TestNamePattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(NamePattern)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xd800 <= r && r <= 0xdfff || 0x40000 <= r && r < 0xe0000 { // surrogates, and planes without characters
			continue
		}
		for _, s := range []string{string(r), "a" + string(r), string(r) + "\u200b", string(r) + "b"} {
			if matches, valid := pattern.MatchString(s), text.CheckName(s) == nil; valid && !matches || matches == unicode.IsControl(r) {
				t.Errorf("%+q: the pattern accepts: %t, CheckName accepts: %t", s, matches, valid)
			}
		}
	}
}

func TestPathValues(t *testing.T) {
	t.Parallel()
	spec := GetMailbox.Spec
	if got, want := spec.PathParameters(), []string{"account_id", "mailbox"}; !slices.Equal(got, want) {
		t.Errorf("parameters %q, want %q", got, want)
	}
	for path, want := range map[string]map[string]string{
		"/v1/public/accounts/a/mailboxes/jane@example.com": {"account_id": "a", "mailbox": "jane@example.com"},
		"/v1/public/accounts/a/mailboxes/j%2Fd%40x":        {"account_id": "a", "mailbox": "j/d@x"},
		"/v1/public/accounts/a":                            {"account_id": "a"},
	} {
		u, err := url.Parse("http://x" + path)
		assert.NilError(t, err)
		got := spec.PathValues(u)
		assert.Check(t, maps.Equal(got, want), "%s: %v, want %v", path, got, want)
	}
}

// TestEveryOperationCanBeEncoded checks that every operation of the contract can be
// encoded, with each kind of parameter and each {name} of a path.
func TestEveryOperationCanBeEncoded(t *testing.T) {
	t.Parallel()
	for _, s := range Specs() {
		req := reflect.New(s.Request)
		for _, f := range reflect.VisibleFields(s.Request) {
			if field := req.Elem().FieldByIndex(f.Index); field.Kind() == reflect.String {
				field.SetString("x")
			} else if field.CanInt() {
				field.SetInt(1)
			}
		}
		e, err := s.Encode(req.Interface())
		assert.Check(t, err == nil && !strings.ContainsAny(e.Path, "{}") && !strings.Contains(string(e.Body), "AccountID"), "%s: %+v, %v", s.ID, e, err)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	e, err := CreateMailbox.Encode(&CreateMailboxRequest{InAccount: InAccount{"a"}, Keyed: Keyed{"k"}, Body: CreateMailboxBody{Domain: "d<&>"}})
	if err != nil || string(e.Body) != `{"domain":"d<&>","first_name":"","last_name":"","local_part":""}` || e.Header.Get("Idempotency-Key") != "k" || e.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = ListMailboxes.Encode(&ListMailboxesRequest{InAccount: InAccount{"a"}, Paged: Paged{Page: 2}, Search: "a&b"})
	assert.Check(t, err == nil && e.Query.Encode() == "page=2&search=a%26b" && e.Body == nil, "%+v, %v", e, err)
	e, err = GetDomain.Encode(&DomainRequest{InAccount: InAccount{"a"}, Domain: "a/b?c#d e%2f"})
	assert.Check(t, err == nil && e.Path == "/v1/public/accounts/a/domains/a%2Fb%3Fc%23d%20e%252f", "%+v, %v", e, err)
}
