package function

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

var spfRecord = providerFunction{
	name:    "spf_record",
	summary: "Builds an SPF record",
	description: "Builds the SPF record of a domain ([RFC 7208](https://www.rfc-editor.org/rfc/rfc7208)), which lists the hosts that may send its mail. Publish it as the only SPF record of the name, of type TXT.\n\n" +
		"The function checks every term and reports all mistakes at once. It also refuses more than 10 terms that need a DNS lookup (`include`, `a`, `mx`, `exists`, `redirect`), because receivers give up there; terms that never match; " +
		"`ptr` and the macro `p`, which RFC 7208 advises against; and `+all`, which lets every host of the internet send for the domain. " +
		"It can't count the lookups of an included policy, which count too, so leave room for them.\n\n" +
		"The record has names in ASCII and lower case, and networks without the bits after their prefix. " +
		"Keep all TXT records of a name below 450 octets together, so that DNS responses fit a UDP packet: move networks into a record of their own and `include` it.",
	parameters: []function.Parameter{
		texts("terms", "The mechanisms in the order in which receivers try them, each with its qualifier if that is not `+`: `include:<domain>`, `a` and `mx` (with `:<domain>` for another domain, and `/24`, `//64` or `/24//64` for the networks of the hosts), "+
			"`ip4:<address or network>`, `ip6:<address or network>`, `exists:<domain>`. You can add an explanation, `exp=<domain>`. Domains can have macros such as `%{i}`; in HCL write them `%%{i}`. For a domain that sends no mail, set `[]`."),
		text("default", "The result for all other hosts: `-all` (not permitted), `~all` (probably not), `?all` (neutral), or `redirect=<domain>` for the policy of another domain. It ends the record, because receivers ignore later terms."),
	},
	run: func(get getArguments) (any, error) {
		var terms types.List
		var record maildns.SPF
		get(&terms, &record.Default)
		o := optionsOf("terms", terms)
		record.Terms = o.texts("terms")
		result, err := record.Record()
		return result, withArgumentProblems(o.problems, err)
	},
}

var dmarcRecord = providerFunction{
	name:    "dmarc_record",
	summary: "Builds a DMARC record",
	description: "Builds the DMARC record of a domain ([RFC 9989](https://www.rfc-editor.org/rfc/rfc9989)), which tells receivers how to treat mail that fails SPF and DKIM, and where to send reports. Publish it as a TXT record of `_dmarc`.\n\n" +
		"`v` and `p` come first, whatever the order of the options. The function checks every value, refuses unknown tags, and reports all mistakes at once.",
	parameters: []function.Parameter{
		text("policy", "How to treat mail of the domain that fails (`p`): `none`, `quarantine` or `reject`."),
	},
	options: optionsParameter("An object with optional tags. A tag that is missing or null is not in the record:\n" +
		"   - `sp`: the policy for subdomains, if it differs; `np`: the policy for subdomains that don't exist, best `reject`.\n" +
		"   - `rua`, `ruf`: addresses for aggregate and for failure reports, one or a list, such as `[\"dmarc@example.com\"]`. `mailto:` is added. An address in another domain works only if that domain agrees, with a TXT record `v=DMARC1` at `<your domain>._report._dmarc`.\n" +
		"   - `adkim`, `aspf`: how closely the names in DKIM and SPF must match the sender's: `r` (relaxed, the same organisation) or `s` (strict, the same name).\n" +
		"   - `t`: `y` while you only test the policy, with which receivers treat mail more leniently; default `n`.\n" +
		"   - `psd`: `y` if the domain is a public suffix, below which others register names, `n` if it is not; default `u`, unknown.\n" +
		"   - `fo`: the failures to report to `ruf`, one or a list: `0` (all checks failed), `1` (any check failed), `d` (DKIM failed), `s` (SPF failed). It has no effect without `ruf`.\n" +
		"   - **removed by RFC 9989**, so that receivers ignore them; accepted until version 1.0 of the provider: `pct` (the share of mail to which the policy applies; use `t`), `ri` (seconds between reports), `rf` (`afrf`), and a size after an address, as in `dmarc@example.com!10m`."),
	run: func(get getArguments) (any, error) {
		var policy string
		var arguments []types.Dynamic
		get(&policy, &arguments)
		o := readOptions(arguments)
		result, err := maildns.DMARC{
			P: policy, SP: o.text("sp"), NP: o.text("np"),
			RUA: o.texts("rua"), RUF: o.texts("ruf"),
			ADKIM: o.text("adkim"), ASPF: o.text("aspf"),
			T: o.text("t"), PSD: o.text("psd"),
			RI: o.number("ri"), FO: o.words("fo"), RF: o.words("rf"), Pct: o.number("pct"),
		}.Record()
		return result, withArgumentProblems(o.end(), err)
	},
}

