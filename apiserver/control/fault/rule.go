package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/strictjson"
)

// Any selects every operation of the API, but neither pages nor health checks.
const Any = "*"

// Point is a point in the execution of a request.
type Point string

// The points of Drop and Hold.
const (
	// Before is before the operation runs.
	Before Point = "before"
	// After is after the operation's changes are durable, and before the response is sent.
	After Point = "after"
)

// Rule selects requests and defines an action. The action is exactly one of Status, Response, Drop,
// Hold, Truncate, PageSize, or Delay alone. A rule with PageSize or Delay alone combines with others. The control plane uses the JSON names. A rule that can't
// fire is an error, for instance one for a member that the operation's body lacks.
type Rule struct {
	// Operation is an operation's id in the OpenAPI document, such as
	// create-mailbox, or Any.
	Operation string `json:"operation"`
	// Account restricts the rule to one account, by its UUID.
	Account string `json:"account,omitempty"`
	// Path restricts the rule to path parameters, such as
	// {"mailbox": "jane@example.com"}. A mailbox or a domain may be given by its name or its id,
	// whichever the client sends, and in any spelling that the API accepts.
	Path map[string]string `json:"path,omitzero"`
	// Body restricts the rule to request bodies with these members, such as {"local_part": "jane"}.
	// Values are compared like those of Path, and exactly if they identify no object.
	Body map[string]any `json:"body,omitzero"`
	// Headers restricts the rule to headers that contain these texts, ignoring case, such as
	// {"User-Agent": "terraform/1.11"}.
	Headers map[string]string `json:"headers,omitzero"`

	// Nth, Every and Percent choose from the selected requests. At most one is set; without one the
	// rule fires for every request. Nth chooses a single request and Every each n-th, in the order
	// of arrival. Percent chooses a share above 0 and up to 100, which is the same in each run with
	// the same Seed, by default the Injector's.
	Nth     int     `json:"nth,omitempty" minimum:"1" maximum:"2147483647"`
	Every   int     `json:"every,omitempty" minimum:"1" maximum:"2147483647"`
	Percent float64 `json:"percent,omitempty" exclusiveMinimum:"0" maximum:"100"`
	Seed    *uint64 `json:"seed,omitempty"`
	// Times limits how often the rule fires; 0 means no limit.
	Times int `json:"times,omitempty" minimum:"1" maximum:"2147483647"`

	// Delay is a wait before the action. With Jitter the wait is a random part of Delay.
	Delay  apiserver.Duration `json:"delay,omitempty"`
	Jitter bool               `json:"jitter,omitempty"`
	// Status responds with an error, 400 to 599, and a Retry-After of RetryAfter seconds, written
	// as a date with RetryAfterDate. After runs the operation first. HTML sends the page of a
	// proxy.
	Status         int  `json:"status,omitempty" minimum:"400" maximum:"599"`
	RetryAfter     int  `json:"retry_after,omitempty" minimum:"1" maximum:"86400"`
	RetryAfterDate bool `json:"retry_after_date,omitempty"`
	After          bool `json:"after,omitempty"`
	HTML           bool `json:"html,omitempty"`
	// Response is sent in place of the service's. After runs the operation first.
	Response *Response `json:"response,omitempty"`
	// Drop closes the connection without a response. With RST, TCP resets it.
	Drop Point `json:"drop,omitempty" enum:"before,after"`
	RST  bool  `json:"rst,omitempty"`
	// Hold makes the request wait until Release, until the rule is removed, the client disconnects
	// or the service drains.
	Hold Point `json:"hold,omitempty" enum:"before,after"`
	// Truncate closes the connection after this many bytes of the response body. The Content-Length
	// counts the whole body. For a body that is not longer, the rule does not fire.
	Truncate *int `json:"truncate,omitempty" minimum:"0" maximum:"16777216"`
	// PageSize limits the pages of lists to this many objects.
	PageSize int `json:"page_size,omitempty" minimum:"1" maximum:"1000"`
}

// Response is a response of any kind, such as a proxy's login page.
type Response struct {
	Status  int               `json:"status" minimum:"200" maximum:"599"`
	Headers map[string]string `json:"headers,omitzero"`
	// Body is sent as JSON, but a string as it is: HTML, or JSON that is malformed.
	Body any `json:"body,omitempty"`
}

// Hostile returns the rules of an unreliable service: one request in twenty fails, each takes a
// little longer, and pages are short.
func Hostile() []Rule {
	return []Rule{
		{Operation: Any, Percent: 2, Status: http.StatusServiceUnavailable, RetryAfter: 1},
		{Operation: Any, Percent: 1, Status: http.StatusBadGateway, HTML: true},
		{Operation: Any, Percent: 1, Drop: Before},
		{Operation: Any, Percent: 1, Drop: After},
		{Operation: Any, Delay: apiserver.Duration(100 * time.Millisecond), Jitter: true, PageSize: 7},
	}
}

