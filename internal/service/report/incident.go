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

// ConnectionError returns the error of an incident that concerns every object of a walk. [Once] and
// [Shorten] report it in full once per walk. further are the paragraphs after the reason.
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

// Once shortens the connection errors that were reported in full before. If silent, it drops them
// when another resource already failed for the same incident.
func Once(diags *diag.Diagnostics, silent bool) {
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

// Shorten is [Once] for a data source: it drops no error and counts none as a failed resource, because
// Terraform turns a data source's error in a check block into a warning.
func Shorten(diags *diag.Diagnostics) {
	for i, d := range *diags {
		if e, ok := d.(connectionError); ok {
			(*diags)[i] = e.report()
		}
	}
}
