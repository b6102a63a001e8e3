package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// textParameter is the argument of the functions on TXT values.
var textParameter = function.StringParameter{
	Name:                "text",
	MarkdownDescription: "The text of any length, or quoted strings as in a zone file (`\"...\" \"...\"`), which are joined first. A text that begins with a quote itself must be given in quotes.",
}

// newTXTChunks returns the function txt_chunks.
func newTXTChunks() function.Function { return txtChunks{} }

type txtChunks struct{}

// Metadata implements function.Function.
func (txtChunks) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "txt_chunks"
}

// Definition implements function.Function.
func (txtChunks) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Splits a text into the strings of a TXT record",
		MarkdownDescription: "Splits a text into the strings of a TXT record, of at most 255 octets each ([RFC 1035](https://www.rfc-editor.org/rfc/rfc1035), section 3.3), as a list. A character of several octets stays whole. " +
			"Receivers of SPF and DKIM join them without a space in between, and so does `join(\"\", ...)`.\n\n" +
			"`mailhost_dns_record` takes a text of any length and needs no splitting; this is for DNS servers and providers that do.",
		Parameters: []function.Parameter{textParameter},
		Return:     function.ListReturn{ElementType: types.StringType},
	}
}

// Run implements function.Function.
func (txtChunks) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	result, err := maildns.TXTChunks(text)
	finish(ctx, resp, nil, nil, result, err)
}
