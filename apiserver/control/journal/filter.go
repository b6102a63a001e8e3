package journal

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
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
	takesBody := false
	for _, s := range api.Specs() {
		ids = append(ids, s.ID)
		if s.ID == f.Operation {
			operation = s
		}
		selected := (f.Operation == "" || s.ID == f.Operation) && (f.Method == "" || strings.EqualFold(s.Method, f.Method))
		takesBody = takesBody || selected && s.Body() != nil
	}
	switch {
	case f.Operation != "" && operation.ID == "":
		return fmt.Errorf("operation: unknown id %q; use an operationId of the OpenAPI document%s", f.Operation, spelling.Suggestion(f.Operation, ids))
	case f.Method != "" && !slices.Contains(methods, strings.ToUpper(f.Method)):
		return fmt.Errorf("method: unknown method %q; %s", f.Method, spelling.Allowed(f.Method, methods))
	case f.Method != "" && operation.ID != "" && !strings.EqualFold(f.Method, operation.Method) && !(strings.EqualFold(f.Method, http.MethodHead) && operation.Method == http.MethodGet):
		return fmt.Errorf("method: every request for %s is a %s", operation.ID, operation.Method)
	case f.AccountID != "" && !api.IsID(f.AccountID):
		return fmt.Errorf("account: %q is no id of an account, which is a UUID", f.AccountID)
	case f.Fault != "" && !isFaultID.MatchString(f.Fault):
		return fmt.Errorf("fault: %q is no id of a fault, such as f1", f.Fault)
	case f.Credential != "" && !slices.Contains(credentials, f.Credential):
		return fmt.Errorf("credential: must be one of %s%s", strings.Join(credentials, ", "), spelling.Suggestion(f.Credential, credentials))
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return errors.New("status: must be a status code, 200 to 599; use fault for requests that got none")
	case f.Body != "" && !takesBody:
		return fmt.Errorf("body: %s takes no body", cmp.Or(operation.ID, strings.ToUpper(f.Method)))
	case f.Since < 0:
		return errors.New("since: must be the seq of an entry")
	}
	return checkPath(f.Path, operation)
}

// Check is Filter.Check, and also compares the filter with the faults.
func (j *Journal) Check(f Filter) error {
	if err := f.Check(); err != nil || j.Faults == nil {
		return err
	}
	success, faultMethod := 0, ""
	applied, removed := j.Faults.Rule(f.Fault)
	for _, s := range api.Specs() {
		if s.ID == f.Operation {
			success = s.Status
		}
		if s.ID == applied.Operation {
			faultMethod = s.Method
		}
	}
	switch {
	case f.Fault != "" && !j.Faults.Added(f.Fault):
		return fmt.Errorf("fault: there was no fault %s", f.Fault)
	case f.Fault == "" || removed != nil:
	case f.Operation != "" && applied.Operation != fault.Any && applied.Operation != f.Operation:
		return fmt.Errorf("operation: the fault %s is for %s", f.Fault, applied.Operation)
	case f.Method != "" && faultMethod != "" && !strings.EqualFold(f.Method, faultMethod):
		return fmt.Errorf("method: the fault %s is for %s, a %s", f.Fault, applied.Operation, faultMethod)
	case f.Status != 0 && applied.Drop != "":
		return fmt.Errorf("status: a request that the fault %s drops gets no response; leave the status out", f.Fault)
	case f.Status != 0 && !slices.Contains([]int{0, f.Status}, applied.Status), f.Status != 0 && applied.Response != nil && applied.Response.Status != f.Status:
		return fmt.Errorf("status: the fault %s responds with another one", f.Fault)
	}
	sent := func(s fault.State) bool { return s.Response != nil && s.Response.Status == f.Status }
	if success == 0 || f.Status == 0 || f.Status >= http.StatusBadRequest || f.Status == success || slices.ContainsFunc(j.Faults.Rules(), sent) ||
		len(j.matching(Filter{Operation: f.Operation, Status: f.Status})) > 0 {
		return nil
	}
	return fmt.Errorf("status: a successful %s responds with %d", f.Operation, success)
}

// checkPath returns an error for a text that no path of an operation contains, or, without an operation,
// for a misspelt word of the API's paths.
func checkPath(text string, operation api.Spec) error {
	if strings.ContainsAny(text, "?#") {
		return errors.New("path: a path has no parameters; leave out the ? and the text after it")
	}
	var words []string
	for _, s := range api.Specs() {
		for word := range strings.SplitSeq(s.Path, "/") {
			if word != "" && word[0] != '{' && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	if strings.Contains(text, "@") { // an address, which may contain slashes
		return nil
	}
	parts := strings.Split(text, "/")
	if operation.ID != "" {
		route := strings.Split(operation.Path, "/")
		for start := range route {
			if fits(parts, route[start:], words) {
				return nil
			}
		}
		return fmt.Errorf("path: every path of %s is %s", operation.ID, operation.Path)
	}
	for n, part := range parts {
		partial := func(word string) bool {
			return n == len(parts)-1 && strings.HasPrefix(word, part) || n == 0 && strings.HasSuffix(word, part)
		}
		misspelt := func(word string) bool { return len(word) > 4 && levenshtein.Distance(part, word, nil) == 1 }
		if i := slices.IndexFunc(words, misspelt); i >= 0 && !slices.Contains(words, part) && !slices.ContainsFunc(words, partial) {
			return fmt.Errorf("path: no path of the API contains %q; did you mean %s?", part, words[i])
		}
	}
	return nil
}

// fits reports whether a route begins with the parts of a text: the first may be the end of a segment, and
// the last the beginning of one. A word of another route is no parameter.
func fits(parts, route, words []string) bool {
	if len(parts) > len(route) {
		return false
	}
	for n, part := range parts {
		segment := route[n]
		isParameter := strings.HasPrefix(segment, "{")
		first, last := n == 0, n == len(parts)-1
		switch {
		case isParameter && !slices.Contains(words, part):
		case first && last && strings.Contains(segment, part) && !isParameter:
		case first && strings.HasSuffix(segment, part) && !isParameter:
		case last && strings.HasPrefix(segment, part) && !isParameter:
		case segment == part:
		default:
			return false
		}
	}
	return true
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
