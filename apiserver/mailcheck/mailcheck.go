// Package mailcheck checks the mail records that a domain publishes in the DNS, in its zone or with
// a resolver.
//
// Stability: none. The package is exported for other packages of this repository only.
package mailcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// The statuses of a check.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
	// Skipped means that the records are unknown.
	Skipped = "skipped"
)

// Result is the result of one check.
type Result struct {
	// Check is mx, spf, dkim, dmarc, mta_sts, tls_rpt, apex or bulk_senders.
	Check string `json:"check"`
	// Status is ok, warning, failed or skipped.
	Status string `json:"status"`
	// Message describes the finding and the remedy.
	Message string `json:"message"`
	// Reference is the RFC or page that demands the check.
	Reference string `json:"reference"`
}

// ErrUnknown is returned for a name unknown to the resolver.
var ErrUnknown = errors.New("it can't be seen from here")

// Resolver looks up names. Package dnsdata defines the types.
type Resolver interface {
	// Lookup returns the values of a name's records: a TXT value as its text, an MX value after its
	// priority, host names without the trailing dot. It follows aliases unless recordType is CNAME.
	// A name without records is no error. The error is [ErrUnknown] for a name that the resolver is not
	// responsible for, and any other if the lookup failed.
	Lookup(ctx context.Context, name, recordType string) ([]string, error)
}

// Existence is implemented by resolvers that distinguish names without records from names that do
// not exist (RFC 8020).
type Existence interface {
	// Exists reports whether a name exists, or may.
	Exists(ctx context.Context, name string) bool
}

// Check runs all checks on a domain in ASCII. selectors are the selectors of its DKIM keys.
func Check(ctx context.Context, domain string, selectors []string, r Resolver) []Result {
	c := &checker{ctx, domain, r}
	mx, acceptsMail := c.mx()
	spf, senders := c.spf()
	if senders == unknown && acceptsMail {
		senders = somebody
	}
	dkim, dmarc := c.dkim(selectors, senders), c.dmarc(senders)
	return []Result{mx, spf, dkim, dmarc, c.mtaSTS(acceptsMail), c.tlsRPT(acceptsMail), c.apex(), bulkSenders(senders, spf, dkim, dmarc)}
}

type checker struct {
	ctx      context.Context
	domain   string
	resolver Resolver
}

func (c *checker) lookup(name, recordType string) ([]string, error) {
	return c.resolver.Lookup(c.ctx, name, recordType)
}

// finding collects the problems found by a check.
type finding struct {
	Result
	failed, warnings []string
}

func begin(check, reference string) *finding {
	return &finding{Result: Result{Check: check, Reference: reference}}
}

func (f *finding) fail(format string, args ...any) {
	f.failed = appendNew(f.failed, fmt.Sprintf(format, args...))
}

func (f *finding) warn(format string, args ...any) {
	f.warnings = appendNew(f.warnings, fmt.Sprintf(format, args...))
}

// appendNew appends a message unless the list contains it.
func appendNew(messages []string, message string) []string {
	if slices.Contains(messages, message) {
		return messages
	}
	return append(messages, message)
}

// end returns the result. fine is the message if there is no problem.
func (f *finding) end(fine string) Result {
	switch all := append(f.failed, f.warnings...); {
	case f.Status == Skipped:
	case len(f.failed) > 0:
		f.Status, f.Message = Failed, strings.Join(all, "; ")
	case len(all) > 0:
		f.Status, f.Message = Warning, strings.Join(all, "; ")
	default:
		f.Status, f.Message = OK, fine
	}
	return f.Result
}

// unseen returns the result of a check after a failed lookup.
func (f *finding) unseen(name string, err error) Result {
	f.Status, f.Message = Skipped, fmt.Sprintf("%s: %s", name, err)
	return f.Result
}

// unresolved warns of a lookup that failed. It ignores names unknown to the resolver.
func (f *finding) unresolved(name string, err error) {
	if err != nil && !errors.Is(err, ErrUnknown) {
		f.warn("%s can't be looked up: %s", name, err)
	}
}

