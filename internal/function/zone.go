package function

import (
	"errors"
	"fmt"
	"slices"
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
		"It reads the files that BIND, Windows, cPanel, Cloudflare, GoDaddy and `cli53` (Route 53) write: `$ORIGIN`, `$TTL`, `$GENERATE`, `@`, omitted names, parentheses and comments, and Unicode in names.\n\n" +
		"What the host of a zone makes itself is left out: the SOA and NS records of the domain, and the records that DNSSEC's signing makes. A TTL below 60 or above 86400, such as the 1 with which Cloudflare writes *automatic*, becomes the nearest that is allowed, and records of one name and type get the lowest of theirs. Without `$TTL` and a TTL of the SOA record, its last field is the default, as BIND and Windows read it. The strings of a TXT record are joined without a blank, as mail software does (RFC 7208, section 3.3).\n\n" +
		"All else that can't be carried over is an error that names each record with its line. Correct or remove these lines:\n\n" +
		"- a type that `mailhost_dns_record` does not have, such as `HTTPS`, `PTR` or `DS`, and types of a host, such as `ALIAS`, `URL301` or `LUA`; a class other than IN\n" +
		"- an invalid value, such as `Parked` in place of an address, and a CNAME of the domain itself, which a host replaces by addresses\n" +
		"- a name outside the domain, the SOA record of another domain, and a name or target that contains the domain but lacks its final dot, such as `MX 10 mail.example.com`\n" +
		"- a record whose comment contains a routing, as `cli53` writes it (`routing=\"FAILOVER\"`) or as `SetIdentifier: eu`, or says that it is disabled (`disabled:true`, `status=inactive`). The comment contains such a key with its value, or only the word `disabled`; sentences are not read\n" +
		"- an octal escape in a name, as Route 53 writes `\\052` for `*`\n" +
		"- `$INCLUDE`, and lines that are no record\n\n" +
		"A file without any record is an error too, because the zone would lose all of its records; write `records = {}` if that is your intention.\n\n" +
		"~> **Targets without a final dot** belong to the domain, as in every zone file (RFC 1035, section 5.1): `MX 10 mx1.example.net` means `mx1.example.net.example.com`. Look in the plan for targets that end in your domain but should not, and add their dots in the file.\n\n" +
		"~> **Records that Cloudflare proxies** (`cf-proxied:true`) are carried over with the address that the file contains. Cloudflare has hidden that address and filtered the traffic to it; now everyone sees it.",
	parameters: []function.Parameter{
		text("file", "The content of the file, such as `file(\"${path.module}/example.com.zone\")`. Terraform's `file` reads UTF-8 only: write `textdecodebase64(filebase64(\"${path.module}/example.com.zone\"), \"UTF-16LE\")` for a file of PowerShell's `>`, and `\"ISO-8859-1\"` for one in Latin-1."),
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
		"In contrast to Terraform's `csvdecode`, it reads files of Excel (semicolons or tabs, a byte order mark), rows above the header, and these columns, also with the headers of other languages:\n\n" +
		"- the user exports of Google Workspace and GAM: `Email Address [Required]`, `First Name [Required]`, `Last Name [Required]`; `primaryEmail`, `name.givenName`, `name.familyName`\n" +
		"- those of Microsoft 365, Entra and Exchange: `mail` or `PrimarySmtpAddress`, `Proxy addresses`, `User principal name`, `First name`, `Last name`, or only `Display name`\n" +
		"- your own: `address` (or `local_part`, with or without `domain`), `first_name` and `last_name`\n\n" +
		"**The mailbox is the mail address,** else the primary one of the proxy addresses (`SMTP:`), else the only one in a list without `SMTP:`, else the name with which the person signs in: the first that the row contains. A list that contains no readable address, such as `System.Collections.ArrayList`, is an error. `mailhostd import FILE --dry-run` lists the people whose two differ, and columns with other mail addresses that are not understood.\n\n" +
		"Other columns are ignored, and so are rows of other domains, also invalid ones, and recipients of Exchange that are no mailboxes, such as contacts and groups. " +
		"With the option `other_domains` a row of a domain that is in neither argument is an error, so that nobody is lost by a misspelled domain. " +
		"A status is not read: people who are suspended at the old host become mailboxes, too.\n\n" +
		"A row that can't become a mailbox is an error that names its line: an invalid or repeated address, also in another case, or a name that is empty or too long. A row whose domain can't be read, for instance because its address has no `@`, is an error for every domain.",
	parameters: []function.Parameter{
		text("csv", "The content of the file, in UTF-8. Write `file(\"${path.module}/users.csv\")` here, not a local value or a variable: if a row is invalid, the CLI prints what the call refers to, and with it the whole file."),
		text("domain", "The domain whose users are returned, such as `example.com`. It must be known when Terraform plans, so that the plan shows each mailbox."),
	},
	options: optionsParameter("An object with these attributes, all optional, such as `{ first_name = \"Rufname\", other_domains = [] }`: " +
		"the fields of `mailhostd import --column`, each with the header of the column in your file (" + fieldNames() + "), " +
		"and `other_domains`, a list of the other domains that the file may contain."),
	returns: function.MapReturn{ElementType: types.ObjectType{AttrTypes: map[string]attr.Type{
		"first_name": types.StringType, "last_name": types.StringType,
	}}},
	run: func(get getArguments) (any, error) {
		var csv, domain string
		var arguments []types.Dynamic
		get(&csv, &domain, &arguments)
		return usersOf(csv, domain, readOptions(arguments))
	},
}

func fieldNames() string {
	names := make([]string, len(userlist.Fields))
	for i, field := range userlist.Fields {
		names[i] = "`" + string(field) + "`"
	}
	return strings.Join(names, ", ")
}

func usersOf(csv, domain string, o *options) (map[string]person, error) {
	normalized, err := domainname.Normalize(domain)
	if err != nil {
		return nil, maildns.Problems{{Field: "domain", Element: -1, Text: err.Error()}}
	}
	columns := map[userlist.Field]string{}
	for _, field := range userlist.Fields {
		columns[field] = o.text(string(field))
	}
	others := o.domains("other_domains")
	if problems := o.end(); len(problems) > 0 {
		return nil, problems
	}
	list, err := userlist.Parse(csv, userlist.Options{Domains: []string{normalized}, Columns: columns})
	if missing, ok := errors.AsType[*userlist.MissingColumnError](err); ok {
		return nil, fmt.Errorf("%w; name it in a third argument: { %s = \"…\" }", err, missing.Fields[0])
	} else if err != nil {
		return nil, err
	}
	if len(list.Problems) > 0 {
		return nil, rowErrors("these rows can't become mailboxes; correct them in the file:", list.Problems)
	}
	if others != nil {
		var strangers []userlist.Problem
		for _, r := range list.Rejected {
			if r.Cause == userlist.OtherDomain && !slices.Contains(others, r.Domain) {
				text := "is in another domain"
				if list.SimilarDomains[r.Domain] != "" {
					text += ", probably a misspelled one"
				}
				strangers = append(strangers, userlist.Problem{Place: r.Place, Address: r.Address, Text: text})
			}
		}
		if strangers != nil {
			return nil, rowErrors("these rows are in domains that are neither "+normalized+" nor in other_domains; correct them in the file, or add their domains to other_domains:", strangers)
		}
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

func rowErrors(summary string, problems []userlist.Problem) error {
	const most = 20
	lines := []string{summary}
	for i, p := range problems {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(problems)-most))
			break
		}
		lines = append(lines, p.String())
	}
	return errors.New(strings.Join(lines, "\n"))
}
