package journal

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/spelling"
)

// Filter selects entries; an empty field selects all.
type Filter struct {
	Operation, Method, AccountID, Fault, Credential string
	Status                                          int
	// Path and Body select the entries with this text in the path and in the request body.
	Path, Body string
	// Since selects the entries with a greater sequence number.
	Since int64
}

var (
	methods = []string{
		http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodConnect,
	}
	credentials = []string{None, ServiceAccount, AccessToken, Owner}
	isFaultID   = regexp.MustCompile("^f[1-9][0-9]*$")
)

// Check returns an error for a filter that can't match any request, such as one with an unknown
// operation.
func (f Filter) Check() error {
	var ids []string
	var operation api.Spec
	takesBody := f.Method == "" || !strings.EqualFold(f.Method, http.MethodGet)
	for _, s := range api.Specs() {
		ids = append(ids, s.ID)
		if s.ID == f.Operation {
			operation, takesBody = s, s.Body() != nil
		}
	}
	switch {
	case f.Operation != "" && operation.ID == "":
		return fmt.Errorf("operation: unknown id %q; use an operationId of the OpenAPI document%s", f.Operation, spelling.Suggestion(f.Operation, ids))
	case f.Method != "" && !slices.Contains(methods, strings.ToUpper(f.Method)):
		return fmt.Errorf("method: unknown method %q; %s", f.Method, spelling.Allowed(f.Method, methods))
	case f.Method != "" && operation.ID != "" && !strings.EqualFold(f.Method, operation.Method):
		return fmt.Errorf("method: every request for %s is a %s", operation.ID, operation.Method)
	case f.AccountID != "" && !api.IsID(f.AccountID):
		return fmt.Errorf("account: %q is no id of an account, which is a UUID", f.AccountID)
	case f.Fault != "" && !isFaultID.MatchString(f.Fault):
		return fmt.Errorf("fault: %q is no id of a fault, such as f1", f.Fault)
	case f.Credential != "" && !slices.Contains(credentials, f.Credential):
		return fmt.Errorf("credential: must be one of %s%s", strings.Join(credentials, ", "), spelling.Suggestion(f.Credential, credentials))
	case f.Status != 0 && (f.Status < 100 || f.Status > 599):
		return errors.New("status: must be a status code, 100 to 599; use fault for requests that got none")
	case f.Body != "" && !takesBody:
		return fmt.Errorf("body: %s takes no body", cmp.Or(operation.ID, strings.ToUpper(f.Method)))
	case f.Since < 0:
		return errors.New("since: must be the seq of an entry")
	}
	return nil
}

func (f Filter) matches(e Entry) bool { return e.Seq > f.Since && f.differences(e) == nil }

// differences lists the fields of an entry that the filter does not match, except Since.
func (f Filter) differences(e Entry) (fields []string) {
	differ := func(name, value string) {
		fields = append(fields, fmt.Sprintf("%s is %s", name, cmp.Or(value, "empty")))
	}
	for _, field := range []struct{ name, want, value string }{
		{"operation", f.Operation, e.Operation}, {"method", f.Method, e.Method}, {"account", api.CanonicalID(f.AccountID), api.CanonicalID(e.AccountID)},
		{"credential", f.Credential, e.Credential},
	} {
		if field.want != "" && !strings.EqualFold(field.want, field.value) {
			differ(field.name, field.value)
		}
	}
	if f.Fault != "" && f.Fault != e.Fault && !slices.Contains(e.OtherFaults, f.Fault) {
		differ("fault", e.Fault)
	}
	if f.Status != 0 && e.Status != f.Status {
		differ("status", fmt.Sprint(e.Status))
	}
	if !strings.Contains(e.Path, f.Path) {
		differ("path", e.Path)
	}
	if !strings.Contains(string(e.Request), f.Body) {
		differ("body", fmt.Sprintf("%.200s", cmp.Or(string(e.Request), e.RequestOmitted)))
	}
	return fields
}

// Nearest describes the newest of the entries that differ from a filter in the fewest fields, for a
// test that expected one that matches.
func (j *Journal) Nearest(f Filter) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var nearest *Entry
	var fewest []string
	for i := range j.entries {
		e := &j.entries[i]
		differences := f.differences(*e)
		if e.Seq <= f.Since {
			differences = append(differences, fmt.Sprintf("seq is %d", e.Seq))
		}
		if len(differences) > 0 && (nearest == nil || len(differences) <= len(fewest)) {
			nearest, fewest = e, differences
		}
	}
	if nearest == nil {
		return "the journal contains no other request"
	}
	return fmt.Sprintf("the nearest request is seq %d, %s %s: its %s", nearest.Seq, nearest.Method, nearest.Path, strings.Join(fewest, ", and its "))
}