// ParseRule decodes a rule from a JSON object strictly, like package strictjson. The limits in a
// member's tag apply if the member is present, so that a 0 is an error although it would mean the
// same as an absent member. If the JSON can be decoded, the error lists all problems.
func ParseRule(data []byte) (Rule, error) {
	members, err := decodeObject(data)
	if err != nil {
		return Rule{}, errors.New(`a fault must be a JSON object, such as {"operation": "create-mailbox", "status": 503}`)
	}
	var r Rule
	if err := strictjson.Unmarshal(data, &r); err != nil {
		return Rule{}, err
	}
	problems := r.selectorProblems(members)
	problems = append(problems, limitProblems("", r, members)...)
	if r.Response != nil {
		r.Response.Body = bodyOf(data)
		response, _ := members["response"].(map[string]any)
		problems = append(problems, limitProblems("response.", *r.Response, response)...)
		problems = append(problems, headerProblems("response.headers", r.Response.Headers, sentByNetHTTP)...)
	}
	actions := count(r.Status != 0, r.Response != nil, r.Drop != "", r.Hold != "", r.Truncate != nil, r.PageSize != 0)
	_, hasPercent := members["percent"]
	for _, rule := range []struct {
		broken  bool
		problem string
	}{
		{hasPercent && (r.Percent <= 0 || r.Percent > 100), "percent: must be above 0 and at most 100"},
		{count(r.Nth != 0, r.Every != 0, r.Percent != 0) > 1, "nth, every, percent: set at most one"},
		{r.Nth != 0 && r.Times != 0, "times: leave it out, because nth chooses a single request"},
		{r.Seed != nil && r.Percent == 0 && !r.Jitter, "seed: requires percent or jitter"},
		{r.Delay < 0, "delay: must not be negative"},
		{r.Status == 0 && r.RetryAfter != 0, "retry_after: requires status"},
		{r.Status == 0 && r.Response == nil && r.After, "after: requires status or response"},
		{r.Jitter && r.Delay <= 0, "jitter: requires delay"},
		{r.HTML && r.Status == 0, "html: requires status"},
		{r.RetryAfterDate && r.RetryAfter == 0, "retry_after_date: requires retry_after"},
		{r.RST && r.Drop == "", "rst: requires drop"},
		{r.Response != nil && r.Response.Status == 0, "response.status: is required"},
		{r.Response != nil && r.Response.Body != nil && slices.Contains([]int{204, 205, 304}, r.Response.Status), "response.body: a response with this status has none"},
		{actions > 1, "status, response, drop, hold, truncate, page_size: set exactly one"},
		{actions == 0 && r.Delay <= 0, "status, response, drop, hold, truncate, page_size, delay: set one"},
	} {
		if rule.broken {
			problems = append(problems, rule.problem)
		}
	}
	if problems != nil {
		return Rule{}, errors.New(strings.Join(problems, "; "))
	}
	return r, nil
}

// bodyOf returns the body of a rule's response: a text, or JSON exactly as given, also a null, or nil.
func bodyOf(rule []byte) any {
	var given struct {
		Response struct {
			Body json.RawMessage `json:"body"`
		} `json:"response"`
	}
	_ = json.Unmarshal(rule, &given) // decoded before
	var text *string
	switch err := json.Unmarshal(given.Response.Body, &text); {
	case err == nil && text != nil:
		return *text
	case given.Response.Body == nil:
		return nil
	}
	return given.Response.Body
}

// decodeObject decodes a JSON object, with numbers as api.Field checks them.
func decodeObject(data []byte) (members map[string]any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err = dec.Decode(&members); err == nil && members == nil {
		err = errors.New("null")
	}
	return members, err
}

// limitProblems checks the given members of a struct by their tags.
func limitProblems(prefix string, of any, members map[string]any) (problems []string) {
	for _, f := range api.FieldsOf(reflect.TypeOf(of)) {
		_, given := members[f.Name]
		if err := f.Check(reflect.ValueOf(of).FieldByIndex(f.Index).Interface()).Rule(); given && err != nil {
			problems = append(problems, prefix+f.Name+": "+err.Error())
		}
	}
	return problems
}

func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// selects reports whether the rule selects a request.
func (r Rule) selects(v values, header http.Header) bool {
	if !r.names(v.request.Operation) || r.Account != "" && api.CanonicalID(v.path["account_id"]) != api.CanonicalID(r.Account) {
		return false
	}
	for name, part := range r.Headers {
		if !strings.Contains(strings.ToLower(strings.Join(header.Values(name), ", ")), strings.ToLower(part)) {
			return false
		}
	}
	matched := 0
	for _, f := range api.FieldsOf(v.request.Operation.Request) {
		if want, ok := r.Path[f.Name]; ok && f.In == "path" {
			if !v.same(f, v.path[f.Name], want) {
				return false
			}
			matched++
		}
		for _, m := range f.Members {
			want, wanted := r.Body[m.Name]
			if value, sent := v.body[m.Name]; wanted && f.In == "body" {
				if !sent || !v.same(m, value, want) {
					return false
				}
				matched++
			}
		}
	}
	return matched == len(r.Path)+len(r.Body)
}

func (r Rule) names(operation api.Spec) bool {
	return operation.ID != "" && (r.Operation == Any || r.Operation == operation.ID)
}
