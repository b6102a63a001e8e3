package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newSPFRecord returns the function spf_record.
func newSPFRecord() function.Function { return spfRecord{} }

type spfRecord struct{}

// Metadata implements function.Function.
func (spfRecord) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "spf_record"
}

// Definition implements function.Function.
func (spfRecord) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Builds an SPF record",
		MarkdownDescription: "Builds the SPF record of a domain ([RFC 7208](https://www.rfc-editor.org/rfc/rfc7208)), which says which hosts may send mail for it. Publish it as a TXT record of the name itself, and one only.\n\n" +
			"Every term is checked, and every mistake is told at once. Refused are also: more than 10 terms that need a DNS look-up (`include`, `a`, `mx`, `exists`, `redirect`), at which receivers give up; terms that never match; " +
			"`ptr` and the macro `p`, which RFC 7208 says not to use; and `+all`, which lets the whole internet send for the domain. " +
			"The look-ups of an included policy count too, but only the DNS can tell them: leave room for them.\n\n" +
			"Names are written in ASCII and lower case, networks without the bits beyond their prefix. " +
			"A record has no limit of its own, but all TXT records of a name should not exceed 450 octets together, so that answers fit a UDP packet: move networks into a record of their own and `include` that.",
		Parameters: []function.Parameter{
			function.ListParameter{
				Name: "terms", ElementType: types.StringType,
				MarkdownDescription: "The mechanisms in the order in which receivers try them, each with its qualifier if that is not `+`: `include:<domain>`, `a` and `mx` (with `:<domain>` for another than this one, and `/24`, `//64` or `/24//64` for the networks of the hosts), " +
					"`ip4:<address or network>`, `ip6:<address or network>`, `exists:<domain>`. An explanation, `exp=<domain>`, may be among them. Domains may have macros such as `%{i}`; in HCL write them `%%{i}`. A domain that sends no mail has none: `[]`.",
			},
			function.StringParameter{
				Name:                "default",
				MarkdownDescription: "What holds for all other hosts: `-all` (not permitted), `~all` (probably not), `?all` (nothing said), or `redirect=<domain>` for the policy of another domain. It ends the record, as nothing after it would count.",
			},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (spfRecord) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var terms []types.String
	var record maildns.SPF
	if resp.Error = req.Arguments.Get(ctx, &terms, &record.Default); resp.Error != nil {
		return
	}
	var problems maildns.Problems
	record.Terms, problems = texts("terms", terms)
	result, err := record.Record()
	finish(ctx, resp, []string{"terms", "default"}, problems, result, err)
}
