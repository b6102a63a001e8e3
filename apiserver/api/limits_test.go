package api

import (
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

// TestUpdateLimits checks that an update has the limits of a create of its kind for the fields that both have.
func TestUpdateLimits(t *testing.T) {
	for _, update := range Specs() {
		for _, create := range Specs() {
			body, ok := create.Request.FieldByName("Body")
			if !ok || update.Method != http.MethodPatch || create.Method != http.MethodPost || update.Kind != create.Kind {
				continue
			}
			changes, _ := update.Request.FieldByName("Body")
			for _, f := range reflect.VisibleFields(changes.Type) {
				as, ok := body.Type.FieldByName(f.Name)
				assert.Check(t, !ok || reflect.DeepEqual(LimitsOfTag(f.Tag), LimitsOfTag(as.Tag)), "%s.%s", update.ID, f.Name)
			}
		}
	}
}

// TestNamePattern checks that the document's pattern accepts each name that CheckName does, and
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
