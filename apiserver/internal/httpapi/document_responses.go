package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func refTo(kind, name string) string { return "#/components/" + kind + "/" + name }

// rateLimitHeaders are in every response of a service with a limit. The document lists them only
// for a success and a 429, because generators write code for each.
var rateLimitHeaders = []string{
	rateLimitHeader, rateLimitRemainingHeader, rateLimitResetHeader, rateLimitPolicyHeader, rateLimitStateHeader,
}

func responseHeaders() map[string]*huma.Header {
	whole := &huma.Schema{Type: huma.TypeInteger}
	text := &huma.Schema{Type: huma.TypeString}
	return map[string]*huma.Header{
		requestIDHeader:               {Schema: text, Description: "Id of the request, for the log and the audit log"},
		rateLimitHeader:               {Schema: whole, Description: "Requests that the credential has at once. The RateLimit headers are absent if there is no limit"},
		rateLimitRemainingHeader:      {Schema: whole, Description: "Requests that are left"},
		rateLimitResetHeader:          {Schema: whole, Description: "Seconds until all requests are there again"},
		rateLimitPolicyHeader:         {Schema: text, Description: "The limit in the form of draft-ietf-httpapi-ratelimit-headers"},
		rateLimitStateHeader:          {Schema: text, Description: "What is left, in the same form"},
		"Retry-After":                 {Schema: whole, Description: "Seconds after which the request can be sent again"},
		"WWW-Authenticate":            {Schema: text, Description: "The scheme, Bearer, and what is wrong with the token"},
		"Content-Disposition":         {Schema: text, Description: "The name of the file"},
		api.IdempotencyReplayedHeader: {Schema: text, Description: "true if this is the stored response of an earlier request with the same Idempotency-Key"},
	}
}

// headers returns references to the header of every response, and to further headers.
func headers(more ...string) map[string]*huma.Header {
	all := map[string]*huma.Header{}
	for _, name := range append([]string{requestIDHeader}, more...) {
		all[name] = &huma.Header{Ref: refTo("headers", name)}
	}
	return all
}

// errorName returns the component name of a status code's response.
func errorName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// errorResponses returns a response for each status code of errorTypes, and UnexpectedError for
// other status codes.
func errorResponses(schemas huma.Registry) map[string]*huma.Response {
	body := content("application/json", schemas.Schema(reflect.TypeFor[api.Error](), true, ""))
	responses := map[string]*huma.Response{
		"UnexpectedError": {Description: "Any other error", Headers: headers(), Content: body},
	}
	for _, e := range errorTypes {
		r := &huma.Response{Description: http.StatusText(e.status), Headers: headers(), Content: body}
		switch e.status {
		case http.StatusUnauthorized:
			r.Headers = headers("WWW-Authenticate")
		case http.StatusTooManyRequests:
			r.Headers = headers(append([]string{"Retry-After"}, rateLimitHeaders...)...)
		case http.StatusServiceUnavailable:
			r.Headers = headers("Retry-After")
		case http.StatusMethodNotAllowed, http.StatusRequestTimeout:
			continue // not returned by an operation
		}
		responses[errorName(e.status)] = r
	}
	return responses
}

// problemTypes returns all types of problem in an error.
func problemTypes() (types []any) {
	for _, e := range errorTypes {
		for _, typ := range e.types {
			types = append(types, typ)
		}
	}
	return types
}

// describeResponse returns an operation's successful response.
func describeResponse(s api.Spec, schemas huma.Registry) *huma.Response {
	r := &huma.Response{Description: http.StatusText(s.Status), Headers: headers(rateLimitHeaders...)}
	switch s.Response {
	case reflect.TypeFor[api.NoContent]():
	case reflect.TypeFor[api.CSV]():
		r.Description, r.Content = "CSV with a header line", content("text/csv", &huma.Schema{Type: huma.TypeString})
		r.Headers["Content-Disposition"] = &huma.Header{Ref: refTo("headers", "Content-Disposition")}
	default:
		body := schemas.Schema(s.Response, true, "")
		body.Nullable = false // an empty list is []
		r.Content = content("application/json", body)
		if s.Keyed() {
			r.Headers[api.IdempotencyReplayedHeader] = &huma.Header{Ref: refTo("headers", api.IdempotencyReplayedHeader)}
		}
	}
	return r
}

// tagsOf returns the tags of operations, in the operations' order.
func tagsOf(specs []api.Spec) (tags []*huma.Tag) {
	for _, s := range specs {
		if !slices.ContainsFunc(tags, func(t *huma.Tag) bool { return t.Name == s.Kind.Tag }) {
			tags = append(tags, &huma.Tag{Name: s.Kind.Tag, Description: s.Kind.Description})
		}
	}
	return tags
}

