package console

import (
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// mailCheck is the state of one kind of record that mail needs: ok, warning or missing.
type mailCheck struct {
	Name, State, Text string
	Records           []api.DNSRecord
}

// mailChecks returns the state of the mail records of a domain, as the account publishes
// them. It looks nothing up in the DNS.
func mailChecks(records []api.DNSRecord) []mailCheck {
	return []mailCheck{checkMX(records), checkSPF(records), checkDKIM(records), checkDMARC(records)}
}

// recordsLike returns the records of a type that match.
func recordsLike(records []api.DNSRecord, typ string, matches func(api.DNSRecord) bool) (found []api.DNSRecord) {
	for _, r := range records {
		if r.Type == typ && matches(r) {
			found = append(found, r)
		}
	}
	return found
}

// policies returns the TXT records at a name that begin with a version.
func policies(records []api.DNSRecord, name, version string) []api.DNSRecord {
	return recordsLike(records, "TXT", func(r api.DNSRecord) bool {
		text := textOf(r)
		return r.Name == name && len(text) >= len(version) && strings.EqualFold(text[:len(version)], version)
	})
}

func textOf(r api.DNSRecord) string {
	text, err := dnsdata.Text(r.Value)
	if err != nil {
		return r.Value
	}
	return text
}

func checkMX(records []api.DNSRecord) mailCheck {
	c := mailCheck{Name: "MX", State: "ok", Text: "Receives mail."}
	c.Records = recordsLike(records, "MX", func(r api.DNSRecord) bool { return r.Name == "@" })
	switch {
	case len(c.Records) == 0:
		c.State, c.Text = "missing", "Receives no mail, because no server is named for it."
	case c.Records[0].Value == ".": // RFC 7505
		c.State, c.Text = "warning", "Refuses all mail (null MX)."
	}
	return c
}

func checkSPF(records []api.DNSRecord) mailCheck {
	c := mailCheck{Name: "SPF", State: "ok", Text: "Names the servers that may send for the domain."}
	c.Records = policies(records, "@", "v=spf1")
	if len(c.Records) == 0 {
		c.State, c.Text = "missing", "Anybody may send in the domain’s name, because no servers are named."
		return c
	}
	terms := strings.Fields(strings.ToLower(textOf(c.Records[0])))
	switch last := terms[len(terms)-1]; {
	case last == "+all" || last == "all":
		c.State, c.Text = "warning", "Lets every server send for the domain ("+last+")."
	case last == "?all" || !strings.HasSuffix(last, "all") && !strings.HasPrefix(last, "redirect="):
		c.State, c.Text = "warning", "Says nothing about other servers; end it with ~all or -all."
	}
	return c
}

func checkDKIM(records []api.DNSRecord) mailCheck {
	const suffix = "._domainkey"
	c := mailCheck{Name: "DKIM", State: "ok", Text: "Publishes a key for signatures."}
	c.Records = recordsLike(records, "TXT", func(r api.DNSRecord) bool {
		_, key, signs := strings.Cut(strings.ReplaceAll(textOf(r), " ", ""), "p=")
		return strings.HasSuffix(r.Name, suffix) && signs && key != "" && !strings.HasPrefix(key, ";") // an empty key is revoked
	})
	c.Records = append(c.Records, recordsLike(records, "CNAME", func(r api.DNSRecord) bool { return strings.HasSuffix(r.Name, suffix) })...)
	if len(c.Records) == 0 {
		c.State, c.Text = "missing", "Publishes no key for signatures."
	}
	return c
}

func checkDMARC(records []api.DNSRecord) mailCheck {
	c := mailCheck{Name: "DMARC", Records: policies(records, "_dmarc", "v=DMARC1")}
	if len(c.Records) == 0 {
		c.State, c.Text = "missing", "Does not say what happens to forged mail."
		return c
	}
	policy := ""
	for tag := range strings.SplitSeq(textOf(c.Records[0]), ";") {
		if name, v, ok := strings.Cut(tag, "="); ok && strings.EqualFold(strings.TrimSpace(name), "p") {
			policy = strings.ToLower(strings.TrimSpace(v))
		}
	}
	switch policy {
	case "reject":
		c.State, c.Text = "ok", "Forged mail is rejected (p=reject)."
	case "quarantine":
		c.State, c.Text = "ok", "Forged mail goes to spam (p=quarantine)."
	default:
		c.State, c.Text = "warning", "Forged mail is delivered (p=none). Use quarantine or reject once the reports look right."
	}
	return c
}
