package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newTXTValue returns the function txt_value.
func newTXTValue() function.Function { return txtValue{} }

type txtValue struct{}

// Metadata implements function.Function.
func (txtValue) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "txt_value"
}

// Definition implements function.Function.
func (txtValue) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Writes a text as the value of a TXT record in a zone file",
		MarkdownDescription: "Writes a text as the value of a TXT record in a zone file: quoted strings of at most 255 octets each, with a space in between and with quotes, backslashes and all but printable ASCII escaped ([RFC 1035](https://www.rfc-editor.org/rfc/rfc1035), section 5.1).\n\n" +
			"`mailhost_dns_record` takes a text of any length in either form; this is for DNS servers and providers that want the quotes.",
		Parameters: []function.Parameter{textParameter},
		Return:     function.StringReturn{},
	}
}

// Run implements function.Function.
func (txtValue) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	result, err := maildns.TXTValue(text)
	finish(ctx, resp, nil, nil, result, err)
}
