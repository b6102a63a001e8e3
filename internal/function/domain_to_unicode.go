package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// newDomainToUnicode returns the function domain_to_unicode.
func newDomainToUnicode() function.Function { return domainToUnicode{} }

type domainToUnicode struct{}

// Metadata implements function.Function.
func (domainToUnicode) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "domain_to_unicode"
}

// Definition implements function.Function.
func (domainToUnicode) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Writes a domain name as people read it",
		MarkdownDescription: "Checks a domain name and writes it as people read it: with the letters that its `xn--` labels stand for ([IDNA](https://www.rfc-editor.org/rfc/rfc5891)), in lower case, without a trailing dot. " +
			"It is for display; records and resources take either form.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "name", MarkdownDescription: "The name of a domain, host or record, such as `xn--bcher-kva.example` or `_dmarc.xn--bcher-kva.example`."},
		},
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (domainToUnicode) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var name string
	if resp.Error = req.Arguments.Get(ctx, &name); resp.Error != nil {
		return
	}
	ascii, err := domainname.NormalizeHost(name)
	finish(ctx, resp, nil, nil, domainname.Unicode(ascii), err)
}