var dkimRecord = providerFunction{
	name:    "dkim_record",
	summary: "Builds a DKIM key record",
	description: "Builds the record with the public key of a DKIM signer ([RFC 6376](https://www.rfc-editor.org/rfc/rfc6376), and [RFC 8463](https://www.rfc-editor.org/rfc/rfc8463) for Ed25519). Publish it as a TXT record of `<selector>._domainkey`.\n\n" +
		"The function parses the key, checks its type and size, and writes it in the form that verifiers expect, without line breaks and PEM lines. RSA keys must have 1024 to 4096 bits; use 2048 ([RFC 8301](https://www.rfc-editor.org/rfc/rfc8301)). " +
		"It refuses a private key, and no error contains any part of the key.\n\n" +
		"The record of an RSA key is longer than the 255 octets of one string. `mailhost_dns_record` accepts it as it is; for other providers use `txt_chunks` or `txt_value`.",
	parameters: []function.Parameter{
		text("public_key", "The public key: PEM (`-----BEGIN PUBLIC KEY-----` or `-----BEGIN RSA PUBLIC KEY-----`), such as `tls_private_key.dkim.public_key_pem`, or its base64 text without those lines. "+
			"A bare Ed25519 key of 32 octets in base64 works too; make sure that it is not the private key, which looks the same."),
	},
	options: optionsParameter("An object with optional tags. A tag that is missing or null is not in the record:\n" +
		"   - `t`: flags, one or a list: `y` (the domain is testing DKIM), `s` (the identity of a signature must not be in a subdomain).\n" +
		"   - `s`: services that the key is for: `email`, or `*` for all, which is the default.\n" +
		"   - `h`: hash algorithms that signatures may use; only `sha256` exists.\n" +
		"   - `n`: a note for people.\n" +
		"   - `k`: type of the key, `rsa` or `ed25519`. The function detects it and always writes it; set it only for a revoked key.\n" +
		"   - `revoked`: `true` revokes the key of the selector; `public_key` must then be `\"\"`."),
	run: func(get getArguments) (any, error) {
		var record maildns.DKIM
		var arguments []types.Dynamic
		get(&record.PublicKey, &arguments)
		o := readOptions(arguments)
		record.T, record.S, record.H = o.words("t"), o.words("s"), o.words("h")
		record.N, record.K, record.Revoked = o.text("n"), o.text("k"), o.flag("revoked")
		result, err := record.Record()
		return result, withArgumentProblems(o.end(), err)
	},
}

var mtastsRecord = providerFunction{
	name:    "mta_sts_record",
	summary: "Builds an MTA-STS record",
	description: "Builds the record that announces the MTA-STS policy of a domain ([RFC 8461](https://www.rfc-editor.org/rfc/rfc8461)): its mail hosts offer TLS, and senders have to use it. Publish it as a TXT record of `_mta-sts`. " +
		"The policy itself is a file on a web server; build it with `mta_sts_policy`.",
	parameters: []function.Parameter{
		text("id", "Identifies the version of the policy: 1 to 32 letters and digits. Change it whenever the policy changes, because senders fetch the policy only then. "+
			"`mta_sts_id` derives one from the policy."),
	},
	run: ofString(maildns.MTASTSRecord),
}

