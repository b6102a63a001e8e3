package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newMTASTSRecord returns the function mta_sts_record.
func newMTASTSRecord() function.Function { return mtastsRecord{} }

type mtastsRecord struct{}

// Metadata implements function.Function.
func (mtastsRecord) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "mta_sts_record"
}

// Definition implements function.Function.
func (mtastsRecord) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Builds an MTA-STS record",
		MarkdownDescription: "Builds the record that announces the MTA-STS policy of a domain ([RFC 8461](https://www.rfc-editor.org/rfc/rfc8461)): that its mail hosts speak TLS, and that senders shall insist on it. Publish it as a TXT record of `_mta-sts`. " +
			"The policy itself is a file on a web server, see `mta_sts_policy`.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name: "id",
				MarkdownDescription: "Tells the versions of the policy apart: 1 to 32 letters and digits, another one whenever the policy changes, as senders look at the policy only then. " +
					"`mta_sts_id` makes one out of the policy.",
			},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (mtastsRecord) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var record maildns.MTASTS
	if resp.Error = req.Arguments.Get(ctx, &record.ID); resp.Error != nil {
		return
	}
	result, err := record.Record()
	finish(ctx, resp, []string{"id"}, nil, result, err)
}
