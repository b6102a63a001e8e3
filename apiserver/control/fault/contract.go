package fault

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/spelling"
)

// This file checks the selectors of a rule against the contract, because a rule that can't fire makes
// a test pass for the wrong reason.

// selectorProblems returns the problems of the rule's selectors. members is the rule as JSON.
func (r Rule) selectorProblems(members map[string]any) (problems []string) {
	var operations []api.Spec
	var ids []string
	for _, operation := range api.Specs() {
		ids = append(ids, operation.ID)
		if r.names(operation) {
			operations = append(operations, operation)
		}
	}
	if len(operations) == 0 {
		problems = append(problems, fmt.Sprintf("operation: unknown id %q; use an operationId of the OpenAPI document, or * for all%s", r.Operation, spelling.Suggestion(r.Operation, ids)))
	}
	if _, given := members["account"]; given && !api.IsID(r.Account) {
		problems = append(problems, "account: must be the account's UUID")
	}
	if id := r.Path["account_id"]; id != "" && r.Account != "" && api.CanonicalID(id) != api.CanonicalID(r.Account) {
		problems = append(problems, "path: account_id: is another account than account; leave it out")
	}
	for _, name := range []string{"path", "body", "headers"} {
		if object, given := members[name].(map[string]any); given && len(object) == 0 {
			problems = append(problems, name+": is empty; leave it out to select all requests")
		}
	}
	problems = append(problems, headerProblems("headers", r.Headers, removedByNetHTTP)...)
	if len(operations) == 0 {
		return problems
	}
	body, _ := members["body"].(map[string]any)
	pathNames, bodyNames := slices.Sorted(maps.Keys(r.Path)), slices.Sorted(maps.Keys(body))
	var reasons, parameters, bodyMembers []string
	for _, operation := range operations {
		found := r.unfit(operation, body)
		if found == nil {
			return problems
		}
		ofPath, ofBody := operation.PathParameters(), memberNames(operation.Body())
		if r.Operation != Any || reasons == nil && containsAll(ofPath, pathNames) && containsAll(ofBody, bodyNames) {
			reasons = found // of the operation that the rule is probably for
		}
		parameters, bodyMembers = append(parameters, ofPath...), append(bodyMembers, ofBody...)
	}
	if r.Operation != Any {
		return append(problems, reasons...)
	}
	unknown := append(unknownNames("path: %q is no parameter of any operation%s", pathNames, parameters),
		unknownNames("body: %q is no member of any operation's body%s", bodyNames, bodyMembers)...)
	if unknown == nil {
		reason := "no operation takes all of them"
		if reasons != nil {
			reason = strings.Join(reasons, ", ")
		}
		unknown = []string{"operation: the other members select no request of any operation: " + reason}
	}
	return append(problems, unknown...)
}

func containsAll(list, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, name) })
}

// unknownNames returns a problem in a format for each unknown name and its suggestion.
func unknownNames(format string, names, known []string) (problems []string) {
	for _, name := range names {
		if !slices.Contains(known, name) {
			problems = append(problems, fmt.Sprintf(format, name, spelling.Suggestion(name, known)))
		}
	}
	return problems
}

// unfit returns the reasons why no request for an operation can be selected by the rule, or no
// response meets its action.
func (r Rule) unfit(operation api.Spec, body map[string]any) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Path)) {
		if err := checkParameter(operation, name, r.Path[name]); err != nil {
			problems = append(problems, "path: "+err.Error())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		problems = append(problems, memberProblems(operation.Body(), name, body[name])...)
	}
	if _, isList := operation.Request.FieldByName("PageSize"); r.PageSize > 0 && !isList {
		problems = append(problems, "page_size: the operation returns no pages")
	}
	if r.Truncate != nil && operation.Status == http.StatusNoContent {
		problems = append(problems, "truncate: the operation returns no body; use drop")
	}
	return problems
}

// checkParameter checks a path parameter. An operation without it has an error too.
func checkParameter(operation api.Spec, name, value string) error {
	fields := api.FieldsOf(operation.Request)
	i := slices.IndexFunc(fields, func(f *api.Field) bool { return f.In == "path" && f.Name == name })
	if i < 0 {
		return fmt.Errorf("the operation has no parameter %q; %s", name, spelling.Allowed(name, operation.PathParameters()))
	}
	var err error
	switch f := fields[i]; {
	case f.Kind == reflect.Int64:
		if n, invalid := strconv.ParseInt(value, 10, 64); invalid != nil || n < 1 {
			err = errors.New("must be a whole number from 1")
		}
	case f.Format != "":
		err = f.Check(value).Rule()
	case api.IsID(value):
	case name == "domain":
		_, err = domainname.Normalize(value)
	default:
		_, err = emailaddr.Normalize(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %q: %w", name, value, err)
	}
	return nil
}

// memberProblems checks a member of a request body by its declared type, limits and words. It accepts
// values that the API refuses by other rules, because a fault acts before the API checks them.
func memberProblems(contract *api.Field, name string, value any) (problems []string) {
	if contract == nil {
		return []string{"body: the operation takes no body"}
	}
	i := slices.IndexFunc(contract.Members, func(m *api.Field) bool { return m.Name == name })
	switch {
	case i < 0:
		return []string{fmt.Sprintf("body: %q is no member of the operation's body; %s", name, spelling.Allowed(name, memberNames(contract)))}
	case value == nil && !contract.Members[i].Required:
		return nil
	}
	for _, p := range contract.Members[i].Validate(value, true) {
		problems = append(problems, "body: "+strings.Join(p.Loc[1:], ".")+": "+p.Rule().Error())
	}
	if key, isText := value.(string); isText && name == "capability_key" {
		var keys []string
		for _, c := range api.Capabilities() {
			keys = append(keys, string(c))
		}
		problems = append(problems, unknownNames("body: capability_key: there is no permission %q%s", []string{key}, keys)...)
	}
	return problems
}

func memberNames(body *api.Field) (names []string) {
	if body != nil {
		for _, m := range body.Members {
			names = append(names, m.Name)
		}
	}
	return names
}

// The headers that net/http removes from requests, and those that it computes for responses.
var (
	removedByNetHTTP = []string{"Host", "Trailer", "Transfer-Encoding"}
	sentByNetHTTP    = []string{"Content-Length", "Trailer", "Transfer-Encoding"}
)

// headerProblems checks headers, except those that net/http does not leave to the service.
func headerProblems(member string, headers map[string]string, without []string) (problems []string) {
	if headers != nil && len(headers) == 0 && member != "headers" {
		problems = append(problems, member+": is empty; leave it out")
	}
	names := slices.Sorted(maps.Keys(headers))
	for n, name := range names {
		var err error
		switch value := headers[name]; {
		case !httpguts.ValidHeaderFieldName(name):
			err = errors.New("is no name of a header; write it as in User-Agent")
		case slices.Contains(without, http.CanonicalHeaderKey(name)):
			err = errors.New("can't be used, because the server handles this header itself")
		case slices.ContainsFunc(names[:n], func(other string) bool { return strings.EqualFold(name, other) }):
			err = errors.New("is given twice; upper and lower case make no difference")
		case value == "":
			err = errors.New("is empty; leave it out")
		case !httpguts.ValidHeaderFieldValue(value):
			err = errors.New("must have no control character")
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %q: %s", member, name, err))
		}
	}
	return problems
}
