package report

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Fields maps the fields of a request to a resource's attributes if the names differ. A body field that is not
// mapped is the attribute of the same name; a field mapped to "" is no attribute. The name of a nested field is
// its path, as in "domains.0". A field outside the body is an attribute only if mapped, as in "query.domain".
type Fields map[string]string

// Error reports the cause of a failed call. Each problem that the API found in a field of the request
// becomes an error at the field's attribute. summary names the operation and the object.
func Error(diags *diag.Diagnostics, err error, summary string, fields Fields) {
	next := advice(err)
	if own, ok := err.(advisedError); ok {
		err, next = own.error, own.advice
	}
	ErrorWithAdvice(diags, err, summary, fields, next)
}

// WithAdvice adds the user's next step to an error, for [Error].
func WithAdvice(err error, advice string) error { return advisedError{err, advice} }

type advisedError struct {
	error

	advice string
}

func (e advisedError) Unwrap() error { return e.error }

// ErrorWithAdvice is [Error] with the user's next step from the caller.
func ErrorWithAdvice(diags *diag.Diagnostics, err error, summary string, fields Fields, next string) {
	if incident := client.IncidentOf(err); incident != nil && !outcomeUnclear(err) {
		// The whole connection failed, so the caller's advice does not apply.
		reason, from := err.Error(), ""
		if refused, ok := err.(*client.Error); ok {
			reason, from = refused.Reason(), source(refused)
		}
		diags.Append(ConnectionError(incident, summary, Sentence(reason), from, advice(err)))
		return
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || outcomeUnclear(err) {
		diags.AddError(summary, Paragraphs(Sentence(err.Error()), next))
		return
	}
	var elsewhere []string
	for _, p := range refused.Problems {
		if at, ok := fields.attribute(p.Loc); ok {
			diags.AddAttributeError(at, summary, Paragraphs(ReasonAt(at, p.Msg), source(refused), next))
		} else {
			elsewhere = append(elsewhere, Sentence(p.String()))
		}
	}
	_, wrapped := errors.Unwrap(err).(*client.Error)
	switch {
	case wrapped:
		diags.AddError(summary, Paragraphs(Sentence(err.Error()), next))
	case len(refused.Problems) == 0:
		diags.AddError(summary, Paragraphs(Sentence(refused.Reason()), source(refused), next))
	case len(elsewhere) > 0:
		diags.AddError(summary, Paragraphs(strings.Join(elsewhere, " "), source(refused), next))
	}
}

// ReasonAt returns the API's message about an attribute, prefixed with the path of a nested attribute,
// because OpenTofu and Terraform 1.11 show the resource's first line instead of the attribute's.
func ReasonAt(at path.Path, msg string) string {
	if len(at.Steps()) < 2 {
		return Sentence(msg)
	}
	return at.String() + ": " + Sentence(msg)
}

// outcomeUnclear reports whether err itself explains the checks before a retry, in addition to the
// response that it wraps.
func outcomeUnclear(err error) bool {
	return isA[*client.UnknownOutcomeError](err) || isA[*client.SecretLostError](err)
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// attribute returns the attribute for a field of a request.
func (f Fields) attribute(loc []string) (path.Path, bool) {
	if f == nil || len(loc) < 2 {
		return path.Path{}, false
	}
	if loc[0] != "body" {
		name, ok := f[strings.Join(loc, ".")]
		return path.Root(name), ok
	}
	name, rest := f.root(loc[1:])
	if name == "" {
		return path.Path{}, false
	}
	at := path.Root(name)
	for _, step := range rest {
		if i, err := strconv.Atoi(step); err == nil {
			at = at.AtListIndex(i)
		} else {
			at = at.AtName(step)
		}
	}
	return at, true
}

// root returns the attribute that contains a field, and the steps from the attribute to the field.
func (f Fields) root(field []string) (name string, rest []string) {
	for n := len(field); n > 0; n-- {
		if name, ok := f[strings.Join(field[:n], ".")]; ok {
			return name, field[n:]
		}
	}
	return field[0], field[1:]
}

// source describes the response that contained a message, or returns "" without a response.
func source(e *client.Error) string {
	if e.Status == 0 {
		return ""
	}
	if e.RequestID == "" {
		return fmt.Sprintf("(The API responded to %s with HTTP %d.)", e.Operation, e.Status)
	}
	return fmt.Sprintf("(The API responded to %s with HTTP %d, request id %s.)", e.Operation, e.Status, e.RequestID)
}

// MissingDomainAdvice is the next step if the account does not contain the domain.
const MissingDomainAdvice = "If this configuration has the domain, refer to its resource, for instance with domain = mailhost_domain.main.name, so that Terraform creates the domain first. Otherwise correct the value."

// advice returns the user's next step.
func advice(err error) string {
	status := client.StatusOf(err)
	isInvalid := status == http.StatusUnprocessableEntity || status == http.StatusBadRequest && len(client.ProblemsAt(err)) > 0
	switch {
	case outcomeUnclear(err):
		return ""
	case isA[*client.AmbiguousError](err):
		return "Refer to it by its id."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "Run Terraform again: the changes so far are in the state, and it continues from there."
	case errors.Is(err, client.ErrCreateUnsupported):
		return "This API has the published operations only. Remove the resource from the configuration, and create the object in the service's own control panel."
	case client.IsNotFound(err):
		return "If it was deleted outside Terraform, run apply again: the next plan creates it again."
	case isA[*tls.CertificateVerificationError](err):
		return certificateAdvice
	case errors.Is(err, client.ErrNotTLS):
		return "Write base_url with http://, or with the port at which the server speaks HTTPS."
	case errors.Is(err, client.ErrTLSOnly):
		return "Write base_url with https://."
	case status == http.StatusNotFound, errors.Is(err, client.ErrNoAPI):
		return "Check base_url: the API's paths, such as /v1/public/accounts, must be below it."
	case status == http.StatusUnauthorized, status == 0 && CredentialAdvice(err) != "":
		return CredentialAdvice(err)
	case IsAccountCancelled(err):
		return "Ask the service to reactivate the account; a cancelled account can be read but not changed."
	case isOfType(err, api.TypeReadOnly):
		return "Run the command without --read-only where it may change something."
	case status == http.StatusForbidden:
		return strings.TrimSpace("Use a credential with that capability, or ask the account's owner to grant it; check that account_id is the credential's account. " + CredentialAdvice(err))
	case status == http.StatusConflict && len(client.ProblemsAt(err, "header", api.IdempotencyKeyHeader)) > 0:
		return "The same request of an earlier run is still being processed. Run apply again in a minute."
	case status == http.StatusConflict:
		return "Remove the conflict that the API names, and run apply again."
	case isInvalid && namesDomain(err):
		return MissingDomainAdvice
	case isInvalid:
		return "Correct the value in the configuration."
	case errors.Is(err, client.ErrEmbedded):
		return "Repair what it names, and run apply again: the changes so far are in the state, and it continues from there."
	case status == http.StatusTooManyRequests:
		return "Run apply again later, or with a lower -parallelism."
	case isNotRecorded(err):
		return "" // the message contains it
	case status >= http.StatusInternalServerError:
		return "Run apply again. If it fails again, send the request id to the API's operator, who can find the cause with it."
	case status == 0 && isA[*client.Error](err):
		return "Check that base_url is right and that the API can be reached, then run apply again: it continues from here."
	}
	return ""
}

func isNotRecorded(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.NotRecorded()
}

// CredentialAdvice returns the next step for the credential that the API refused, or "".
func CredentialAdvice(err error) string {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Advice
	}
	return ""
}

// namesDomain reports whether the API refused the domain of a request. The provider checked its syntax,
// so the domain is not in the account.
func namesDomain(err error) bool {
	return len(client.ProblemsAt(err, "body", "domain"))+len(client.ProblemsAt(err, "query", "domain")) > 0
}

// certificateAdvice names the variables that Go's crypto/x509 reads.
const certificateAdvice = "Check that base_url has the host name of the server's certificate, that the certificate has not expired, and that this machine's clock is right. " +
	"If your own certificate authority has issued it, install the authority's certificate: on Linux and other Unix systems add it to the system's certificates, " +
	"or set SSL_CERT_FILE to a PEM file (or SSL_CERT_DIR to a directory of them) that contains it; on macOS and Windows add it to the system's store, because those two variables have no effect there."

// IsAccountCancelled reports whether the API refused because the account is cancelled.
func IsAccountCancelled(err error) bool {
	return isOfType(err, api.TypeAccountCancelled)
}

func isOfType(err error, problem string) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && slices.ContainsFunc(refused.Problems, func(p client.Problem) bool { return p.Type == problem })
}

// InvalidValue adds an error at an attribute. err explains why its value is invalid.
func InvalidValue(diags *diag.Diagnostics, attribute string, err error) {
	diags.AddAttributeError(path.Root(attribute), "Invalid "+attribute, Sentence(err.Error()))
}

// WithTimeoutAdvice adds the advice to raise the timeout to an error of a create, if ctx has ended or
// err reports that ctx would have. ctx ends at the deadline of the attribute timeouts.
func WithTimeoutAdvice(ctx context.Context, err error) error {
	if !errors.Is(cmp.Or(ctx.Err(), err), context.DeadlineExceeded) || outcomeUnclear(err) {
		return err
	}
	return WithAdvice(err, "Run apply again: it continues from here. If it always takes this long, raise create in the resource's timeouts.")
}
