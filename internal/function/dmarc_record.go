package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newDMARCRecord returns the function dmarc_record.
func newDMARCRecord() function.Function { return dmarcRecord{} }

type dmarcRecord struct{}

// Metadata implements function.Function.
func (dmarcRecord) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "dmarc_record"
}

// Definition implements function.Function.
func (dmarcRecord) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Builds a DMARC record",
		MarkdownDescription: "Builds the DMARC record of a domain ([RFC 7489](https://www.rfc-editor.org/rfc/rfc7489)), which says what receivers shall do with mail that fails SPF and DKIM, and where to report on it. Publish it as a TXT record of `_dmarc`.\n\n" +
			"The tags come in the order of the RFC, `v` and `p` first, whatever the order of the options. Every value is checked, and every mistake is told at once; an unknown tag is one.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "policy",
				MarkdownDescription: "What to do with mail of the domain that fails (`p`): `none`, `quarantine` or `reject`.",
			},
		},
		VariadicParameter: optionsParameter("An object with the tags that are wanted; what is left out or null is not in the record:\n" +
			"   - `sp`: the policy for subdomains, if another; `np`: that for subdomains that don't exist ([RFC 9091](https://www.rfc-editor.org/rfc/rfc9091)).\n" +
			"   - `rua`, `ruf`: addresses for aggregate and for failure reports, one or a list, such as `[\"dmarc@example.com\"]`. `mailto:` is added. A largest size of a report may follow: `dmarc@example.com!10m`. An address in another domain works only if that domain agrees (RFC 7489, section 7.1).\n" +
			"   - `adkim`, `aspf`: how closely the names in DKIM and SPF must agree with the sender's: `r` (relaxed, the same organisation) or `s` (strict, the same name).\n" +
			"   - `ri`: seconds between aggregate reports.\n" +
			"   - `fo`: of which failures to report to `ruf`, without which it has no effect, one or a list: `0` (all checks failed), `1` (any check failed), `d` (DKIM failed), `s` (SPF failed).\n" +
			"   - `rf`: formats of failure reports; there is only `afrf`.\n" +
			"   - `pct`: for which share of mail the policy holds, 0 to 100 percent."),
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (dmarcRecord) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var policy string
	var given []types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &policy, &given); resp.Error != nil {
		return
	}
	o := readOptions(given)
	record := maildns.DMARC{
		P: policy, SP: o.text("sp"), NP: o.text("np"),
		RUA: o.texts("rua"), RUF: o.texts("ruf"),
		ADKIM: o.text("adkim"), ASPF: o.text("aspf"),
		RI: o.number("ri"), FO: o.words("fo"), RF: o.words("rf"), Pct: o.number("pct"),
	}
	result, err := record.Record()
	finish(ctx, resp, []string{"p"}, o.end(), result, err)
}
