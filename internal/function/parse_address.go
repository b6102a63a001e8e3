package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// newParseAddress returns the function parse_address.
func newParseAddress() function.Function { return parseAddress{} }

type parseAddress struct{}

// addressParts is what parse_address returns.
type addressParts struct {
	LocalPart     string `tfsdk:"local_part"`
	Domain        string `tfsdk:"domain"`
	DomainUnicode string `tfsdk:"domain_unicode"`
	Address       string `tfsdk:"address"`
}

// Metadata implements function.Function.
func (parseAddress) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "parse_address"
}

// Definition implements function.Function.
func (parseAddress) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Takes an email address apart",
		MarkdownDescription: "Checks an email address and takes it apart, in the one spelling that the service compares addresses by. The result is an object of strings:\n\n" +
			"- `local_part`: what is before the `@`, in lower case.\n" +
			"- `domain`: what is after it, in ASCII and lower case.\n" +
			"- `domain_unicode`: the domain as people write it.\n" +
			"- `address`: `local_part@domain`.\n\n" +
			"An address is one that a mailbox can have: no display name, no quotes, at most 64 characters before the `@` ([RFC 5321](https://www.rfc-editor.org/rfc/rfc5321)).",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "address", MarkdownDescription: "The address, such as `Jane.Doe@Bücher.example`."},
		},
		Return: function.ObjectReturn{AttributeTypes: map[string]attr.Type{
			"local_part": types.StringType, "domain": types.StringType, "domain_unicode": types.StringType, "address": types.StringType,
		}},
	}
}

// Run implements function.Function.
func (parseAddress) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var given string
	if resp.Error = req.Arguments.Get(ctx, &given); resp.Error != nil {
		return
	}
	a, err := emailaddr.Parse(given)
	finish(ctx, resp, nil, nil, addressParts{
		LocalPart: a.Local, Domain: a.Domain, DomainUnicode: domainname.Unicode(a.Domain), Address: a.String(),
	}, err)
}
