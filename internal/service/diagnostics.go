package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Fields maps the fields of a request's body to a resource's attributes, where
// the names differ; every other field is an attribute of its own name. A field
// that maps to "" is none of the resource's attributes. A field within another
// one is named by its path, as in "domains.0". What is not in the body is none of
// the attributes unless it is mapped, as in "query.domain".
type Fields map[string]string

// AddError reports why a call failed: each problem that the API found at a field
// of the request lands on the attribute that the field came from. summary says
// what could not be done to which object.
func AddError(diags *diag.Diagnostics, err error, summary string, fields Fields) {
	next := advice(err)
	if timedOut, ok := err.(timeoutError); ok {
		err = timedOut.error
	}
	AddErrorAdvising(diags, err, summary, fields, next)
}

// AddErrorAdvising is [AddError] with the caller's own text on what to do next.
func AddErrorAdvising(diags *diag.Diagnostics, err error, summary string, fields Fields, next string) {
	if incident := client.IncidentOf(err); incident != nil && !outcomeUnclear(err) {
		addConnectionError(diags, incident, err, summary)
		return
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || outcomeUnclear(err) {
		diags.AddError(summary, join(sentence(err.Error()), next))
		return
	}
	var elsewhere []string
	for _, p := range refused.Problems {
		if at, ok := fields.attribute(p.Loc); ok {
			diags.AddAttributeError(at, summary, join(reasonAt(at, p.Msg), source(refused), next))
		} else {
			elsewhere = append(elsewhere, reason(p))
		}
	}
	_, wrapped := errors.Unwrap(err).(*client.Error)
	switch {
	case wrapped:
		diags.AddError(summary, join(sentence(err.Error()), next))
	case len(refused.Problems) == 0:
		diags.AddError(summary, join(sentence(refused.Reason()), source(refused), next))
	case len(elsewhere) > 0:
		diags.AddError(summary, join(strings.Join(elsewhere, " "), source(refused), next))
	}
}

// addConnectionError reports a failure of the connection as a whole, for which the
// object's own advice does not help.
func addConnectionError(diags *diag.Diagnostics, incident *client.Incident, err error, summary string) {
	refused, ok := err.(*client.Error)
	if !ok {
		diags.Append(newConnectionError(incident, summary, sentence(err.Error()), advice(err)))
		return
	}
	diags.Append(newConnectionError(incident, summary, sentence(refused.Reason()), source(refused), advice(err)))
}

// reasonAt is what the API says of an attribute. One within another is named in
// words too: OpenTofu and Terraform 1.11 show the first line of the resource for
// it, Terraform 1.15 its own line.
func reasonAt(at path.Path, msg string) string {
	if len(at.Steps()) < 2 {
		return sentence(msg)
	}
	return at.String() + ": " + sentence(msg)
}

// reason is a problem in words, with its place where that is a field.
func reason(p client.Problem) string {
	if len(p.Loc) < 2 || p.Loc[0] != "body" {
		return sentence(p.Msg)
	}
	return sentence(strings.Join(p.Loc[1:], ".") + ": " + p.Msg)
}

// outcomeUnclear reports whether err tells more than the answer inside it, and
// itself says what to check before trying again.
func outcomeUnclear(err error) bool {
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	_, secretLost := errors.AsType[*client.SecretLostError](err)
	return unknown || secretLost
}

// attribute returns where a field of a request came from.
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

// root returns the attribute that a field is or is part of, and the steps from
// there on.
func (f Fields) root(field []string) (name string, rest []string) {
	for n := len(field); n > 0; n-- {
		if name, ok := f[strings.Join(field[:n], ".")]; ok {
			return name, field[n:]
		}
	}
	return field[0], field[1:]
}

// source describes the response that a message comes from; "" without a response.
func source(e *client.Error) string {
	if e.Status == 0 {
		return ""
	}
	if e.RequestID == "" {
		return fmt.Sprintf("(The API responded to %s with HTTP %d.)", e.Operation, e.Status)
	}
	return fmt.Sprintf("(The API responded to %s with HTTP %d, request id %s.)", e.Operation, e.Status, e.RequestID)
}

// advice says what to do next.
func advice(err error) string {
	switch status := client.StatusOf(err); {
	case outcomeUnclear(err):
		return ""
	case isAmbiguous(err):
		return "Name it by its id."
	case isTimeout(err):
		return "Run apply again: it goes on from here. If it always takes this long, raise create in the resource's timeouts."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "Run Terraform again: what was done so far is in the state, and it goes on from here."
	case client.IsNotFound(err):
		return "If it was deleted outside Terraform, run apply again: the next plan creates it again."
	case isCertificate(err):
		return certificateAdvice
	case errors.Is(err, client.ErrNotTLS):
		return "Write base_url with http://, or with the port at which the server speaks HTTPS."
	case errors.Is(err, client.ErrTLSOnly):
		return "Write base_url with https://."
	case status == http.StatusNotFound, errors.Is(err, client.ErrNoAPI):
		return "Check base_url: it is the address that the API's paths, such as /v1/public/accounts, come below."
	case status == http.StatusUnauthorized:
		return "Check the credential: MAILHOST_TOKEN, or token or oauth2 in the provider block. A service account's token stops working when it expires or is revoked."
	case IsAccountCancelled(err):
		return "Only the service itself can open a cancelled account again."
	case status == http.StatusForbidden:
		return "Use a credential with that capability, or ask the account's owner to grant it; check that account_id is the credential's account."
	case status == http.StatusConflict && len(client.ProblemsAt(err, "header", api.IdempotencyKeyHeader)) > 0:
		return "The same request of an earlier run is still being processed. Run apply again in a minute."
	case status == http.StatusConflict:
		return "Remove the conflict that the API names, and run apply again."
	case status == http.StatusUnprocessableEntity && namesDomain(err):
		return "If this configuration has the domain, refer to it, for instance with domain = mailhost_domain.main.name, so that Terraform creates the domain first. Otherwise correct the value."
	case status == http.StatusUnprocessableEntity:
		return "Correct the value in the configuration."
	case status == http.StatusTooManyRequests:
		return "Run apply again later, or with a lower -parallelism."
	case status >= http.StatusInternalServerError:
		return "Run apply again. If it fails again, the API's operator can find the cause by the request id."
	case unanswered(err):
		return "Check that base_url is right and that the API can be reached, then run apply again: it goes on from here."
	}
	return ""
}

func isTimeout(err error) bool {
	_, ok := errors.AsType[timeoutError](err)
	return ok
}

// namesDomain reports whether the API has refused the domain of a request. Its form
// has been checked before, so the account has no such domain.
func namesDomain(err error) bool {
	return len(client.ProblemsAt(err, "body", "domain"))+len(client.ProblemsAt(err, "query", "domain")) > 0
}

// certificateAdvice names the variables that Go's crypto/x509 reads.
const certificateAdvice = "Check that base_url has the host name of the server's certificate, that the certificate has not expired, and that this machine's clock is right. " +
	"If an authority of your own has issued it, install the authority's certificate: on Linux and other Unix systems add it to the system's, " +
	"or set SSL_CERT_FILE to a PEM file (or SSL_CERT_DIR to a directory of them) that has it; on macOS and Windows add it to the system's store, as those two variables have no effect there."

func isCertificate(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

func unanswered(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Status == 0
}

// IsAccountCancelled reports whether the API refused because the account is
// cancelled.
func IsAccountCancelled(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && slices.ContainsFunc(refused.Problems, func(p client.Problem) bool { return p.Type == api.TypeAccountCancelled })
}

func isAmbiguous(err error) bool {
	_, ok := errors.AsType[*client.AmbiguousError](err)
	return ok
}

// AddInvalid refuses the value of an attribute for the reason that err gives.
func AddInvalid(diags *diag.Diagnostics, attribute string, err error) {
	diags.AddAttributeError(path.Root(attribute), "Invalid "+attribute, sentence(err.Error()))
}

func join(parts ...string) string {
	var full []string
	for _, p := range parts {
		if p != "" {
			full = append(full, p)
		}
	}
	return strings.Join(full, "\n\n")
}

// sentence lets a message begin with a capital and end with a stop.
func sentence(s string) string {
	s = strings.TrimPrefix(s, api.ValuePrefix)
	if s == "" {
		return s
	}
	s = capital(s)
	if !strings.ContainsAny(s[len(s)-1:], ".!?)") {
		s += "."
	}
	return s
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// connectionError is an error that concerns every object of a walk, such as an
// outage or a refused credential. [Guard] and [GuardDataSource] let it through in
// full once.
type connectionError struct {
	diag.ErrorDiagnostic

	incident *client.Incident
	// reason is what is wrong, in one sentence.
	reason string
}

func newConnectionError(incident *client.Incident, summary, reason string, further ...string) connectionError {
	detail := join(append([]string{reason}, further...)...)
	return connectionError{diag.NewErrorDiagnostic(summary, detail), incident, reason}
}

// report returns the error in full the first time that its incident is reported.
func (e connectionError) report() diag.Diagnostic {
	if e.incident.Explain() {
		return e.ErrorDiagnostic
	}
	return diag.NewErrorDiagnostic(e.Summary(), e.reason+" See the full error in this output for what to do.")
}

// reportOnce reports the errors of a resource. If silent, it leaves out those of an
// incident that has made another resource fail: that one fails the walk already.
func reportOnce(diags *diag.Diagnostics, silent bool) {
	kept := make(diag.Diagnostics, 0, len(*diags))
	for _, d := range *diags {
		e, ok := d.(connectionError)
		switch {
		case !ok:
			kept = append(kept, d)
		case e.incident.Fail() || !silent:
			kept = append(kept, e.report())
		}
	}
	*diags = kept
}

// reportLookup reports the errors of a data source. It leaves none out, and a
// resource still has to fail by itself, because Terraform makes a warning of a data
// source's error in a check block.
func reportLookup(diags diag.Diagnostics) {
	for i, d := range diags {
		if e, ok := d.(connectionError); ok {
			diags[i] = e.report()
		}
	}
}

// ImportAdvice says how to manage, with the resource that could not create it, an
// object that exists already. key is an import id of the object.
func ImportAdvice(resourceType, key string) string {
	return fmt.Sprintf("To manage it with this resource, import it. Either add this block with the address of the resource, and run apply again:\n\n"+
		"  import {\n    to = %[1]s.<name>\n    id = %[2]s\n  }\n\nor run: terraform import '%[1]s.<name>' %[3]s", resourceType, quoteHCL(key), quoteShell(key))
}

// quoteHCL returns a string as a quoted template of HCL without interpolation.
func quoteHCL(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}

// quoteShell returns a string as one word of a POSIX shell.
func quoteShell(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// AddLeftovers warns of objects that earlier attempts of a create have probably
// made besides the one that is managed now; there are none, as a rule.
// consequence says what they mean.
func AddLeftovers(diags *diag.Diagnostics, object string, ids []string, consequence string) {
	if len(ids) == 0 {
		return
	}
	diags.AddWarning(fmt.Sprintf("The %s was probably created more than once", object),
		join(fmt.Sprintf("An answer of the API was lost, and the create was sent again. What the lost attempt has probably created is not managed by Terraform; its id is %s.", strings.Join(ids, " and ")), consequence))
}

// AddResumed warns that a create took over what an earlier run had created just
// so, without coming to keep its id.
func AddResumed(diags *diag.Diagnostics, object, id string) {
	diags.AddWarning(fmt.Sprintf("The %s was created by an earlier run", object),
		join("Just this was created within the last day, most likely by a run that was cut off before Terraform could note it. So this run goes on with it and creates no second one. Its id is "+id+".",
			"Nothing is left to do, unless another resource already manages it. Then take one of the two out with terraform state rm (or a removed block with destroy = false): a destroy of either deletes it for both."))
}
