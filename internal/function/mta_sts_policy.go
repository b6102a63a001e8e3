package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newMTASTSPolicy returns the function mta_sts_policy.
func newMTASTSPolicy() function.Function { return mtastsPolicy{} }

type mtastsPolicy struct{}

// Metadata implements function.Function.
func (mtastsPolicy) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "mta_sts_policy"
}

// Definition implements function.Function.
func (mtastsPolicy) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Builds an MTA-STS policy",
		MarkdownDescription: "Builds the MTA-STS policy of a domain ([RFC 8461](https://www.rfc-editor.org/rfc/rfc8461)). Serve it as `text/plain` at `https://mta-sts.<domain>/.well-known/mta-sts.txt`, and announce it by `mta_sts_record`. " +
			"Its lines end in CRLF, as the RFC has them.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "mode",
				MarkdownDescription: "What senders shall do when a mail host fails the policy: `enforce` (not deliver), `testing` (deliver and report, see `tls_rpt_record`), or `none` (the domain has no policy any more).",
			},
			function.ListParameter{
				Name: "mx", ElementType: types.StringType,
				MarkdownDescription: "The mail hosts: names such as `mail.example.com`, or with a wildcard for the first label, `*.example.net`. It must cover the domain's MX records. May be empty in the mode `none`.",
			},
			function.Int64Parameter{
				Name:                "max_age",
				MarkdownDescription: "How long senders may keep the policy, in seconds, 0 to 31557600 (a year). Weeks are usual: `1209600` are two.",
			},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (mtastsPolicy) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var policy maildns.MTASTSPolicy
	var mx []types.String
	if resp.Error = req.Arguments.Get(ctx, &policy.Mode, &mx, &policy.MaxAge); resp.Error != nil {
		return
	}
	var problems maildns.Problems
	policy.MX, problems = texts("mx", mx)
	result, err := policy.Text()
	finish(ctx, resp, []string{"mode", "mx", "max_age"}, problems, result, err)
}
