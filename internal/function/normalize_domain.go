package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// newNormalizeDomain returns the function normalize_domain.
func newNormalizeDomain() function.Function { return normalizeDomain{} }

type normalizeDomain struct{}

// Metadata implements function.Function.
func (normalizeDomain) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "normalize_domain"
}

// Definition implements function.Function.
func (normalizeDomain) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Writes a domain name in its one canonical form",
		MarkdownDescription: "Checks a domain name and writes it in the one form that the service compares names by: in ASCII ([IDNA](https://www.rfc-editor.org/rfc/rfc5891)), in lower case, without a trailing dot. " +
			"It makes keys for `for_each` out of names that people write in different ways. The way back for display is `domain_to_unicode`.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "name", MarkdownDescription: "The name of a domain or host, such as `Bücher.example.`: two labels at least, of letters, digits and hyphens."},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (normalizeDomain) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var name string
	if resp.Error = req.Arguments.Get(ctx, &name); resp.Error != nil {
		return
	}
	result, err := domainname.Normalize(name)
	finish(ctx, resp, nil, nil, result, err)
}
