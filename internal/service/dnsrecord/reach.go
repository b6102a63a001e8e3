package dnsrecord

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// Mail contains the records of a domain that decide where its mail goes and who may send it: the values
// of MX, SPF and DMARC records, by their place. The value of an MX record begins with its priority.
type Mail map[place][]string

// place is a name relative to the domain, and the purpose of records there.
type place struct {
	name    string
	purpose dnsdata.Purpose
}

// unknownValue stands for a value that only the apply knows.
const unknownValue = "(known only after the apply)"

// placeOf returns the place of a record, or false if the record is no MX, SPF or DMARC record. Receivers
// look for DMARC only below _dmarc.
func placeOf(name, recordType, value string) (p place, ok bool) {
	p = place{name, dnsdata.PurposeOf(recordType, value)}
	return p, p.purpose != "" && (p.purpose != dnsdata.PurposeDMARC || isBelowDMARC(name))
}

func isBelowDMARC(name string) bool { return name == "_dmarc" || strings.HasPrefix(name, "_dmarc.") }

// Add adds a record if it is an MX, SPF or DMARC record. Its name is relative to the domain; name and value are canonical.
func (m Mail) Add(name, recordType, value string, priority *int64) {
	p, ok := placeOf(name, recordType, value)
	if !ok {
		return
	}
	if text, err := dnsdata.Text(value); err == nil && p.purpose.Single() {
		value = text
	}
	if priority != nil {
		value = strconv.FormatInt(*priority, 10) + " " + value
	}
	if !slices.Contains(m[p], value) {
		m[p] = append(m[p], value)
	}
}

// AddUnknown adds a record with an unknown value: an MX record, a TXT record where only DMARC records are, or
// one if m lacks a policy that before contains at the name.
func (m Mail) AddUnknown(name, recordType string, before Mail) {
	for _, purpose := range []dnsdata.Purpose{dnsdata.PurposeMX, dnsdata.PurposeSPF, dnsdata.PurposeDMARC} {
		p := place{name, purpose}
		isPolicy := purpose == dnsdata.PurposeDMARC && isBelowDMARC(name) || len(before[p]) > 0
		if recordType == dnsdata.TypeMX && purpose == dnsdata.PurposeMX || recordType == dnsdata.TypeTXT && isPolicy && len(m[p]) == 0 {
			m[p] = append(m[p], unknownValue)
		}
	}
}

// isBuiltIn reports whether every domain comes with system-managed records at the place.
func (p place) isBuiltIn() bool {
	if p.purpose == dnsdata.PurposeDMARC {
		return p.name == "_dmarc"
	}
	return p.name == "@"
}

// ReachLosses returns a loss for each place where a plan changes the records in force. before and after
// contain the customer's records; where there are none, the system-managed ones are in force. builtIn
// returns those of today, or false if the API can't list them. It is called only if they matter.
func ReachLosses(domain string, before, after Mail, builtIn func() (Mail, bool)) (losses []service.Loss) {
	places := Mail{}
	maps.Copy(places, before)
	maps.Copy(places, after)
	for _, p := range slices.SortedFunc(maps.Keys(places), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.purpose, b.purpose))
	}) {
		c := replacedMail{place: p, was: inOrder(before[p]), will: inOrder(after[p])}
		if len(c.was) == 0 {
			if !p.isBuiltIn() {
				continue // nothing is in force
			}
			listed, ok := builtIn()
			if c.was, c.wasBuiltIn = inOrder(listed[p]), true; ok && len(c.was) == 0 {
				continue
			}
		}
		if !slices.Equal(c.was, c.will) && (p.purpose != dnsdata.PurposeMX || len(c.will) == 0 || route(c.was) != route(c.will)) {
			losses = append(losses, c.loss(domain))
		}
	}
	return losses
}

// inOrder sorts the values of a place, an MX with the lowest priority first.
func inOrder(values []string) []string {
	return slices.SortedFunc(slices.Values(values), func(a, b string) int {
		prioA, _, _ := strings.Cut(a, " ")
		prioB, _, _ := strings.Cut(b, " ")
		return cmp.Or(cmp.Compare(len(prioA), len(prioB)), cmp.Compare(a, b))
	})
}

