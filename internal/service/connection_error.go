package service

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

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
