package commands

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
)

// checkCommand runs the checks of package mailcheck against the DNS.
type checkCommand struct {
	Domain   string   `arg:"" help:"Domain, such as example.com."`
	Resolver string   `variable:"-" placeholder:"ADDRESS" help:"Recursive resolver to ask, such as 192.0.2.53 or 127.0.0.1:5353, or a name server of the domain, to check its zone before you switch to it. Default: the first of /etc/resolv.conf."`
	Selector []string `variable:"-" placeholder:"NAME" default:"mailhost" help:"Selector of a DKIM key; repeat it for several. Default: ${default}, the service's own."`

	cli.OutputFlags
}

func (checkCommand) Help() string {
	return "Looks up what the domain publishes for its mail, as receivers see it: MX, SPF with all its lookups, DKIM, DMARC, MTA-STS, TLS-RPT, and what large receivers demand. " +
		"For a subdomain without a DMARC record, the one of its organization applies. No account is needed. The exit code is 1 if a check fails, or if every check is skipped because the resolver does not answer; warnings don't count. The function check_mail_dns makes the same checks on a configuration."
}

func (c checkCommand) Run(ctx context.Context, p cli.Program) error {
	domain, err := domainname.Normalize(c.Domain)
	if err != nil {
		return cli.UsageError("%.100q is no domain: %w", c.Domain, err)
	}
	for i, s := range c.Selector {
		if c.Selector[i], err = domainname.NormalizeLabels(s); err != nil {
			return cli.UsageError("--selector: %.100q is no selector, such as s1: %w", s, err)
		}
	}
	r, err := newResolver(c.Resolver, domain)
	if err != nil {
		return cli.UsageError("--resolver: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	results := mailcheck.Check(ctx, domain, c.Selector, r)
	rows, failed, skipped := [][]string{{"CHECK", "STATUS", "MESSAGE"}}, 0, 0
	for _, found := range results {
		rows = append(rows, []string{found.Check, found.Status, found.Message + " (" + found.Reference + ")"})
		switch found.Status {
		case mailcheck.Failed:
			failed++
		case mailcheck.Skipped:
			skipped++
		}
	}
	if err := c.PrintTable(p, results, "", rows); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%s of %s failed", cli.Counted(failed, "check"), domain)
	case skipped == len(results):
		return fmt.Errorf("every check of %s was skipped; set --resolver to a resolver that knows the domain", domain)
	}
	return nil
}

const (
	queryTimeout = 5 * time.Second
	checkTimeout = 2 * time.Minute // a record can name thousands of hosts
	resolvConf   = "/etc/resolv.conf"
)

// resolver is a recursive resolver, or a name server of the checked domain.
type resolver struct {
	address string
	domain  string
}

// newResolver returns the resolver at an address, or by default the system's.
func newResolver(address, domain string) (resolver, error) {
	if address == "" {
		config, err := dns.ClientConfigFromFile(resolvConf)
		if err != nil || len(config.Servers) == 0 {
			return resolver{}, fmt.Errorf("%s names no resolver; set one", resolvConf)
		}
		address = net.JoinHostPort(config.Servers[0], config.Port)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(address, "["), "]"), "53"
	}
	_, noAddress := netip.ParseAddr(host)
	_, noName := domainname.Normalize("host." + host) // a host name may be a single label
	n, err := strconv.ParseUint(port, 10, 16)
	if noAddress != nil && noName != nil || err != nil || n == 0 {
		return resolver{}, fmt.Errorf("%.100q must be an address or host name, with or without a port from 1 to 65535, such as 192.0.2.53 or 127.0.0.1:5353", address)
	}
	return resolver{net.JoinHostPort(host, port), domain}, nil
}

// Lookup implements [mailcheck.Resolver]. A name server of the domain also serves as a resolver: the
// names that it refers elsewhere are unknown.
func (r resolver) Lookup(ctx context.Context, name, recordType string) ([]string, error) {
	for range mailcheck.MaxAliases {
		reply, err := r.exchange(ctx, name, recordType)
		if err != nil {
			return nil, err
		}
		var values []string
		alias := ""
		for _, rr := range reply.Answer {
			value, ok := valueOf(rr)
			switch {
			case dns.TypeToString[rr.Header().Rrtype] != recordType:
				if rr, ok := rr.(*dns.CNAME); ok {
					alias = rr.Target
				}
			case ok && !slices.Contains(values, value):
				values = append(values, value)
			}
		}
		switch {
		case len(values) > 0 || reply.RecursionAvailable:
			return values, nil
		case alias == "" && isReferral(reply):
			return nil, mailcheck.ErrUnknown
		case alias == "":
			return nil, nil
		}
		name = alias
	}
	return nil, nil
}

// Exists implements [mailcheck.Existence]. An alias exists, also one of a name that does not.
func (r resolver) Exists(ctx context.Context, name string) bool {
	reply, err := r.exchange(ctx, name, dnsdata.TypeA)
	return err != nil || reply.Rcode != dns.RcodeNameError || len(reply.Answer) > 0
}

// isReferral reports whether a response without records refers to other name servers (RFC 2308,
// section 2.2).
func isReferral(reply *dns.Msg) bool {
	isType := func(t uint16) func(dns.RR) bool { return func(rr dns.RR) bool { return rr.Header().Rrtype == t } }
	return slices.ContainsFunc(reply.Ns, isType(dns.TypeNS)) && !slices.ContainsFunc(reply.Ns, isType(dns.TypeSOA))
}

// exchange sends a query by UDP, and repeats it by TCP if the response was truncated.
func (r resolver) exchange(ctx context.Context, name, recordType string) (*dns.Msg, error) {
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), dns.StringToType[recordType])
	question.SetEdns0(dns.DefaultMsgSize, false)
	client := dns.Client{Timeout: queryTimeout}
	reply, _, err := client.ExchangeContext(ctx, question, r.address)
	if err == nil && reply.Rcode == dns.RcodeFormatError { // an old server without EDNS (RFC 6891, section 7)
		question.Extra = nil
		reply, _, err = client.ExchangeContext(ctx, question, r.address)
	}
	if err == nil && reply.Truncated {
		client.Net = "tcp"
		reply, _, err = client.ExchangeContext(ctx, question, r.address)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the resolver %s does not answer: %w", r.address, cmp.Or(ctx.Err(), err))
	case reply.Rcode == dns.RcodeRefused && !reply.RecursionAvailable && !dns.IsSubDomain(r.domain, name):
		return nil, mailcheck.ErrUnknown // a name server of the domain refuses other names
	case reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
		return nil, fmt.Errorf("the resolver %s answers %s", r.address, dns.RcodeToString[reply.Rcode])
	}
	return reply, nil
}

// valueOf returns the value of a record in the form of [mailcheck.Resolver].
func valueOf(rr dns.RR) (string, bool) {
	data := strings.TrimPrefix(rr.String(), rr.Header().String())
	switch rr.(type) {
	case *dns.TXT:
		text, err := dnsdata.Unquote(data)
		return text, err == nil
	case *dns.MX, *dns.CNAME:
		if data == "." || strings.HasSuffix(data, " .") {
			return data, true
		}
		return strings.ToLower(strings.TrimSuffix(data, ".")), true
	}
	return data, true
}
