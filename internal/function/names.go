package function

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

var normalizeDomain = providerFunction{
	name: "normalize_domain",
	definition: function.Definition{
		Summary: "Converts a domain name to its canonical form",
		MarkdownDescription: "Checks a domain name and converts it to the form in which the service compares names: ASCII ([IDNA](https://www.rfc-editor.org/rfc/rfc5891)), lower case, without a trailing dot. " +
			"Use it for the keys of a `for_each` over names that people write in different ways. To convert a name back for display, use `domain_to_unicode`.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "name", MarkdownDescription: "The name of a domain or host, such as `Bücher.example.`: at least two labels of letters, digits and hyphens."},
		},
		Return: function.StringReturn{},
	},
	run: ofString(domainname.Normalize),
}

var domainToUnicode = providerFunction{
	name: "domain_to_unicode",
	definition: function.Definition{
		Summary: "Converts a domain name to Unicode",
		MarkdownDescription: "Checks a domain name and converts it to the form that people read: `xn--` labels in Unicode ([IDNA](https://www.rfc-editor.org/rfc/rfc5891)), lower case, without a trailing dot. " +
			"Use it for display. Records and resources accept both forms.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "name", MarkdownDescription: "The name of a domain, host or record, such as `xn--bcher-kva.example` or `_dmarc.xn--bcher-kva.example`."},
		},
		Return: function.StringReturn{},
	},
	run: ofString(func(name string) (string, error) {
		ascii, err := domainname.NormalizeHost(name)
		return domainname.Unicode(ascii), err
	}),
}

// addressParts is the result of parse_address.
type addressParts struct {
	LocalPart     string `tfsdk:"local_part"`
	Domain        string `tfsdk:"domain"`
	DomainUnicode string `tfsdk:"domain_unicode"`
	Address       string `tfsdk:"address"`
}

var parseAddress = providerFunction{
	name: "parse_address",
	definition: function.Definition{
		Summary: "Splits an email address into its parts",
		MarkdownDescription: "Checks an email address and splits it into its parts, in the canonical form in which the service compares addresses. The result is an object of strings:\n\n" +
			"- `local_part`: the part before the `@`, in lower case.\n" +
			"- `domain`: the part after the `@`, in ASCII and lower case.\n" +
			"- `domain_unicode`: the domain in Unicode, for display.\n" +
			"- `address`: `local_part@domain`.\n\n" +
			"Only addresses that a mailbox can have are valid: no display name, no quotes, at most 64 characters before the `@` ([RFC 5321](https://www.rfc-editor.org/rfc/rfc5321)).",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "address", MarkdownDescription: "The address, such as `Jane.Doe@Bücher.example`."},
		},
		Return: function.ObjectReturn{AttributeTypes: map[string]attr.Type{
			"local_part": types.StringType, "domain": types.StringType, "domain_unicode": types.StringType, "address": types.StringType,
		}},
	},
	run: ofString(func(address string) (addressParts, error) {
		a, err := emailaddr.Parse(address)
		return addressParts{
			LocalPart: a.Local, Domain: a.Domain, DomainUnicode: domainname.Unicode(a.Domain), Address: a.String(),
		}, err
	}),
}
