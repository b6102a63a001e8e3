package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// problems passes findings through the hook that huma calls.
func problems(t *testing.T, status int, msg string, errs ...error) (int, []api.Problem) {
	t.Helper()
	var answer *api.Error
	if err := huma.NewError(status, msg, errs...); !errors.As(err, &answer) {
		t.Fatalf("huma makes %T of its findings", err)
	}
	out := make([]api.Problem, len(answer.Detail))
	for i, p := range answer.Detail {
		out[i] = *p
	}
	return answer.GetStatus(), out
}

// The messages are built from huma's own templates, so that a new version of it
// with other words fails here.
func TestFindingTranslations(t *testing.T) {
	for _, tt := range []struct {
		finding, typ, msg string
	}{
		{"required path parameter is missing", "missing", "Field required"},
		{"required query parameter is missing", "missing", "Field required"},
		{validation.MsgExpectedString, "string_type", "Input should be a valid string"},
		{validation.MsgExpectedInteger, "int_parsing", "Input should be a valid integer"},
		{validation.MsgExpectedNumber, "int_parsing", "Input should be a valid integer"},
		{"invalid integer", "int_parsing", "Input should be a valid integer, unable to parse string as an integer"},
		{validation.MsgExpectedBoolean, "bool_type", "Input should be a valid boolean"},
		{"invalid boolean", "bool_type", "Input should be a valid boolean"},
		{validation.MsgExpectedArray, "list_type", "Input should be a valid list"},
		{validation.MsgExpectedObject, "dict_type", "Input should be a valid dictionary"},
		{fmt.Sprintf(validation.MsgExpectedMinLength, 1), "string_too_short", "String should have at least 1 character"},
		{fmt.Sprintf(validation.MsgExpectedMinLength, 4), "string_too_short", "String should have at least 4 characters"},
		{fmt.Sprintf(validation.MsgExpectedMinLength, 10), "string_too_short", "String should have at least 10 characters"},
		{fmt.Sprintf(validation.MsgExpectedMaxLength, 1), "string_too_long", "String should have at most 1 character"},
		{fmt.Sprintf(validation.MsgExpectedMaxLength, 100), "string_too_long", "String should have at most 100 characters"},
		{fmt.Sprintf(validation.MsgExpectedMinItems, 1), "too_short", "List should have at least 1 item"},
		{fmt.Sprintf(validation.MsgExpectedMinItems, 2), "too_short", "List should have at least 2 items"},
		{fmt.Sprintf(validation.MsgExpectedMaxItems, 1), "too_long", "List should have at most 1 item"},
		{fmt.Sprintf(validation.MsgExpectedMaxItems, 1000), "too_long", "List should have at most 1000 items"},
		{fmt.Sprintf(validation.MsgExpectedMinimumNumber, 60), "greater_than_equal", "Input should be greater than or equal to 60"},
		{fmt.Sprintf(validation.MsgExpectedMaximumNumber, 86400), "less_than_equal", "Input should be less than or equal to 86400"},
		{fmt.Sprintf(validation.MsgExpectedMatchPattern, `^[^\x00]*$`), "value_error", "Value error, must not hold the character NUL"},
		{fmt.Sprintf(validation.MsgExpectedOneOf, "a"), "enum", "Input should be 'a'"},
		{fmt.Sprintf(validation.MsgExpectedOneOf, "a, b"), "enum", "Input should be 'a' or 'b'"},
		{fmt.Sprintf(validation.MsgExpectedOneOf, "a, b, c"), "enum", "Input should be 'a', 'b' or 'c'"},
		{fmt.Sprintf(validation.MsgExpectedRFC4122UUID, "invalid UUID length: 1"), "uuid_parsing", "Input should be a valid UUID"},
		{validation.MsgExpectedRFC3339DateTime, "datetime_from_date_parsing", "Input should be a valid datetime with a timezone (RFC 3339)"},
	} {
		t.Run(tt.finding, func(t *testing.T) {
			status, got := problems(t, 422, "validation failed", &huma.ErrorDetail{Message: tt.finding, Location: "body.field"})
			if want := problem(tt.typ, tt.msg, "body", "field"); status != 422 || len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
				t.Errorf("%d %v; want 422 %v", status, got, want)
			}
		})
	}
}

