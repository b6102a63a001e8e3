package function

import (
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/maildns"
	"github.com/mailhost/terraform-provider-mailhost/internal/zonefile"
)

// recordSet is an element of the result of parse_zone.
type recordSet struct {
	TTL    int64    `tfsdk:"ttl"`
	Values []string `tfsdk:"values"`
}

var parseZone = providerFunction{
	name: "parse_zone",
	definition: function.Definition{
		Summary: "Reads the records of a domain from a zone file",
		MarkdownDescription: "Reads a zone file (RFC 1035) as `records` of a [`mailhost_dns_zone`](../resources/dns_zone.md): a map from name and type to `{ ttl, values }`. " +
			"It reads the files that BIND, cPanel, Cloudflare and `cli53` (Route 53) write: `$ORIGIN`, `$TTL`, `$GENERATE`, `@`, omitted names, parentheses and comments.\n\n" +
			"What the host of a zone makes itself is left out: the SOA and NS records of the domain, and the records of DNSSEC. A TTL below 60 or above 86400, such as the 1 with which Cloudflare writes *automatic*, becomes the nearest that is allowed, and records of one name and type get the lowest of theirs.\n\n" +
			"All else that can't be carried over is an error that names each record: a type that `mailhost_dns_record` does not have, an alias (`ALIAS`, `ANAME`, `AWS ALIAS`), a class other than IN, and a name outside the domain. Remove those lines from the file.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "file", MarkdownDescription: "The content of the file, such as `file(\"${path.module}/example.com.zone\")`."},
			function.StringParameter{Name: "domain", MarkdownDescription: "The domain, such as `example.com`. It is the origin of the file until `$ORIGIN` names another."},
		},
		Return: function.MapReturn{ElementType: types.ObjectType{AttrTypes: map[string]attr.Type{
			"ttl": types.Int64Type, "values": types.ListType{ElemType: types.StringType},
		}}},
	},
	run: func(get getArguments) (any, error) {
		var file, domain string
		if err := get(&file, &domain); err != nil {
			return nil, err
		}
		sets, err := zonefile.Parse(file, domain)
		if errors.Is(err, zonefile.ErrDomain) {
			return nil, maildns.Problems{{Field: "domain", Element: -1, Text: strings.TrimPrefix(err.Error(), "domain: ")}}
		} else if err != nil {
			return nil, err
		}
		records := make(map[string]recordSet, len(sets))
		for key, set := range sets {
			records[key] = recordSet(set)
		}
		return records, nil
	},
}
