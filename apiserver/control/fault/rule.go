package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/strictjson"
)

// Any selects every operation of the API, but neither pages nor health checks.
const Any = "*"

// Point is a point in the execution of a request.
type Point string

// The points of a Drop and of a Hold.
const (
	// Before is before the operation is executed.
	Before Point = "before"
	// After is after the operation is executed and durable, and before a response
	// is sent.
	After Point = "after"
)

// Rule selects requests and defines what happens to them. It has exactly one
// action: Status, Drop, Hold, Truncate, or Delay alone. The JSON names are those of
// the control plane.
type Rule struct {
	// Operation is an operation's id in the OpenAPI document, such as
	// create-mailbox, or Any.
	Operation string `json:"operation"`
	// Account restricts the rule to one account, by its UUID.
	Account string `json:"account,omitempty"`
	// Path restricts the rule to path parameters, such as
	// {"mailbox": "jane@example.com"}. Values are compared as sent, ignoring case.
	Path map[string]string `json:"path,omitempty"`

	// Nth, Every and Percent choose among the selected requests; at most one of
	// them is set, and without one the rule fires for all. Nth chooses a single
	// request, Every each n-th, and Percent a share above 0 and up to 100, in a
	// pseudo-random sequence that starts with Seed.
	Nth     int     `json:"nth,omitempty"`
	Every   int     `json:"every,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	Seed    uint64  `json:"seed,omitempty"`
	// Times limits how often the rule fires; 0 is unlimited.
	Times int `json:"times,omitempty"`

	// Delay is a wait before any action.
	Delay apiserver.Duration `json:"delay,omitempty"`
	// Status responds with an error, 400 to 599, and a Retry-After of that many
	// seconds. The operation is executed first if After is set.
	Status     int  `json:"status,omitempty"`
	RetryAfter int  `json:"retry_after,omitempty"`
	After      bool `json:"after,omitempty"`
	// Drop closes the connection without a response.
	Drop Point `json:"drop,omitempty"`
	// Hold keeps the request waiting until Release, until the rule is removed, the
	// client disconnects or the service drains.
	Hold Point `json:"hold,omitempty"`
	// Truncate closes the connection after that many bytes of the response body,
	// with the Content-Length of the whole. A response without a body is not sent.
	Truncate *int `json:"truncate,omitempty"`
}

const (
	maxTruncate   = 16 << 20
	maxRetryAfter = 24 * 60 * 60
)

// InvalidError lists everything that is wrong with a rule.
type InvalidError struct {
	Problems []string
}

func (e *InvalidError) Error() string { return strings.Join(e.Problems, "; ") }

// ParseRule decodes a rule from a JSON object, strictly as package strictjson does.
// It rejects a 0 that would mean the same as a missing member. Its *InvalidError
// includes the problems that Validate finds.
func ParseRule(data []byte) (Rule, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return Rule{}, &InvalidError{[]string{`a fault must be a JSON object, such as {"operation": "create-mailbox", "status": 503}`}}
	}
	var r Rule
	var problems []string
	if wrong, ok := errors.AsType[*strictjson.Error](strictjson.Unmarshal(data, &r)); ok {
		for _, p := range wrong.Problems {
			problems = append(problems, p.String())
			delete(members, p.Path)
		}
		if wrong.More > 0 {
			problems = append(problems, fmt.Sprintf("and %d more problems", wrong.More))
		}
	}
	problems = append(problems, explicitZeros(r, members)...)
	if invalid, ok := errors.AsType[*InvalidError](r.Validate()); ok {
		problems = append(problems, invalid.Problems...)
	}
	if problems != nil {
		return Rule{}, &InvalidError{problems}
	}
	return r, nil
}

// explicitZeros returns a problem for each member that is the number 0.
func explicitZeros(r Rule, members map[string]json.RawMessage) (problems []string) {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		_, present := members[name]
		field := v.Field(i)
		number := field.CanInt() || field.CanUint() || field.CanFloat()
		if present && name != "seed" && number && field.IsZero() {
			problems = append(problems, name+": must not be 0; leave it out")
		}
	}
	return problems
}

// Validate returns an *InvalidError if the rule is invalid.
func (r Rule) Validate() error {
	problems := r.selectorProblems()
	check := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, problem)
		}
	}
	check(r.Nth >= 0 && r.Every >= 0 && r.Times >= 0, "nth, every, times: must be 1 or more")
	check(r.Percent >= 0 && r.Percent <= 100, "percent: must be above 0 and at most 100")
	check(count(r.Nth != 0, r.Every != 0, r.Percent != 0) <= 1, "nth, every, percent: set at most one")
	check(r.Seed == 0 || r.Percent != 0, "seed: requires percent")
	check(r.Delay >= 0, "delay: must not be negative")
	check(r.Status == 0 || r.Status >= 400 && r.Status <= 599, "status: must be 400 to 599")
	check(r.RetryAfter >= 0 && r.RetryAfter <= maxRetryAfter, "retry_after: must be 1 to 86400 seconds")
	check(r.Status != 0 || r.RetryAfter == 0 && !r.After, "retry_after, after: require status")
	check(r.Drop.valid(), "drop: must be before or after")
	check(r.Hold.valid(), "hold: must be before or after")
	check(r.Truncate == nil || *r.Truncate >= 0 && *r.Truncate <= maxTruncate, "truncate: must be 0 to 16777216 bytes")
	switch actions := count(r.Status != 0, r.Drop != "", r.Hold != "", r.Truncate != nil); {
	case actions > 1:
		check(false, "status, drop, hold, truncate: set exactly one")
	case actions == 0:
		check(r.Delay > 0, "status, drop, hold, truncate, delay: set one")
	}
	if problems != nil {
		return &InvalidError{problems}
	}
	return nil
}

func (p Point) valid() bool { return p == "" || p == Before || p == After }

// count returns how many conditions are true.
func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func (r Rule) selectorProblems() (problems []string) {
	var parameters []string
	found := false
	for _, operation := range api.Specs() {
		if r.Operation == Any || r.Operation == operation.ID {
			found = true
			parameters = append(parameters, operation.PathParameters()...)
		}
	}
	if !found {
		return []string{`operation: unknown id "` + r.Operation + `"; use an operationId of the OpenAPI document, or * for all`}
	}
	if _, err := uuid.Parse(r.Account); r.Account != "" && err != nil {
		problems = append(problems, "account: must be the account's UUID")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Path)) {
		if !slices.Contains(parameters, name) {
			problems = append(problems, `path: the operation has no parameter "`+name+`"`)
		}
	}
	return problems
}

// selects reports whether the rule applies to a request.
func (r Rule) selects(operation api.Spec, req *http.Request) bool {
	if operation.ID == "" || r.Operation != Any && r.Operation != operation.ID {
		return false
	}
	if r.Account == "" && len(r.Path) == 0 {
		return true
	}
	values := operation.PathValues(req.URL)
	if r.Account != "" && !strings.EqualFold(values["account_id"], r.Account) {
		return false
	}
	for name, want := range r.Path {
		if value, ok := values[name]; !ok || !strings.EqualFold(value, want) {
			return false
		}
	}
	return true
}
