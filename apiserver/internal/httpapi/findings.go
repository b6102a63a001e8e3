package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// huma reports its findings as English sentences without a machine type, and uses 400 for
// a body that is not JSON. This file is the one place that turns its findings into the
// API's error body. huma offers no other hooks than its package variables; nothing else in
// a process that embeds this package may use huma with another error body.
func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return errorFromFindings(status, msg, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		e := errorFromFindings(status, msg, errs)
		if e.GetStatus() != http.StatusUnprocessableEntity {
			return e
		}
		return withExtraFindings(ctx.Context(), e)
	}
	// A field in another case is an unknown field, see decodeJSON.
	huma.ValidateStrictCasing = true
}

type extraFindingsKey struct{}

// withExtraChecks registers a check that runs only if the request is invalid. Its
// problems are appended to the 422.
func withExtraChecks(ctx context.Context, check func() []*api.Problem) context.Context {
	if earlier, ok := ctx.Value(extraFindingsKey{}).(func() []*api.Problem); ok {
		later := check
		check = func() []*api.Problem { return append(earlier(), later()...) }
	}
	return context.WithValue(ctx, extraFindingsKey{}, check)
}

// withExtraFindings adds the problems that the checks of the request find, unless there
// are too many already.
func withExtraFindings(ctx context.Context, e *api.Error) *api.Error {
	if check, ok := ctx.Value(extraFindingsKey{}).(func() []*api.Problem); ok && len(e.Detail) <= api.MaxProblems {
		return merge(e.Detail, check())
	}
	return e
}

// translation maps one of huma's message templates to a problem; $1 in msg is
// the template's first value.
type translation struct {
	finding *regexp.Regexp
	typ     string
	msg     string
}

func translate(finding, typ, msg string) translation {
	return translation{regexp.MustCompile("^" + finding), typ, msg}
}

// noNUL is the pattern of text. PostgreSQL keeps no NUL, and nobody's name has one.
const noNUL = `^[^\x00]*$`

var translations = []translation{
	translate(`required \w+ parameter is missing`, api.TypeMissing, "Field required"),
	translate(`expected string to be RFC 4122 uuid`, api.TypeUUID, "Input should be a valid UUID"),
	translate(`expected string to be RFC 3339 date-time`, api.TypeDatetime, "Input should be a valid datetime with a timezone (RFC 3339)"),
	translate(regexp.QuoteMeta("expected string to match pattern "+noNUL), api.TypeValue, api.ValuePrefix+"must not hold the character NUL"),
	translate(regexp.QuoteMeta("expected string to match pattern "+api.NamePattern), api.TypePattern, "String should have no control character and at least one visible character"),
	translate(`expected string$`, api.TypeString, "Input should be a valid string"),
	translate(`expected integer$`, api.TypeInt, "Input should be a valid integer"),
	translate(`expected number$`, api.TypeInt, "Input should be a valid integer"),
	translate(`invalid integer`, api.TypeInt, "Input should be a valid integer, unable to parse string as an integer"),
	translate(`expected boolean$`, api.TypeBool, "Input should be a valid boolean"),
	translate(`invalid boolean`, api.TypeBool, "Input should be a valid boolean"),
	translate(`expected array$`, api.TypeList, "Input should be a valid list"),
	translate(`expected object$`, api.TypeDict, "Input should be a valid dictionary"),
	translate(`expected number >= (\S+)`, api.TypeGreaterThanEqual, "Input should be greater than or equal to $1"),
	translate(`expected number <= (\S+)`, api.TypeLessThanEqual, "Input should be less than or equal to $1"),
	translate(`expected length >= 1$`, api.TypeStringTooShort, "String should have at least 1 character"),
	translate(`expected length >= (\d+)`, api.TypeStringTooShort, "String should have at least $1 characters"),
	translate(`expected length <= 1$`, api.TypeStringTooLong, "String should have at most 1 character"),
	translate(`expected length <= (\d+)`, api.TypeStringTooLong, "String should have at most $1 characters"),
	translate(`expected array length >= 1$`, api.TypeTooShort, "List should have at least 1 item"),
	translate(`expected array length >= (\d+)`, api.TypeTooShort, "List should have at least $1 items"),
	translate(`expected array length <= 1$`, api.TypeTooLong, "List should have at most 1 item"),
	translate(`expected array length <= (\d+)`, api.TypeTooLong, "List should have at most $1 items"),
}

