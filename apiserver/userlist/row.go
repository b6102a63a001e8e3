package userlist

import (
	"cmp"
	"fmt"
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

// address returns the address of the mailbox as written, see the package comment, or the reason for which a row
// that lists addresses does not show it.
func (r row) address(domains []string) (written, problem string) {
	local, domain := r.get(LocalPart), r.get(Domain)
	if domain == "" && len(domains) == 1 {
		domain = domains[0]
	}
	if local != "" && domain != "" {
		return local + "@" + domain, ""
	}
	street := ""
	if r.header.street >= 0 {
		street = r.cell(r.header.street)
	}
	addressInStreet := ""
	if strings.Contains(street, "@") {
		addressInStreet = street
	}
	if written = cmp.Or(r.mail(domains), addressInStreet, r.primaryAddress()); written == "" {
		written, problem = r.onlyAddress(domains)
	}
	// Excel writes an apostrophe before a text that it must not interpret.
	return strings.Trim(cmp.Or(written, r.signIn(), r.get(Address), street, local), "'"), problem
}

// mail returns the first mail address in the columns with addresses, if possible one in the domains. A cell without an
// @, such as "enabled" in a column named SMTP, is none.
func (r row) mail(domains []string) (first string) {
	for _, i := range r.header.index[Address] {
		cell := r.cell(i)
		_, domain, isAddress := strings.Cut(cell, "@")
		switch {
		case isAddress && slices.Contains(domains, strings.ToLower(domain)):
			return cell
		case isAddress && first == "":
			first = cell
		}
	}
	return first
}

// guest matches the sign-in name of a guest from another organization.
var guest = regexp.MustCompile(`(?i)^(.+)_([^_@]+)#EXT#@.*$`)

// signIn returns the sign-in name. A guest's jane_example.com#EXT#@corp.onmicrosoft.com is jane@example.com.
func (r row) signIn() string {
	return guest.ReplaceAllString(strings.Trim(r.get(SignIn), "'"), "$1@$2")
}

// names returns the first and last name. Without both it splits the first display name with several words, "Jane Doe"
// or "Doe, Jane".
func (r row) names() (first, last string) {
	if first, last = r.get(FirstName), r.get(LastName); first != "" || last != "" {
		return first, last
	}
	for _, i := range r.header.index[DisplayName] {
		f, l := splitName(r.cell(i))
		if last == "" || first == "" && f != "" {
			first, last = f, l
		}
	}
	return first, last
}

func splitName(display string) (first, last string) {
	if last, first, ok := strings.Cut(display, ","); ok {
		return clean(first), clean(last)
	}
	i := strings.LastIndexFunc(display, unicode.IsSpace)
	return clean(display[:max(i, 0)]), clean(display[max(i, 0):])
}

var (
	// protocolAfterPlus matches the separator of Microsoft 365's proxy addresses. A plus sign elsewhere belongs to an
	// address.
	protocolAfterPlus  = regexp.MustCompile(`\+([A-Za-z0-9]+:)`)
	blankAfterProtocol = regexp.MustCompile(`(?i)\b(smtp:)\s+`)
)

// proxies returns the entries of the columns with aliases or proxy addresses.
func (r row) proxies() []string {
	var entries []string
	for _, i := range r.header.index[Aliases] {
		entries = append(entries, splitProxies(r.cell(i))...)
	}
	return entries
}

// splitProxies returns the entries of a list such as "SMTP:jane@example.com+smtp:j@example.com+SIP:jane@example.com",
// or of one in JSON.
func splitProxies(text string) []string {
	text = protocolAfterPlus.ReplaceAllString(text, ";$1")
	text = blankAfterProtocol.ReplaceAllString(text, "$1")
	entries := strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(";,|{}[]\"", c) })
	for i, entry := range entries {
		entries[i] = strings.Trim(entry, "'")
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

// onlyAddress returns the mail address from the columns that list all addresses of a person without "SMTP:" before
// the primary one. An entry with "smtp:" is a secondary address. Several addresses are a problem, unless the first
// is the sign-in name or only one is in the chosen domains; so is a cell without an address, such as the name of the
// type that PowerShell writes for a list.
func (r row) onlyAddress(domains []string) (written, problem string) {
	var all, chosen []string
	unread, place := "", -1
	for _, i := range r.header.index[Aliases] {
		if !listsAll(r.header.cells[i]) {
			continue
		}
		text, readable := r.cell(i), false
		for _, entry := range splitProxies(text) {
			a, err := emailaddr.Parse(entry)
			if err == nil && !slices.Contains(all, a.String()) {
				all, place = append(all, a.String()), i
				if slices.Contains(domains, a.Domain) {
					chosen = append(chosen, a.String())
				}
			}
			readable = readable || err == nil || protocol.MatchString(entry)
		}
		if !readable && unread == "" && strings.ContainsFunc(text, unicode.IsLetter) && !slices.Contains([]string{"none", "null", "na"}, key(text)) {
			unread, place = text, i
		}
	}
	switch {
	case len(all) == 0 && unread != "":
		property := "EmailAddresses"
		if strings.Contains(key(r.header.cells[place]), "proxy") {
			property = "ProxyAddresses"
		}
		return "", fmt.Sprintf("the cell %.60q in %.60q contains no address, so that the mailbox is not known; export the addresses as text, in PowerShell with @{n=\"%s\";e={$_.%[3]s -join \";\"}}", unread, clean(r.header.cells[place]), property)
	case len(all) == 0:
		return "", ""
	case len(all) == 1, strings.EqualFold(all[0], r.signIn()), len(domains) > 0 && len(chosen) == 0:
		return all[0], ""
	case len(chosen) == 1:
		return chosen[0], ""
	}
	return "", fmt.Sprintf("%.60q lists %d addresses and marks none with SMTP: as the mail address; write SMTP: before it, or remove the others", clean(r.header.cells[place]), len(all))
}

// protocol matches the beginning of a proxy address. X500's and others are not for mail.
var protocol = regexp.MustCompile(`^[A-Za-z0-9]+:.`)

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

// otherMail returns the columns without a known header that contain a mail address of the domains other than the
// sign-in name, if the header contains a word for mail.
func (r row) otherMail(domains []string) []int {
	var found []int
	signIn, _ := emailaddr.Parse(r.signIn())
	for _, i := range r.header.otherMail {
		if slices.ContainsFunc(splitProxies(r.cell(i)), func(entry string) bool {
			a, err := emailaddr.Parse(strings.TrimPrefix(entry, "SMTP:"))
			return err == nil && a != signIn && (len(domains) == 0 || slices.Contains(domains, a.Domain))
		}) {
			found = append(found, i)
		}
	}
	return found
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
