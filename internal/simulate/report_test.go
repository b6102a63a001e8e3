package simulate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// finding is a violated invariant. It is the value of a panic, so that the history ends
// with it.
type finding struct{ kind, text string }

func (f finding) Error() string { return f.kind + ": " + f.text }

// report collects the log of a history, and the secrets that no diagnostic may contain.
type report struct {
	lines []string
	// changedOutside reports whether an external change came between the current plan
	// and its apply.
	changedOutside bool
	secrets        map[string]string // description by value
}

func (r *report) logf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// fail ends the history with a finding.
func (r *report) fail(kind, format string, args ...any) {
	panic(finding{kind, fmt.Sprintf(format, args...)})
}

// secret registers a secret value. what describes it.
func (r *report) secret(what, v string) {
	if len(v) < 4 {
		return
	}
	if r.secrets == nil {
		r.secrets = map[string]string{}
	}
	r.secrets[v] = what
}

// providerBug matches diagnostics that blame the provider's developers, which the plugin
// framework returns for incorrect behaviour of a provider.
var providerBug = regexp.MustCompile(`(?i)report (this|the|it)\b.*(developer|issue|provider)|provider developer|bug in the provider|always an error in the provider|Missing Resource Identity|Unexpected Identity Change|Provider (produced|returned) (an )?(invalid|inconsistent)|Value Conversion Error|panic`)

// checkDiagnostic fails if a diagnostic blames the developers or contains a secret.
func (r *report) checkDiagnostic(addr string, d *tfprotov6.Diagnostic) {
	all := d.Summary + "\n" + d.Detail
	if providerBug.MatchString(all) {
		r.fail("blame", "%s: %s", addr, all)
	}
	for v, what := range r.secrets {
		if strings.Contains(all, v) {
			r.fail("secret in a diagnostic", "%s: %s: %s", addr, what, strings.ReplaceAll(all, v, "[secret]"))
		}
	}
}

// knownDefects are findings of defects that are not fixed yet. They end a history
// without failing a test. Don't add a defect that you can fix.
var knownDefects = []struct{ finding, reason string }{
	{".acquisition: was tftypes.String<", "Terraform compares the plan with an account that another run or an external change has modified since"},
	{"destroy and create, after an external change", "the same, for the domain that a rule or a master password refers to by name"},
	{"one object at two addresses: forwarding", "a plan can't distinguish a second address that adopts a rule of the state from the replacement of its resource"},
	{"one object at two addresses: dns_record", "the same for a record"},
	{"one object at two addresses: domain", "a plan with -target adopts a domain that the state has at an address outside the target, because the provider does not see that address"},
	{"by an adoption", "a set adopts a mailbox whose other resource the plan could not see, as -target left it out, or the domain was unknown"},
	{"as a tainted object too", "Terraform's plan of a tainted object does not name it, so that the plan can't see that it deletes the object for another address of the state"},
	{"and which -target left out", "the same, for an object that a targeted import block names and replaces"},
}

// knownDefect returns the reason of a known defect, or "".
func (r Result) knownDefect() string {
	for _, d := range knownDefects {
		if strings.Contains(r.Finding, d.finding) {
			return d.reason
		}
	}
	return ""
}
