package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// TestOrderOfProblems checks that problems follow the order of the parts of a request, one for each
// place.
func TestOrderOfProblems(t *testing.T) {
	handler := httpapi.Bind(api.CreateMasterPassword, func(*api.CreateMasterPasswordRequest) { t.Error("the request was handled") })
	body := `{"workspace_id":"x","value":"abc","generate":true,"domain":"example.com"}`
	r := httptest.NewRequest(http.MethodPost, "/v1/public/accounts/x/credentials", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "x")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	var response struct{ Detail []api.Problem }
	assert.NilError(t, json.Unmarshal(w.Body.Bytes(), &response))
	var got []string
	for _, p := range response.Detail {
		got = append(got, strings.Join(p.Loc, ".")+" "+p.Type)
	}
	want := []string{
		"path.account_id uuid_parsing", "header.Idempotency-Key uuid_parsing", "body.name missing",
		"body.value string_too_short", "body.workspace_id uuid_parsing",
	}
	assert.Check(t, slices.Equal(got, want), "the problems are\n%q; want\n%q", got, want)
}

// TestContractKeywords checks that the API's schemas use only keywords that the validator supports.
func TestContractKeywords(t *testing.T) {
	for name, ref := range document(t, true).Components.Schemas {
		for field, property := range ref.Value.Properties {
			s := property.Value
			if items := s.Items; items != nil {
				s = items.Value
			}
			formats, patterns := []string{"", "uuid", "date-time", "int64"}, []string{"", `^[^\x00]*$`, api.NamePattern}
			if !slices.Contains(patterns, s.Pattern) || s.UniqueItems || s.MultipleOf != nil || s.MinProps > 0 || s.MaxProps != nil ||
				strings.HasSuffix(name, "Body") && s.Type.Is("integer") && (s.Min == nil || s.Max == nil) || len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0 || s.Not != nil || !slices.Contains(formats, s.Format) {
				t.Errorf("%s.%s uses a keyword that the validator does not support", name, field)
			}
		}
	}
}

// TestUnreadableBody checks that a body that ends early, has malformed chunks or does not arrive
// in time causes a client error.
func TestUnreadableBody(t *testing.T) {
	handler := httpapi.Bind(api.CreateWorkspace, func(*api.CreateWorkspaceRequest) { t.Error("the request was handled") })
	for want, cause := range map[string]error{"422 json_invalid": errors.New("malformed chunked encoding"), "408 request_timeout": os.ErrDeadlineExceeded} {
		r := httptest.NewRequest(http.MethodPost, account+"/workspaces", iotest.ErrReader(cause))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var response struct{ Detail []api.Problem }
		err := json.Unmarshal(w.Body.Bytes(), &response)
		assert.Assert(t, err == nil && fmt.Sprint(w.Code, " ", response.Detail[0].Type) == want, "status %d: %s", w.Code, w.Body)
	}
}
