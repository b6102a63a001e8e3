package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
)

// newDKIMRecord returns the function dkim_record.
func newDKIMRecord() function.Function { return dkimRecord{} }

type dkimRecord struct{}

// Metadata implements function.Function.
func (dkimRecord) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "dkim_record"
}

// Definition implements function.Function.
func (dkimRecord) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Builds a DKIM key record",
		MarkdownDescription: "Builds the record with the public key of a DKIM signer ([RFC 6376](https://www.rfc-editor.org/rfc/rfc6376), and [RFC 8463](https://www.rfc-editor.org/rfc/rfc8463) for Ed25519). Publish it as a TXT record of `<selector>._domainkey`.\n\n" +
			"The key is read, not copied: line breaks and PEM lines go, its type and size are checked, and it is written in the form that verifiers want. RSA keys have 1024 to 4096 bits, and should have 2048 ([RFC 8301](https://www.rfc-editor.org/rfc/rfc8301)). " +
			"A private key is refused, and no error shows anything of the key.\n\n" +
			"The record of an RSA key is longer than the 255 octets of one string; `mailhost_dns_record` takes it as it is, and for other providers see `txt_chunks` and `txt_value`.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name: "public_key",
				MarkdownDescription: "The public key: PEM (`-----BEGIN PUBLIC KEY-----` or `-----BEGIN RSA PUBLIC KEY-----`), such as `tls_private_key.dkim.public_key_pem`, or its base64 text without those lines. " +
					"A bare Ed25519 key of 32 octets in base64 is taken too; take care that it is not the private one, which looks the same.",
			},
		},
		VariadicParameter: optionsParameter("An object with the tags that are wanted; what is left out or null is not in the record:\n" +
			"   - `t`: flags, one or a list: `y` (the domain is testing DKIM), `s` (the identity of a signature must not be in a subdomain).\n" +
			"   - `s`: services that the key is for: `email`, or `*` for all, which is the default.\n" +
			"   - `h`: hash algorithms that signatures may use; there is only `sha256`.\n" +
			"   - `n`: a note for people.\n" +
			"   - `k`: type of the key, `rsa` or `ed25519`. It is known from the key and in every record; give it only for a revoked key.\n" +
			"   - `revoked`: `true` withdraws the key of the selector; `public_key` must be `\"\"` then."),
		Return: function.StringReturn{},
	}
}

// Run implements function.Function.
func (dkimRecord) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var record maildns.DKIM
	var given []types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &record.PublicKey, &given); resp.Error != nil {
		return
	}
	o := readOptions(given)
	record.T, record.S, record.H = o.words("t"), o.words("s"), o.words("h")
	record.N, record.K, record.Revoked = o.text("n"), o.text("k"), o.flag("revoked")
	result, err := record.Record()
	finish(ctx, resp, []string{"public_key"}, o.end(), result, err)
}
