package report

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// connectionError is an error that concerns every object of a walk, such as an outage or a
// refused credential.
type connectionError struct {
	diag.ErrorDiagnostic

	incident *client.Incident
	reason   string
}

// ConnectionError returns the error of an incident that concerns every object of a walk. [ShortenRepeated]
// and the functions below it report it in full once per walk. further are the paragraphs after the reason.
func ConnectionError(incident *client.Incident, summary, reason string, further ...string) diag.Diagnostic {
	detail := Paragraphs(append([]string{reason}, further...)...)
	return connectionError{diag.NewErrorDiagnostic(summary, detail), incident, reason}
}

// report returns the full error the first time that its incident is reported.
func (e connectionError) report() diag.Diagnostic {
	if e.incident.Explain() {
		return e.ErrorDiagnostic
	}
	return diag.NewErrorDiagnostic(e.Summary(), e.reason+" See the full error in this output for what to do.")
}

// ShortenRepeated shortens the connection errors of a resource that were reported in full before.
func ShortenRepeated(diags *diag.Diagnostics) { reportRepeated(diags, connectionError.report) }

// DropRepeated is ShortenRepeated for a read, or a plan of an object of the state. It drops an error when
// another resource already failed for the same incident.
func DropRepeated(diags *diag.Diagnostics) {
	reportRepeated(diags, func(e connectionError) diag.Diagnostic { return nil })
}

// reportRepeated replaces each connection error. repeated is called for an incident for which a resource
// has failed before.
func reportRepeated(diags *diag.Diagnostics, repeated func(connectionError) diag.Diagnostic) {
	kept := make(diag.Diagnostics, 0, len(*diags))
	for _, d := range *diags {
		if e, ok := d.(connectionError); ok {
			if e.incident.Fail() {
				d = e.report()
			} else if d = repeated(e); d == nil {
				continue
			}
		}
		kept = append(kept, d)
	}
	*diags = kept
}

// ShortenLookup is ShortenRepeated for a data source, which is not counted as a failed resource, because
// Terraform turns its error in a check block into a warning.
func ShortenLookup(diags *diag.Diagnostics) {
	for i, d := range *diags {
		if e, ok := d.(connectionError); ok {
			(*diags)[i] = e.report()
		}
	}
}