func TestFindingRequiredProperty(t *testing.T) {
	_, got := problems(t, 422, "validation failed", &huma.ErrorDetail{
		Message: fmt.Sprintf(validation.MsgExpectedRequiredProperty, "email"), Location: "body.contact_info",
	})
	checkProblems(t, got, problem("missing", "Field required", "body", "contact_info", "email"))
}

func TestFindingLocations(t *testing.T) {
	for location, want := range map[string]string{
		"body":                     "body",
		"body.name":                "body name",
		"path.account_id":          "path account_id",
		"query.page_size":          "query page_size",
		"header.Idempotency-Key":   "header Idempotency-Key",
		"body.items[3].first_name": "body items 3 first_name",
		"body.domains[0]":          "body domains 0",
		"body.a[10][2]":            "body a 10 2",
	} {
		_, got := problems(t, 422, "validation failed", &huma.ErrorDetail{Message: validation.MsgExpectedString, Location: location})
		if loc := strings.Join(got[0].Loc, " "); loc != want {
			t.Errorf("%s becomes %q; want %q", location, loc, want)
		}
	}
}

func TestFindingOrder(t *testing.T) {
	finding := func(location string) error {
		return &huma.ErrorDetail{Message: validation.MsgExpectedString, Location: location}
	}
	_, got := problems(t, 422, "validation failed",
		finding("body.b"), finding("header.h"), finding("query.q"), api.Invalid("first").InBody("b"), api.Invalid("two").InBody("a"), finding("path.p"))
	var locs []string
	for _, p := range got {
		locs = append(locs, strings.Join(p.Loc, "."))
	}
	if want := []string{"path.p", "query.q", "header.h", "body.b", "body.a"}; !slices.Equal(locs, want) {
		t.Errorf("the problems are at %v; want %v", locs, want)
	}
}

// What failed inside must not be told.
func TestFindingStatuses(t *testing.T) {
	secret := errors.New("secret: dial tcp 10.0.0.1")
	for _, tt := range []struct {
		status, want int
		typ          string
	}{
		{http.StatusRequestEntityTooLarge, 413, "payload_too_large"},
		{http.StatusRequestTimeout, 408, "request_timeout"},
		{http.StatusUnsupportedMediaType, 415, "unsupported_media_type"},
		{http.StatusInternalServerError, 500, "internal_error"},
		{http.StatusBadRequest, 422, "value_error"},
	} {
		status, got := problems(t, tt.status, secret.Error(), secret)
		if status != tt.want || len(got) != 1 || got[0].Type != tt.typ {
			t.Errorf("%d becomes %d %v; want %d %s", tt.status, status, got, tt.want, tt.typ)
		}
		if strings.Contains(fmt.Sprint(got), "10.0.0.1") {
			t.Errorf("%d tells %v", tt.status, got)
		}
	}
}

// The translations cover the keywords that the contract uses; this fails when it
// begins to use another.
func TestContractKeywords(t *testing.T) {
	for name, ref := range document(t, true).Components.Schemas {
		for field, property := range ref.Value.Properties {
			s := property.Value
			if items := s.Items; items != nil {
				s = items.Value
			}
			formats, patterns := []string{"", "uuid", "date-time", "int64"}, []string{"", `^[^\x00]*$`, api.NamePattern}
			if !slices.Contains(patterns, s.Pattern) || s.UniqueItems || s.MultipleOf != nil || s.MinProps > 0 || s.MaxProps != nil ||
				len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0 || s.Not != nil || !slices.Contains(formats, s.Format) {
				t.Errorf("%s.%s uses a keyword without a translation", name, field)
			}
		}
	}
}

// A body that ends early or whose chunks are malformed is the caller's fault,
// and so is the answer.
func TestUnreadableBody(t *testing.T) {
	handler := httpapi.Bind(api.CreateWorkspace, func(*api.CreateWorkspaceRequest) { t.Error("the request was handled") })
	r := httptest.NewRequest(http.MethodPost, account+"/workspaces", iotest.ErrReader(errors.New("malformed chunked encoding")))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	var answer struct{ Detail []api.Problem }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusUnprocessableEntity {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	checkProblems(t, answer.Detail, problem("json_invalid", "JSON decode error", "body"))
}
