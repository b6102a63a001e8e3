package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newTLSRPTRecord returns the function tls_rpt_record.
func newTLSRPTRecord() function.Function { return tlsrptRecord{} }

type tlsrptRecord struct{}

// Metadata implements function.Function.
func (tlsrptRecord) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "tls_rpt_record"
}

// Definition implements function.Function.
func (tlsrptRecord) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Builds a TLS-RPT record",
		MarkdownDescription: "Builds the record that says where senders report on TLS connections to a domain's mail hosts ([RFC 8460](https://www.rfc-editor.org/rfc/rfc8460)), which is how one learns that an MTA-STS policy or DANE stops mail. " +
			"Publish it as a TXT record of `_smtp._tls`.",
		Parameters: []function.Parameter{
			function.ListParameter{
				Name: "rua", ElementType: types.StringType,
				MarkdownDescription: "Where reports go: addresses such as `tls@example.com`, to which `mailto:` is added, and `https` URLs, one at least.",
			},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (tlsrptRecord) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var rua []types.String
	if resp.Error = req.Arguments.Get(ctx, &rua); resp.Error != nil {
		return
	}
	var record maildns.TLSRPT
	var problems maildns.Problems
	record.RUA, problems = texts("rua", rua)
	result, err := record.Record()
	finish(ctx, resp, []string{"rua"}, problems, result, err)
}
