package function

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
	"github.com/mailhost/terraform-provider-mailhost/internal/zonefile"
)

var parseZone = providerFunction{
	name:    "parse_zone",
	summary: "Reads the records of a domain from a zone file",
	description: "Reads a zone file (RFC 1035) as `records` of a [`mailhost_dns_zone`](../resources/dns_zone.md): a map from name and type to `{ ttl, values }`. " +
		"It reads the files that BIND, cPanel, Cloudflare and `cli53` (Route 53) write: `$ORIGIN`, `$TTL`, `$GENERATE`, `@`, omitted names, parentheses and comments.\n\n" +
		"What the host of a zone makes itself is left out: the SOA and NS records of the domain, and the records of DNSSEC. A TTL below 60 or above 86400, such as the 1 with which Cloudflare writes *automatic*, becomes the nearest that is allowed, and records of one name and type get the lowest of theirs.\n\n" +
		"All else that can't be carried over is an error that names each record: a type that `mailhost_dns_record` does not have, an alias (`ALIAS`, `ANAME`, `AWS ALIAS`), a class other than IN, and a name outside the domain. Remove those lines from the file. A file without any record is an error too, because the zone would lose all of its records; write `records = {}` if that is your intention.",
	parameters: []function.Parameter{
		text("file", "The content of the file, such as `file(\"${path.module}/example.com.zone\")`."),
		text("domain", "The domain, such as `example.com`. It is the origin of the file until `$ORIGIN` names another."),
	},
	returns: function.MapReturn{ElementType: types.ObjectType{AttrTypes: map[string]attr.Type{
		"ttl": types.Int64Type, "values": types.ListType{ElemType: types.StringType},
	}}},
	run: func(get getArguments) (any, error) {
		var file, domain string
		get(&file, &domain)
		records, err := zonefile.Parse(file, domain)
		if errors.Is(err, zonefile.ErrDomain) {
			return nil, maildns.Problems{{Field: "domain", Element: -1, Text: strings.TrimPrefix(err.Error(), "domain: ")}}
		}
		return records, err
	},
}

type person struct {
	FirstName string `tfsdk:"first_name"`
	LastName  string `tfsdk:"last_name"`
}

var parseUsers = providerFunction{
	name:    "parse_users",
	summary: "Reads the users of a domain from a CSV file",
	description: "Reads a CSV file as `mailboxes` of a [`mailhost_mailbox_set`](../resources/mailbox_set.md): a map from the local part, in lower case, to `{ first_name, last_name }`. " +
		"In contrast to Terraform's `csvdecode`, it reads files of Excel (semicolons or tabs, a byte order mark) and these columns:\n\n" +
		"- the user export of Google Workspace: `Email Address [Required]`, `First Name [Required]`, `Last Name [Required]`\n" +
		"- those of Microsoft 365 and Entra: `User principal name`, `First name`, `Last name`, or only `Display name`\n" +
		"- your own: `address` (or `local_part`, with or without `domain`), `first_name` and `last_name`\n\n" +
		"Other columns are ignored, and so are rows of other domains, also invalid ones. A row that can't become a mailbox is an error that names its line: an invalid or repeated address, also in another case, or a name that is empty or too long. A row whose domain can't be read, for instance because its address has no `@`, is an error for every domain.",
	parameters: []function.Parameter{
		text("csv", "The content of the file, in UTF-8. Write `file(\"${path.module}/users.csv\")` here, not a local value or a variable: if a row is invalid, the CLI prints what the call refers to, and with it the whole file."),
		text("domain", "The domain whose users are returned, such as `example.com`. It must be known when Terraform plans, so that the plan shows each mailbox."),
	},
	returns: function.MapReturn{ElementType: types.ObjectType{AttrTypes: map[string]attr.Type{
		"first_name": types.StringType, "last_name": types.StringType,
	}}},
	run: func(get getArguments) (any, error) {
		var csv, domain string
		get(&csv, &domain)
		return usersOf(csv, domain)
	},
}

func usersOf(csv, domain string) (map[string]person, error) {
	normalized, err := domainname.Normalize(domain)
	if err != nil {
		return nil, maildns.Problems{{Field: "domain", Element: -1, Text: err.Error()}}
	}
	list, err := userlist.Parse(csv, userlist.Options{Domains: []string{normalized}})
	if err != nil {
		return nil, err
	}
	if len(list.Problems) > 0 {
		return nil, rowErrors(list.Problems)
	}
	if len(list.Users) == 0 && len(list.OtherDomains) > 0 {
		return nil, fmt.Errorf("the file has no user of %s; it has users of %s", domain, strings.Join(userlist.SortedDomains(list.OtherDomains), ", "))
	}
	people := make(map[string]person, len(list.Users))
	for _, u := range list.Users {
		people[u.Address.Local] = person{u.FirstName, u.LastName}
	}
	return people, nil
}

func rowErrors(problems []userlist.Problem) error {
	const most = 20
	lines := []string{"these rows can't become mailboxes; correct them in the file:"}
	for i, p := range problems {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(problems)-most))
			break
		}
		lines = append(lines, p.String())
	}
	return errors.New(strings.Join(lines, "\n"))
}