// replacedMail is a change of the records in force at a place. was is empty if they are unknown, and will
// if the customer has no record there any more.
type replacedMail struct {
	place

	was, will  []string
	wasBuiltIn bool
}

func (c replacedMail) loss(domain string) service.Loss {
	owner := fqdn(cmp.Or(strings.TrimPrefix(strings.TrimPrefix(c.name, "_dmarc"), "."), "@"), domain)
	isGone := len(c.will) == 0 && !c.isBuiltIn()
	verb := "changes"
	if isGone {
		verb = "removes"
	}
	l := service.Loss{
		Of:    []service.Asset{service.Reach},
		Does:  fmt.Sprintf("%s the %s of %s", verb, c.purpose, owner),
		Lists: "In force before and after the apply:",
		Items: c.lines(),
	}
	switch c.purpose {
	case dnsdata.PurposeMX:
		c.describeMX(&l, owner, isGone)
	case dnsdata.PurposeSPF:
		l.Consequence = "Receivers decide by it which hosts may send mail from " + owner + "."
	case dnsdata.PurposeDMARC:
		l.Consequence = "Receivers decide by it what happens to mail from " + owner + " that fails the checks of SPF and DKIM."
	}
	if c.purpose.Single() {
		l.Keep = "To keep it, undo the change."
	}
	return l
}

// describeMX completes the loss of a change of MX records.
func (c replacedMail) describeMX(l *service.Loss, owner string, isGone bool) {
	was := cmp.Or(hosts(c.was), "the hosts so far")
	will := cmp.Or(hosts(c.will), "the service's own hosts")
	switch {
	case isGone:
		l.Does += ": mail no longer goes to " + was
		l.Consequence = "Without MX records, mail for " + owner + " is delivered to the address of the name, if there is one."
	case was == will:
		l.Does += ": mail goes to the same hosts with other priorities"
	default:
		l.Does += ": mail goes to " + will + " instead of " + was
	}
	if len(c.will) == 0 && c.isBuiltIn() {
		l.Consequence = "Without MX records of your own, mail for the domain itself is delivered to the service's own hosts again."
	}
	if l.Keep = "To keep the hosts, undo the change."; !isGone {
		l.Keep = "Apply only if the hosts after it accept mail for " + owner + ". " + l.Keep
	}
}

// lines returns the records before and after, one per line.
func (c replacedMail) lines() (lines []string) {
	note, own := "", "the service's own hosts"
	if c.purpose.Single() {
		own = "the built-in record of the service"
	}
	if c.wasBuiltIn {
		note = " (built-in)"
	}
	for _, v := range c.was {
		lines = append(lines, "before: "+v+note)
	}
	if len(c.was) == 0 {
		lines = append(lines, "before: not known, because this API can't list them")
	}
	for _, v := range c.will {
		lines = append(lines, "after: "+v)
	}
	switch {
	case len(c.will) > 0:
	case c.isBuiltIn():
		lines = append(lines, "after: "+own)
	default:
		lines = append(lines, "after: none")
	}
	return lines
}

// route returns the hosts of MX records in the order in which senders try them, without the priorities.
func route(values []string) string {
	var b strings.Builder
	last := ""
	for _, v := range values {
		priority, host, _ := strings.Cut(v, " ")
		if b.WriteString(" " + host); priority != last {
			b.WriteString(" first")
		}
		last = priority
	}
	return b.String()
}

// hosts returns the hosts of MX records for a summary, in the order of their priorities.
func hosts(values []string) string {
	const most = 3
	var names []string
	for _, v := range values {
		_, host, _ := strings.Cut(v, " ")
		switch {
		case v == unknownValue:
			host = "a host that only the apply knows"
		case dnsdata.IsNullMX(dnsdata.TypeMX, host):
			host = "no host"
		}
		if !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	if len(names) > most+1 {
		names = append(names[:most], fmt.Sprintf("%d other hosts", len(names)-most))
	}
	return report.Enumeration(names)
}
