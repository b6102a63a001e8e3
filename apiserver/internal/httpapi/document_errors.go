package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// errorTypes are the types of problem, for the table in the document.
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
	{http.StatusUnprocessableEntity, []string{api.TypeValue}, "A rule of the API forbids the value. The message explains the rule.", "Correct the place that `loc` names."},
	{http.StatusTooManyRequests, []string{api.TypeRateLimited}, "A limit is used up.", "Wait for the seconds in `Retry-After`."},
	{http.StatusInternalServerError, []string{api.TypeInternal}, "The service failed. A create may have succeeded.", "Search for the object before you send the request again, or use the same `Idempotency-Key`."},
	{http.StatusServiceUnavailable, []string{api.TypeUnavailable}, "The service is starting, stopping or without its database.", "Wait for the seconds in `Retry-After`."},
}

// description is the introduction of the document, in Markdown.
func description() string {
	var b strings.Builder
	b.WriteString(`Manages an email-hosting account: domains, mailboxes, DNS records, forwarding, master passwords, service accounts, dedicated IPs and the plan. Operations marked x-lifecycle-extension are beyond the published ones and can be switched off as a whole.

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