var (
	requiredFinding = regexp.MustCompile(`^expected required property (\S+) to be present`)
	enumFinding     = regexp.MustCompile(`^expected value to be one of "(.*)"`)
)

func errorFromFindings(status int, msg string, errs []error) *api.Error {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return api.NewError(status, api.TypePayloadTooLarge, "the request body is larger than this operation accepts").At("body")
	case http.StatusRequestTimeout:
		return api.NewError(status, api.TypeRequestTimeout, "the request body did not arrive in time").At("body")
	case http.StatusUnsupportedMediaType:
		return api.UnsupportedMediaType()
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
	default:
		if msg == "cannot read request body" { // it is cut off or its chunks are malformed: nothing failed inside
			return api.Unprocessable((&api.Problem{Msg: "JSON decode error", Type: api.TypeJSONInvalid}).InBody())
		}
		// What failed inside stays inside: huma puts the cause into msg and errs.
		return api.NewError(status, api.TypeInternal, "the request could not be processed; try again, and quote the request id if it happens again")
	}
	if msg == "request body is required" {
		errs = append(errs, api.Missing().InBody())
	}
	found := make([]*api.Problem, len(errs))
	for i, err := range errs {
		found[i] = problemFrom(err)
	}
	return merge(nil, found)
}

// merge returns a 422 with two lists of problems in the order of their places. It has one
// problem for each place: the first is the cause of the others.
func merge(first, more []*api.Problem) *api.Error {
	place := func(p *api.Problem) string { return strings.Join(p.Loc, "\x00") }
	seen := make(map[string]bool, len(first)+len(more))
	detail := slices.Clone(first)
	for _, p := range first {
		seen[place(p)] = true
	}
	for _, p := range more {
		unreadable := place(p) == "body"
		if seen["body"] && p.Loc[0] == "body" || seen[place(p)] && !unreadable {
			continue
		}
		seen[place(p)] = true
		detail = append(detail, p)
	}
	slices.SortStableFunc(detail, func(a, b *api.Problem) int {
		return slices.Index(places, a.Loc[0]) - slices.Index(places, b.Loc[0])
	})
	return api.Unprocessable(detail...)
}

// places is the order of the problems in a response.
var places = []string{"path", "query", "header", "body"}

func problemFrom(err error) *api.Problem {
	var finding *huma.ErrorDetail
	switch err := err.(type) {
	case *api.Problem:
		return err
	case *huma.ErrorDetail:
		finding = err
	default:
		return api.Invalid("the request could not be read").InBody()
	}
	loc := location(finding.Location)
	if m := requiredFinding.FindStringSubmatch(finding.Message); m != nil {
		return api.Missing().At(append(loc, m[1])...)
	}
	if m := enumFinding.FindStringSubmatch(finding.Message); m != nil {
		return (&api.Problem{Msg: "Input should be " + alternatives(strings.Split(m[1], ", ")), Type: api.TypeEnum}).At(loc...)
	}
	for _, t := range translations {
		if m := t.finding.FindStringSubmatchIndex(finding.Message); m != nil {
			msg := t.finding.ExpandString(nil, t.msg, finding.Message, m)
			return (&api.Problem{Msg: string(msg), Type: t.typ}).At(loc...)
		}
	}
	// Whatever is left was found while decoding the body.
	return (&api.Problem{Msg: "JSON decode error", Type: api.TypeJSONInvalid}).InBody()
}

// location turns body.items[3].first_name into its elements.
func location(path string) []string {
	var loc []string
	for part := range strings.SplitSeq(path, ".") {
		name, rest, _ := strings.Cut(part, "[")
		loc = append(loc, name)
		for rest != "" {
			var index string
			index, rest, _ = strings.Cut(rest, "]")
			if _, err := strconv.Atoi(index); err == nil {
				loc = append(loc, index)
			}
			rest = strings.TrimPrefix(rest, "[")
		}
	}
	return loc
}

// alternatives renders 'a', 'b' or 'c'.
func alternatives(values []string) string {
	for i, v := range values {
		values[i] = "'" + v + "'"
	}
	if len(values) == 1 {
		return values[0]
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}
