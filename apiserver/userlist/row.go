package userlist

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// row reads the cells of a row by their fields.
type row struct {
	header *header
	cells  []string
	place  Place
}

func (r row) cell(i int) string {
	if i >= len(r.cells) {
		return ""
	}
	return clean(r.cells[i])
}

// get returns the first cell of a field that is not empty.
func (r row) get(f Field) string {
	for _, i := range r.header.index[f] {
		if cell := r.cell(i); cell != "" {
			return cell
		}
	}
	return ""
}

// clean removes spaces, no-break spaces and invisible characters around a cell, and composes
// characters (NFC).
func clean(cell string) string {
	return strings.TrimFunc(norm.NFC.String(cell), func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' })
}

// address returns the address of the mailbox as written; see the package comment.
func (r row) address(domains []string) string {
	local, domain := r.get(LocalPart), r.get(Domain)
	if domain == "" && len(domains) == 1 {
		domain = domains[0]
	}
	if local != "" && domain != "" {
		return local + "@" + domain
	}
	street := ""
	if r.header.street >= 0 {
		street = r.cell(r.header.street)
	}
	mail := ""
	if strings.Contains(street, "@") {
		mail = street
	}
	return cmp.Or(r.get(Address), mail, r.primaryAddress(), r.signIn(), street, local)
}

// guest matches the sign-in name of a guest from another organization.
var guest = regexp.MustCompile(`(?i)^(.+)_([^_@]+)#EXT#@.*$`)

// signIn returns the sign-in name. A guest's jane_example.com#EXT#@corp.onmicrosoft.com is jane@example.com.
func (r row) signIn() string { return guest.ReplaceAllString(r.get(SignIn), "$1@$2") }

// names returns the first and last name. Without both it splits the display name, "Jane Doe" or
// "Doe, Jane".
func (r row) names() (first, last string) {
	first, last = r.get(FirstName), r.get(LastName)
	if first != "" || last != "" {
		return first, last
	}
	display := r.get(DisplayName)
	if last, first, ok := strings.Cut(display, ","); ok {
		return clean(first), clean(last)
	}
	i := strings.LastIndexFunc(display, unicode.IsSpace)
	return clean(display[:max(i, 0)]), clean(display[max(i, 0):])
}

// protocolAfterPlus matches the separator of Microsoft 365's proxy addresses. A plus sign elsewhere belongs to an
// address.
var protocolAfterPlus = regexp.MustCompile(`\+([A-Za-z0-9]+:)`)

// proxies returns the entries of the columns with aliases or proxy addresses, such as
// "SMTP:jane@example.com+smtp:j@example.com+SIP:jane@example.com".
func (r row) proxies() []string {
	var entries []string
	for _, i := range r.header.index[Aliases] {
		text := protocolAfterPlus.ReplaceAllString(r.cell(i), ";$1")
		entries = append(entries, strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(";,|{}", c) })...)
	}
	return entries
}

// primaryAddress returns the primary one of the proxy addresses, whose protocol is in capital letters, or "".
func (r row) primaryAddress() string {
	for _, entry := range r.proxies() {
		if address, ok := strings.CutPrefix(entry, "SMTP:"); ok {
			return address
		}
	}
	return ""
}

// aliases returns the mail addresses in the columns with aliases or proxy addresses.
func (r row) aliases() []emailaddr.Address {
	var all []emailaddr.Address
	for _, alias := range r.proxies() {
		if protocol, rest, ok := strings.Cut(alias, ":"); ok {
			if !strings.EqualFold(protocol, "smtp") {
				continue
			}
			alias = rest
		}
		if a, err := emailaddr.Parse(alias); err == nil && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// localAddress returns the sign-in name or alias that is in one of the domains, or "".
func (r row) localAddress(domains []string) string {
	all := r.aliases()
	if signIn, err := emailaddr.Parse(r.signIn()); err == nil {
		all = append([]emailaddr.Address{signIn}, all...)
	}
	for _, a := range all {
		if slices.Contains(domains, a.Domain) {
			return a.String()
		}
	}
	return ""
}