// addLinks links each create to the operations on the new object. Tools use the links.
func addLinks(doc *huma.OpenAPI, specs []api.Spec) {
	for _, create := range specs {
		if create.Status != http.StatusCreated {
			continue
		}
		collection := strings.TrimSuffix(create.Path, "/claim")
		links := map[string]*huma.Link{}
		for _, s := range specs {
			parameters := s.PathParameters()
			if object := parameters[len(parameters)-1]; s.Path == collection+"/{"+object+"}" {
				links[s.ID] = &huma.Link{OperationID: s.ID, Parameters: map[string]any{
					"account_id": "$request.path.account_id", object: "$response.body#/id",
				}}
			}
		}
		doc.Paths[create.Path].Post.Responses[strconv.Itoa(create.Status)].Links = links
	}
}

// errorTypes lists the types of problem, for the document's table.
var errorTypes = []struct {
	status  int
	types   []string
	meaning string
	remedy  string
}{
	{http.StatusUnauthorized, []string{api.TypeNotAuthenticated}, "The request has no credential.", "Send `Authorization: Bearer <token>`."},
	{http.StatusUnauthorized, []string{api.TypeInvalidToken}, "The token is malformed or unknown, or the issuer's token is not accepted.", "Copy the token whole, or create another."},
	{http.StatusUnauthorized, []string{api.TypeTokenExpired, api.TypeTokenRevoked}, "The token is valid no longer.", "Create another service account, or sign in again."},
	{http.StatusForbidden, []string{api.TypePermissionDenied}, "The credential lacks the capability that the message names, or belongs to another account.", "Have an owner grant the capability."},
	{http.StatusForbidden, []string{api.TypeAccountCancelled}, "The account is cancelled.", "It can be read, not changed."},
	{http.StatusNotFound, []string{api.TypeNotFound}, "There is no such path, or no such object in the account.", "Compare the id or the name with the list."},
	{http.StatusMethodNotAllowed, []string{api.TypeMethodNotAllowed}, "The path does not have the method.", "Use a method of the `Allow` header."},
	{http.StatusRequestTimeout, []string{api.TypeRequestTimeout}, "The body did not arrive in time.", "Send the request again."},
	{http.StatusConflict, []string{api.TypeConflict}, "The object exists, or its state forbids the request. The message has the id of an existing object.", "Use the existing object."},
	{http.StatusRequestEntityTooLarge, []string{api.TypePayloadTooLarge}, "The body is larger than 1 MiB.", "Split the request."},
	{http.StatusUnsupportedMediaType, []string{api.TypeUnsupportedMedia}, "The body is not declared as JSON, or is compressed.", "Send `Content-Type: application/json`."},
	{http.StatusUnprocessableEntity, []string{api.TypeJSONInvalid}, "The body is not JSON.", "Correct the body."},
	{http.StatusUnprocessableEntity, []string{
		api.TypeMissing, api.TypeString, api.TypeStringTooShort, api.TypeStringTooLong, api.TypePattern, api.TypeUUID, api.TypeInt,
		api.TypeGreaterThanEqual, api.TypeLessThanEqual, api.TypeBool, api.TypeDatetime, api.TypeEnum, api.TypeList, api.TypeTooShort,
		api.TypeTooLong, api.TypeDict,
	}, "A field or a parameter is missing, or does not match its schema.", "Correct the place that `loc` names."},
	{http.StatusUnprocessableEntity, []string{api.TypeExtra}, "The operation has no such member or parameter. Only a server for tests refuses it, with `--strict`.", "Correct its name."},
	{http.StatusUnprocessableEntity, []string{api.TypeValue}, "A rule of the API forbids the value. The message explains the rule.", "Correct the place that `loc` names."},
	{http.StatusTooManyRequests, []string{api.TypeRateLimited}, "A limit is used up.", "Wait for the seconds in `Retry-After`."},
	{http.StatusInternalServerError, []string{api.TypeInternal}, "The service failed. A create may have succeeded.", "Search for the object before you send the request again, or use the same `Idempotency-Key`."},
	{http.StatusServiceUnavailable, []string{api.TypeUnavailable}, "The service is starting, stopping or without its database.", "Wait for the seconds in `Retry-After`."},
}

// description returns the introduction of the document, in Markdown.
func description() string {
	var b strings.Builder
	b.WriteString(`Manages an email-hosting account and what it holds. Operations marked x-lifecycle-extension are beyond the published ones and can be switched off as a whole.

The examples are calls of one account, recorded in their order.

## Errors

The body of an error lists every problem of the request at once: ` + "`loc` is the place, `msg` the explanation, and `type` one of these. Every response has the request's id in the header `X-Request-Id`" + `.

| status | type | meaning | what to do |
|---|---|---|---|
`)
	for _, e := range errorTypes {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", e.status, strings.Join(e.types, "`, `"), e.meaning, e.remedy)
	}
	b.WriteString("\nA bulk request reports each item that failed, with a `code`, and a purchase each domain, with an `error_code`; the other items succeed.\n")
	return b.String()
}
