package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newMTASTSID returns the function mta_sts_id.
func newMTASTSID() function.Function { return mtastsID{} }

type mtastsID struct{}

// Metadata implements function.Function.
func (mtastsID) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "mta_sts_id"
}

// Definition implements function.Function.
func (mtastsID) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Derives the id of an MTA-STS record from the policy",
		MarkdownDescription: "Derives an id for `mta_sts_record` from the text of the policy, so that the record changes whenever the policy does, and only then. " +
			"It is the beginning of the text's SHA-256, in 32 hexadecimal digits. The text is checked to be a policy.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "policy",
				MarkdownDescription: "The policy as it is served, from `mta_sts_policy` or from a file.",
			},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (mtastsID) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var policy string
	if resp.Error = req.Arguments.Get(ctx, &policy); resp.Error != nil {
		return
	}
	result, err := maildns.MTASTSID(policy)
	finish(ctx, resp, []string{"policy"}, nil, result, err)
}
