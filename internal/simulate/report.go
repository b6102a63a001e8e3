package simulate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// finding is what a history must not show. It is a panic value, so that nothing
// happens after it.
type finding struct{ kind, text string }

func (f finding) Error() string { return f.kind + ": " + f.text }

// report collects what a history did, and what diagnostics may not say.
type report struct {
	lines   []string
	secrets map[string]string // what they are, by their values
}

func (r *report) logf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// find ends the history with a finding.
func (r *report) find(kind, format string, args ...any) {
	panic(finding{kind, fmt.Sprintf(format, args...)})
}

// secret makes a value one that no diagnostic may show.
func (r *report) secret(what, v string) {
	if len(v) < 4 {
		return
	}
	if r.secrets == nil {
		r.secrets = map[string]string{}
	}
	r.secrets[v] = what
}

// blames matches diagnostics that send the user to the provider's developers:
// those of the plugin framework for what a provider must not do.
var blames = regexp.MustCompile(`(?i)report (this|the|it)\b.*(developer|issue|provider)|provider developer|bug in the provider|always an error in the provider|Missing Resource Identity|Unexpected Identity Change|Provider (produced|returned) (an )?(invalid|inconsistent)|Value Conversion Error|panic`)

// checkDiagnostic finds blame and secrets in a diagnostic.
func (r *report) checkDiagnostic(addr string, d *tfprotov6.Diagnostic) {
	all := d.Summary + "\n" + d.Detail
	if blames.MatchString(all) {
		r.find("blame", "%s: %s", addr, all)
	}
	for v, what := range r.secrets {
		if strings.Contains(all, v) {
			r.find("secret in a diagnostic", "%s: %s: %s", addr, what, strings.ReplaceAll(all, v, "[secret]"))
		}
	}
}
