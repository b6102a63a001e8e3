package dnsrecord

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// WarnEncoded warns in a plan about new values of TXT records at a name that another program has encoded.
func WarnEncoded(diags *diag.Diagnostics, at path.Path, name, domain string, values ...string) {
	var traces []string
	for _, v := range values {
		if trace := dnsdata.ForeignEncoding(v); trace != "" && !slices.Contains(traces, trace) {
			traces = append(traces, trace)
		}
	}
	if len(traces) == 0 {
		return
	}
	for i, trace := range traces {
		traces[i] = "The text " + trace
	}
	if domain != "" { // otherwise only the apply knows it
		name += " of " + domain
	}
	diags.AddAttributeWarning(at, fmt.Sprintf("The TXT record %s seems to be encoded", strings.TrimSpace(name)),
		"It is served as it is, and mail software does not decode it:"+report.FirstBullets(traces)+
			"\n\nIf you copied it from another provider, write the plain text, such as v=DMARC1; p=none. If it is meant as it is, apply the plan: only a new value has this warning.")
}
