package fault

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Any selects every operation of the API. Pages and health checks are none.
const Any = "*"

// Point is a place on the way of a request.
type Point string

// The places of a Drop and of a Hold.
const (
	// Before is when nothing has been done.
	Before Point = "before"
	// After is when all is done and durable, and nothing answered yet.
	After Point = "after"
)

// Rule says which requests misbehave and how. It has exactly one action: Status,
// Drop, Hold, Truncate, or Delay alone. The JSON names are those of the control
// plane.
type Rule struct {
	// Operation is an operation's id in the OpenAPI document, such as
	// create-mailbox, or Any.
	Operation string `json:"operation"`
	// Account selects the requests of one account, by its UUID.
	Account string `json:"account,omitempty"`
	// Path selects by path parameters, such as {"mailbox": "jane@example.com"}.
	// They are compared as the request has them, without regard to case.
	Path map[string]string `json:"path,omitempty"`

	// At most one of these says on which of the selected requests the rule acts;
	// without one it acts on all. Nth is the only one, Every is each n-th,
	// Percent is the share of them, above 0 and up to 100, in a sequence that
	// Seed determines.
	Nth     int     `json:"nth,omitempty"`
	Every   int     `json:"every,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	Seed    uint64  `json:"seed,omitempty"`
	// Times is how often the rule acts at most; 0: no bound.
	Times int `json:"times,omitempty"`

	// Delay is how long the request waits first. It goes with any action.
	Delay apiserver.Duration `json:"delay,omitempty"`
	// Status is an error to answer with, 400 to 599, with a Retry-After of that
	// many seconds. The request is done before that if After is set.
	Status     int  `json:"status,omitempty"`
	RetryAfter int  `json:"retry_after,omitempty"`
	After      bool `json:"after,omitempty"`
	// Drop closes the connection without an answer.
	Drop Point `json:"drop,omitempty"`
	// Hold keeps the request waiting until Release, until the rule is removed,
	// until the client hangs up, or until the service drains.
	Hold Point `json:"hold,omitempty"`
	// Truncate is how many bytes of the body are sent before the connection is
	// closed; the headers promise more. An answer without a body is not sent.
	Truncate *int `json:"truncate,omitempty"`
}

// The largest values of a Rule.
const (
	maxTruncate   = 16 << 20
	maxRetryAfter = 24 * 60 * 60
)

// InvalidError says what is wrong with a rule: all of it.
type InvalidError struct {
	Problems []string
}

func (e *InvalidError) Error() string { return strings.Join(e.Problems, "; ") }

// Validate returns an *InvalidError unless the rule makes sense.
func (r Rule) Validate() error {
	var problems []string
	check := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, problem)
		}
	}
	problems = append(problems, r.selectorProblems()...)
	check(r.Nth >= 0 && r.Every >= 0 && r.Times >= 0, "nth, every, times: must be 1 or more")
	check(r.Percent >= 0 && r.Percent <= 100, "percent: must be above 0 and at most 100")
	check(set(r.Nth != 0, r.Every != 0, r.Percent != 0) <= 1, "nth, every, percent: give at most one")
	check(r.Seed == 0 || r.Percent != 0, "seed: it goes with percent")
	check(r.Delay >= 0, "delay: must not be negative")
	check(r.Status == 0 || r.Status >= 400 && r.Status <= 599, "status: must be 400 to 599")
	check(r.RetryAfter >= 0 && r.RetryAfter <= maxRetryAfter, "retry_after: must be 1 to 86400 seconds")
	check(r.Status != 0 || r.RetryAfter == 0 && !r.After, "retry_after, after: they go with status")
	check(r.Drop.known(), "drop: must be before or after")
	check(r.Hold.known(), "hold: must be before or after")
	check(r.Truncate == nil || *r.Truncate >= 0 && *r.Truncate <= maxTruncate, "truncate: must be 0 to 16777216 bytes")
	switch actions := set(r.Status != 0, r.Drop != "", r.Hold != "", r.Truncate != nil); {
	case actions > 1:
		check(false, "status, drop, hold, truncate: give exactly one")
	case actions == 0:
		check(r.Delay > 0, "status, drop, hold, truncate, delay: give one")
	}
	if problems != nil {
		return &InvalidError{problems}
	}
	return nil
}

func (p Point) known() bool { return p == "" || p == Before || p == After }

// set counts what is true.
func set(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func (r Rule) selectorProblems() (problems []string) {
	var known []string
	if r.Operation == Any {
		for _, s := range api.Specs() {
			known = append(known, s.PathParameters()...)
		}
	} else {
		i := slices.IndexFunc(api.Specs(), func(s api.Spec) bool { return s.ID == r.Operation })
		if i < 0 {
			return []string{`operation: there is none with the id "` + r.Operation + `"; the OpenAPI document has them, and * is all`}
		}
		known = api.Specs()[i].PathParameters()
	}
	if _, err := uuid.Parse(r.Account); r.Account != "" && err != nil {
		problems = append(problems, "account: must be the account's UUID")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Path)) {
		if !slices.Contains(known, name) {
			problems = append(problems, `path: the operation has no parameter "`+name+`"`)
		}
	}
	return problems
}

const accountParameter = "account_id"

// selects reports whether the rule is about a request, whenever it acts.
func (r Rule) selects(spec api.Spec, req *http.Request) bool {
	if spec.ID == "" || r.Operation != Any && r.Operation != spec.ID {
		return false
	}
	if r.Account == "" && len(r.Path) == 0 {
		return true
	}
	given := spec.PathValues(req.URL)
	if r.Account != "" && !strings.EqualFold(given[accountParameter], r.Account) {
		return false
	}
	for name, want := range r.Path {
		if value, ok := given[name]; !ok || !strings.EqualFold(value, want) {
			return false
		}
	}
	return true
}
