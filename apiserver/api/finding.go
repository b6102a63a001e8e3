package api

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// huma reports what it finds as English sentences without a machine type, and
// answers 400 for a body that is no JSON. This file is the one place that turns
// its findings into the API's error body. huma offers no other hooks than its
// package variables; nothing else in a process that embeds this package may use
// huma with another error body.
func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return newErrorFromFindings(status, msg, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		e := newErrorFromFindings(status, msg, errs)
		if find, ok := ctx.Context().Value(furtherProblemsKey{}).(func() []*Problem); ok && e.status == http.StatusUnprocessableEntity {
			e.tell(find())
		}
		return e
	}
	// A field under another case is an unknown field, see decodeJSON.
	huma.ValidateStrictCasing = true
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
	translate(`required \w+ parameter is missing`, TypeMissing, "Field required"),
	translate(`expected string to be RFC 4122 uuid`, TypeUUID, "Input should be a valid UUID"),
	translate(`expected string to be RFC 3339 date-time`, TypeDatetime, "Input should be a valid datetime with a timezone (RFC 3339)"),
	translate(regexp.QuoteMeta("expected string to match pattern "+noNUL), TypeValue, ValuePrefix+"must not hold the character NUL"),
	translate(regexp.QuoteMeta("expected string to match pattern "+NamePattern), TypePattern, "String should have no control character and at least one visible character"),
	translate(`expected string$`, TypeString, "Input should be a valid string"),
	translate(`expected integer$`, TypeInt, "Input should be a valid integer"),
	translate(`expected number$`, TypeInt, "Input should be a valid integer"),
	translate(`invalid integer`, TypeInt, "Input should be a valid integer, unable to parse string as an integer"),
	translate(`expected boolean$`, TypeBool, "Input should be a valid boolean"),
	translate(`invalid boolean`, TypeBool, "Input should be a valid boolean"),
	translate(`expected array$`, TypeList, "Input should be a valid list"),
	translate(`expected object$`, TypeDict, "Input should be a valid dictionary"),
	translate(`expected number >= (\S+)`, TypeGreaterThanEqual, "Input should be greater than or equal to $1"),
	translate(`expected number <= (\S+)`, TypeLessThanEqual, "Input should be less than or equal to $1"),
	translate(`expected length >= 1$`, TypeStringTooShort, "String should have at least 1 character"),
	translate(`expected length >= (\d+)`, TypeStringTooShort, "String should have at least $1 characters"),
	translate(`expected length <= 1$`, TypeStringTooLong, "String should have at most 1 character"),
	translate(`expected length <= (\d+)`, TypeStringTooLong, "String should have at most $1 characters"),
	translate(`expected array length >= 1$`, TypeTooShort, "List should have at least 1 item"),
	translate(`expected array length >= (\d+)`, TypeTooShort, "List should have at least $1 items"),
	translate(`expected array length <= 1$`, TypeTooLong, "List should have at most 1 item"),
	translate(`expected array length <= (\d+)`, TypeTooLong, "List should have at most $1 items"),
}

var (
	requiredFinding = regexp.MustCompile(`^expected required property (\S+) to be present`)
	enumFinding     = regexp.MustCompile(`^expected value to be one of "(.*)"`)
)

func newErrorFromFindings(status int, msg string, errs []error) *Error {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return NewError(status, TypePayloadTooLarge, "the request body is larger than this operation accepts").At("body")
	case http.StatusRequestTimeout:
		return NewError(status, TypeRequestTimeout, "the request body did not arrive in time").At("body")
	case http.StatusUnsupportedMediaType:
		return UnsupportedMediaType()
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
	default:
		if msg == "cannot read request body" { // it is cut off or its chunks are malformed: nothing failed inside
			return Unprocessable((&Problem{Msg: "JSON decode error", Type: TypeJSONInvalid}).InBody())
		}
		// What failed inside stays inside: huma puts the cause into msg and errs.
		return NewError(status, TypeInternal, "the request could not be processed; try again, and quote the request id if it happens again")
	}
	e := &Error{status: http.StatusUnprocessableEntity}
	if msg == "request body is required" {
		errs = append(errs, Missing().InBody())
	}
	found := make([]*Problem, len(errs))
	for i, err := range errs {
		found[i] = problemFrom(err)
	}
	e.tell(found)
	return e
}