var mtastsPolicy = providerFunction{
	name:    "mta_sts_policy",
	summary: "Builds an MTA-STS policy",
	description: "Builds the MTA-STS policy of a domain ([RFC 8461](https://www.rfc-editor.org/rfc/rfc8461)). Serve it as `text/plain` at `https://mta-sts.<domain>/.well-known/mta-sts.txt`, and announce it with `mta_sts_record`. " +
		"Its lines end in CRLF, as the RFC requires.",
	parameters: []function.Parameter{
		text("mode", "What senders do if a mail host fails the policy: `enforce` (don't deliver), `testing` (deliver and report, see `tls_rpt_record`), or `none` (the domain no longer has a policy)."),
		texts("mx", "The mail hosts: names such as `mail.example.com`, or with a wildcard as the first label, `*.example.net`. They must cover the domain's MX records. The list can be empty in the mode `none`."),
		function.Int64Parameter{
			Name:                "max_age",
			MarkdownDescription: "How long senders may cache the policy, in seconds, 0 to 31557600 (a year). Weeks are usual: `1209600` is two weeks.",
		},
	},
	run: func(get getArguments) (any, error) {
		var policy maildns.MTASTSPolicy
		var mx types.List
		get(&policy.Mode, &mx, &policy.MaxAge)
		o := optionsOf("mx", mx)
		policy.MX = o.texts("mx")
		result, err := policy.Text()
		return result, withArgumentProblems(o.problems, err)
	},
}

var mtastsID = providerFunction{
	name:    "mta_sts_id",
	summary: "Derives the id of an MTA-STS record from the policy",
	description: "Derives an id for `mta_sts_record` from the text of the policy, so that the record changes exactly when the policy does. " +
		"The id is the beginning of the text's SHA-256, in 32 hexadecimal digits. The function checks that the text is a policy.",
	parameters: []function.Parameter{
		text("policy", "The policy as it is served, from `mta_sts_policy` or from a file."),
	},
	run: ofString(maildns.MTASTSID),
}

var tlsrptRecord = providerFunction{
	name:    "tls_rpt_record",
	summary: "Builds a TLS-RPT record",
	description: "Builds the record that asks senders to report on TLS connections to a domain's mail hosts ([RFC 8460](https://www.rfc-editor.org/rfc/rfc8460)). The reports show whether an MTA-STS policy or DANE stops mail. " +
		"Publish it as a TXT record of `_smtp._tls`.",
	parameters: []function.Parameter{
		texts("rua", "At least one recipient of reports: addresses such as `tls@example.com`, to which `mailto:` is added, and `https` URLs."),
	},
	run: func(get getArguments) (any, error) {
		var rua types.List
		get(&rua)
		o := optionsOf("rua", rua)
		result, err := maildns.TLSRPTRecord(o.texts("rua"))
		return result, withArgumentProblems(o.problems, err)
	},
}

var textParameter = text("text", "A text of any length, or quoted strings as in a zone file (`\"...\" \"...\"`), which are joined first. Quote a text that itself begins with a quote.")

var txtChunks = providerFunction{
	name:    "txt_chunks",
	summary: "Splits a text into the strings of a TXT record",
	description: "Splits a text into the strings of a TXT record, of at most 255 octets each ([RFC 1035](https://www.rfc-editor.org/rfc/rfc1035), section 3.3), and returns them as a list. It never splits a character of several octets. " +
		"Receivers of SPF and DKIM join the strings without a space, like `join(\"\", ...)`.\n\n" +
		"Use it for DNS servers and providers that require split texts. `mailhost_dns_record` accepts a text of any length.",
	parameters: []function.Parameter{textParameter},
	returns:    function.ListReturn{ElementType: types.StringType},
	run: ofString(func(text string) ([]string, error) {
		text, err := dnsdata.Text(text)
		if err != nil {
			return nil, err
		}
		return dnsdata.Chunks(text), nil
	}),
}