// mx checks the hosts that receive mail. acceptsMail is false for a null MX.
func (c *checker) mx() (r Result, acceptsMail bool) {
	f := begin("mx", "RFC 5321, section 5.1")
	values, err := c.lookup(c.domain, dnsdata.TypeMX)
	if err != nil {
		return f.unseen(c.domain, err), true
	}
	values = slices.SortedFunc(slices.Values(values), func(a, b string) int { // name servers rotate them
		return cmp.Or(cmp.Compare(preference(a), preference(b)), cmp.Compare(a, b))
	})
	if len(values) == 0 {
		switch found, err := c.resolves(c.domain); {
		case err != nil:
			return f.unseen(c.domain, err), true
		case found:
			f.warn("there is no MX record, so that mail goes to the address of the domain itself")
		default:
			f.fail("there is no MX record: the domain receives no mail; if that is meant, publish \"0 .\"")
		}
	}
	for _, value := range values {
		_, host, _ := strings.Cut(value, " ")
		switch {
		case host == "." || host == "":
			f.Reference = "RFC 7505"
			if len(values) > 1 {
				f.fail("the null MX must be the only MX record")
			} else {
				return f.end("the domain accepts no mail (null MX)"), false
			}
		case isAddress(host):
			f.fail("%s is an address, and must be a host name", host)
		default:
			c.mxHost(f, host)
		}
	}
	return f.end("mail is received by " + strings.Join(values, ", ")), true
}

// preference returns the number that an MX value begins with.
func preference(value string) int {
	number, _, _ := strings.Cut(value, " ")
	n, _ := strconv.Atoi(number)
	return n
}

func (c *checker) mxHost(f *finding, host string) {
	if aliases, err := c.lookup(host, dnsdata.TypeCNAME); err == nil && len(aliases) > 0 {
		f.fail("%s is an alias (CNAME), which an MX record must not name (RFC 2181, section 10.3)", host)
		return
	}
	found, err := c.resolves(host)
	f.unresolved(host, err)
	if err == nil && !found {
		f.fail("%s has no address", host)
	}
}

// resolves reports whether a name resolves to an address. It returns an error if it found none and a
// lookup failed.
func (c *checker) resolves(name string) (found bool, failed error) {
	for _, t := range []string{dnsdata.TypeA, dnsdata.TypeAAAA} {
		values, err := c.lookup(name, t)
		if len(values) > 0 {
			return true, nil
		}
		failed = cmp.Or(failed, err)
	}
	return false, failed
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// apex checks that the domain is not an alias.
func (c *checker) apex() Result {
	f := begin("apex", "RFC 1034, section 3.6.2")
	aliases, err := c.lookup(c.domain, dnsdata.TypeCNAME)
	if err != nil {
		return f.unseen(c.domain, err)
	}
	if len(aliases) > 0 {
		f.fail("the domain is an alias of %s: a CNAME excludes all other records, MX and TXT among them; publish addresses instead", aliases[0])
	}
	return f.end("the domain is no alias")
}

// bulkSenders checks the requirements of Google, Yahoo and Microsoft for senders of many messages.
func bulkSenders(senders senders, spf, dkim, dmarc Result) Result {
	f := begin("bulk_senders", "https://support.google.com/a/answer/81126")
	skipped := []string{}
	for _, r := range []Result{spf, dkim, dmarc} {
		switch r.Status {
		case Failed:
			f.fail("%s is required, and failed", strings.ToUpper(r.Check))
		case Skipped:
			skipped = append(skipped, strings.ToUpper(r.Check))
		}
	}
	if len(f.failed) == 0 && len(skipped) > 0 {
		return f.unseen(strings.Join(skipped, ", "), ErrUnknown)
	}
	if senders == nobody {
		return f.end("the domain sends no mail")
	}
	return f.end("SPF, DKIM and DMARC are there. Google, Yahoo and Microsoft also ask for a host name in reverse DNS of each sending address, and for one-click unsubscribe (RFC 8058)")
}