// tell adds problems in their order, one for each place: the first is the cause
// of the others.
func (e *Error) tell(found []*Problem) {
	unreadable := func(p *Problem) bool { return len(p.Loc) == 1 && p.Loc[0] == "body" }
	told := make(map[string]bool, len(e.Detail)+len(found))
	place := func(p *Problem) string { return strings.Join(p.Loc, "\x00") }
	for _, p := range e.Detail {
		told[place(p)] = true
	}
	for _, p := range found {
		if told["body"] && p.Loc[0] == "body" || told[place(p)] && !unreadable(p) {
			continue
		}
		told[place(p)] = true
		e.Detail = append(e.Detail, p)
	}
	slices.SortStableFunc(e.Detail, func(a, b *Problem) int {
		return slices.Index(places, a.Loc[0]) - slices.Index(places, b.Loc[0])
	})
	e.Detail = bounded(e.Detail)
}

// MaxProblems is how many problems an answer tells: all of any request that keeps
// to the bounds of its lists, but for one that exports very many mailboxes.
const MaxProblems = 5000

// bounded cuts off what is beyond MaxProblems, and says so.
func bounded(problems []*Problem) []*Problem {
	more := len(problems) - MaxProblems
	if more <= 0 {
		return problems
	}
	return append(slices.Clip(problems[:MaxProblems]), Invalid("%d more problems", more).At("body"))
}

type furtherProblemsKey struct{}

// WithFurtherProblems has a request that turns out to be invalid told further
// problems, which only the service can find. find is called once the body has
// been read.
func WithFurtherProblems(ctx context.Context, find func() []*Problem) context.Context {
	return context.WithValue(ctx, furtherProblemsKey{}, find)
}

// places is the order in which problems are told.
var places = []string{"path", "query", "header", "body"}

func problemFrom(err error) *Problem {
	var finding *huma.ErrorDetail
	switch err := err.(type) {
	case *Problem:
		return err
	case *huma.ErrorDetail:
		finding = err
	default:
		return Invalid("the request could not be read").InBody()
	}
	loc := location(finding.Location)
	if m := requiredFinding.FindStringSubmatch(finding.Message); m != nil {
		return Missing().At(append(loc, m[1])...)
	}
	if m := enumFinding.FindStringSubmatch(finding.Message); m != nil {
		return (&Problem{Msg: "Input should be " + alternatives(strings.Split(m[1], ", ")), Type: TypeEnum}).At(loc...)
	}
	for _, t := range translations {
		if m := t.finding.FindStringSubmatchIndex(finding.Message); m != nil {
			msg := t.finding.ExpandString(nil, t.msg, finding.Message, m)
			return (&Problem{Msg: string(msg), Type: t.typ}).At(loc...)
		}
	}
	// Whatever is left was found while decoding the body.
	return (&Problem{Msg: "JSON decode error", Type: TypeJSONInvalid}).InBody()
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

// UnsupportedMediaType is the answer to a body that does not say it is JSON.
func UnsupportedMediaType() *Error {
	return NewError(http.StatusUnsupportedMediaType, TypeUnsupportedMedia, "the request body must be sent as Content-Type: application/json").At("header", "Content-Type")
}

// UnsupportedContentCoding is the answer to a body that is compressed (RFC 9110,
// section 15.5.16).
func UnsupportedContentCoding() *Error {
	return NewError(http.StatusUnsupportedMediaType, TypeUnsupportedMedia, "the request body must be sent as it is, without a Content-Encoding").
		At("header", "Content-Encoding").With("Accept-Encoding", "identity")
}