var txtValue = providerFunction{
	name:    "txt_value",
	summary: "Writes a text as the value of a TXT record in a zone file",
	description: "Writes a text as the value of a TXT record in a zone file: quoted strings of at most 255 octets each, separated by a space, with quotes, backslashes and everything but printable ASCII escaped ([RFC 1035](https://www.rfc-editor.org/rfc/rfc1035), section 5.1).\n\n" +
		"Use it for DNS servers and providers that require the quotes. `mailhost_dns_record` accepts a text of any length in either form.",
	parameters: []function.Parameter{textParameter},
	run: ofString(func(text string) (string, error) {
		text, err := dnsdata.Text(text)
		if err != nil {
			return "", err
		}
		return dnsdata.Quote(text), nil
	}),
}

var normalizeDomain = providerFunction{
	name:    "normalize_domain",
	summary: "Converts a domain name to its canonical form",
	description: "Checks a domain name and converts it to the form in which the service compares names: ASCII ([IDNA](https://www.rfc-editor.org/rfc/rfc5891)), lower case, without a trailing dot. " +
		"Use it for the keys of a `for_each` over names that people write in different ways. To convert a name back for display, use `domain_to_unicode`.",
	parameters: []function.Parameter{
		text("name", "The name of a domain or host, such as `Bücher.example.`: at least two labels of letters, digits and hyphens."),
	},
	run: ofString(domainname.Normalize),
}

var domainToUnicode = providerFunction{
	name:    "domain_to_unicode",
	summary: "Converts a domain name to Unicode",
	description: "Checks a domain name and converts it to the form that people read: `xn--` labels in Unicode ([IDNA](https://www.rfc-editor.org/rfc/rfc5891)), lower case, without a trailing dot. " +
		"Use it for display. Records and resources accept both forms.",
	parameters: []function.Parameter{
		text("name", "The name of a domain, host or record, such as `xn--bcher-kva.example` or `_dmarc.xn--bcher-kva.example`."),
	},
	run: ofString(func(name string) (string, error) {
		ascii, err := domainname.NormalizeHost(name)
		return domainname.Unicode(ascii), err
	}),
}

type addressParts struct {
	LocalPart     string `tfsdk:"local_part"`
	Domain        string `tfsdk:"domain"`
	DomainUnicode string `tfsdk:"domain_unicode"`
	Address       string `tfsdk:"address"`
}

var parseAddress = providerFunction{
	name:    "parse_address",
	summary: "Splits an email address into its parts",
	description: "Checks an email address and splits it into its parts, in the canonical form in which the service compares addresses. The result is an object of strings:\n\n" +
		"- `local_part`: the part before the `@`, in lower case.\n" +
		"- `domain`: the part after the `@`, in ASCII and lower case.\n" +
		"- `domain_unicode`: the domain in Unicode, for display.\n" +
		"- `address`: `local_part@domain`.\n\n" +
		"Only addresses that a mailbox can have are valid: no display name, no quotes, at most 64 characters before the `@` ([RFC 5321](https://www.rfc-editor.org/rfc/rfc5321)).",
	parameters: []function.Parameter{
		text("address", "The address, such as `Jane.Doe@Bücher.example`."),
	},
	returns: function.ObjectReturn{AttributeTypes: map[string]attr.Type{
		"local_part": types.StringType, "domain": types.StringType, "domain_unicode": types.StringType, "address": types.StringType,
	}},
	run: ofString(func(address string) (addressParts, error) {
		a, err := emailaddr.Parse(address)
		return addressParts{
			LocalPart: a.Local, Domain: a.Domain, DomainUnicode: domainname.Unicode(a.Domain), Address: a.String(),
		}, err
	}),
}
