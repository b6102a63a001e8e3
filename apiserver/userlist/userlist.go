// Package userlist reads lists of people in the exports (CSV) of other mail hosts and spreadsheets,
// checks them against the limits of mailboxes, and reports each problem with its line.
//
// It understands the columns of Google Workspace's user export, of Microsoft 365's and Entra's, and
// of files made for this product; see columns.go. It detects the separator.
//
// Stability: none. The package is exported for other packages of this repository only.
package userlist

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/textfile"
)

// Options select rows and columns of a file.
type Options struct {
	// Domains are the domains to read, in canonical form; empty reads all. Rows of other domains
	// are only counted. A file with local parts but without addresses and domains requires one
	// domain.
	Domains []string
	// Columns maps a field to its header, if that header is unusual.
	Columns map[Field]string
	// ActiveOnly leaves out people who were suspended, archived or blocked at the old host.
	ActiveOnly bool
}

// List is the content of a file.
type List struct {
	// Columns maps the fields to the headers used, as spelled in the file.
	Columns map[Field]string
	// Separator separates the cells.
	Separator rune
	// Rows counts the non-empty rows below the header.
	Rows int
	// Users are the valid rows of the chosen domains, in the file's order.
	Users []User
	// Problems are the invalid rows, in the file's order. A row may cause several problems.
	Problems []Problem
	// Domains counts the rows of each domain, including invalid and left-out rows, but not rows
	// without a readable domain. OtherDomains counts the rows of domains not chosen.
	Domains, OtherDomains map[string]int
	// LeftOut lists the addresses of inactive people that Options.ActiveOnly left out.
	LeftOut []string
}

// Place is the position of a row in the file.
type Place struct {
	// Line is the line of the text where the row begins; the header is usually line 1.
	Line int `json:"line"`
	// Row is the row's number in a spreadsheet, lower than Line if cells above contain line breaks.
	Row int `json:"row"`
}

func (p Place) String() string {
	if p.Row == p.Line {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d (row %d)", p.Line, p.Row)
}

// User is a row that can become a mailbox.
type User struct {
	Place
	// Address is in canonical form.
	Address emailaddr.Address
	// FirstName and LastName are in Unicode's composed form (NFC), like all strings in Terraform;
	// macOS writes decomposed strings.
	FirstName, LastName string
	// Inactive reports that the old host suspended, archived or blocked the user.
	Inactive bool
	// Aliases counts the further addresses in the row.
	Aliases int
}

// Problem explains why a row can't become a mailbox, and how to correct it.
type Problem struct {
	Place
	// Address is the address as spelled in the file, or "".
	Address string `json:"address,omitempty"`
	Text    string `json:"problem"`
}

func (p Problem) String() string {
	if p.Address == "" {
		return fmt.Sprintf("%s: %s", p.Place, p.Text)
	}
	return fmt.Sprintf("%s: %s: %s", p.Place, p.Address, p.Text)
}

// ByDomain returns the users of each domain.
func (l *List) ByDomain() map[string][]User {
	domains := map[string][]User{}
	for _, u := range l.Users {
		domains[u.Address.Domain] = append(domains[u.Address.Domain], u)
	}
	return domains
}

// Parse reads a file. An error is about the whole file, such as a header without addresses;
// List.Problems contains the problems of single rows.
func Parse(text string, o Options) (*List, error) {
	body, firstLine, separators := prepare(text)
	header, err := findHeader(body, separators, o.Columns)
	if err != nil {
		return nil, err
	}
	if err := header.check(o.Domains); err != nil {
		return nil, err
	}
	p := parser{
		Options: o, header: header, skipped: firstLine - 1, places: map[string]Place{},
		list: &List{Columns: header.used(), Separator: header.separator, Domains: map[string]int{}, OtherDomains: map[string]int{}},
	}
	p.readRows(body)
	return p.list, nil
}

// prepare returns the content without Excel's line for the separator, the number of its first line, and
// the possible separators.
func prepare(text string) (body string, firstLine int, separators []rune) {
	body = textfile.Normalize(text)
	line, rest, _ := strings.Cut(body, "\n")
	if name, ok := strings.CutPrefix(line, "sep="); ok && len([]rune(name)) == 1 {
		return rest, 2, []rune(name)
	}
	return body, 1, []rune{',', ';', '\t', '|'}
}

// parser reads the rows below a header.
type parser struct {
	Options
	header  header
	skipped int              // lines before the content
	breaks  int              // line breaks in cells so far
	places  map[string]Place // by address
	list    *List
}

// place returns the place of a row that begins at a line of the content. A spreadsheet does not
// show the lines before the content as rows.
func (p *parser) place(line int) Place {
	return Place{Line: p.skipped + line, Row: line - p.breaks}
}

func (p *parser) readRows(body string) {
	reader := newReader(body, p.header.separator)
	for first := true; ; first = false {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			p.list.Rows++
			p.list.Problems = append(p.list.Problems, p.quoteProblem(broken))
			p.breaks += broken.Line - broken.StartLine
			continue
		}
		if !first && slices.ContainsFunc(cells, func(cell string) bool { return clean(cell) != "" }) {
			line, _ := reader.FieldPos(0)
			p.list.Rows++
			p.readRow(row{header: p.header, cells: cells, place: p.place(line)})
		}
		for _, cell := range cells {
			p.breaks += strings.Count(cell, "\n")
		}
	}
}

func newReader(body string, separator rune) *csv.Reader {
	reader := csv.NewReader(strings.NewReader(body))
	reader.Comma = separator
	reader.FieldsPerRecord = -1
	return reader
}

// quoteProblem explains the only errors that package csv can report here.
func (p *parser) quoteProblem(err *csv.ParseError) Problem {
	text := `a quotation mark in the middle of a cell; put the whole cell in quotation marks, and double those within it: "Bob ""Bobby"" Smith"`
	if err.StartLine != err.Line {
		text = fmt.Sprintf("a quotation mark opens a cell that nothing closes up to line %d, and the rows between are not read; close it", p.skipped+err.Line)
	}
	return Problem{Place: p.place(err.StartLine), Text: text}
}

type row struct {
	header header
	cells  []string
	place  Place
}

func (r row) get(f Field) string {
	i, ok := r.header.index[f]
	if !ok || i >= len(r.cells) {
		return ""
	}
	return clean(r.cells[i])
}

// clean removes spaces, no-break spaces and invisible characters around a cell, and composes
// characters (NFC).
func clean(cell string) string {
	return strings.TrimFunc(norm.NFC.String(cell), func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' })
}

func (r row) address(domains []string) string {
	local, domain := r.get(LocalPart), r.get(Domain)
	if domain == "" && len(domains) == 1 {
		domain = domains[0]
	}
	if local == "" || domain == "" {
		return cmp.Or(r.get(Address), local)
	}
	return local + "@" + domain
}

func (p *parser) readRow(r row) {
	written := r.address(p.Domains)
	problem := func(format string, args ...any) {
		p.list.Problems = append(p.list.Problems, Problem{Place: r.place, Address: written, Text: fmt.Sprintf(format, args...)})
	}
	if n := len(p.header.cells); len(r.cells) > n && slices.ContainsFunc(r.cells[n:], func(cell string) bool { return clean(cell) != "" }) {
		problem("the row has %d cells and the header %d; put a cell that contains %q in quotation marks", len(r.cells), n, p.header.separator)
		return
	}
	if written == "" {
		problem("has no address; fill it in, or remove the row")
		return
	}
	address, err := emailaddr.Parse(written)
	domain := address.Domain
	if err != nil {
		domain = domainOf(written)
	}
	if domain != "" {
		p.list.Domains[domain]++
		if len(p.Domains) > 0 && !slices.Contains(p.Domains, domain) {
			p.list.OtherDomains[domain]++
			return
		}
	}
	if err != nil {
		problem("is not an address that a mailbox can have: %s", err)
		return
	}
	user := User{Place: r.place, Address: address, Inactive: r.isInactive(), Aliases: r.aliases(address)}
	if user.Inactive && p.ActiveOnly {
		p.list.LeftOut = append(p.list.LeftOut, address.String())
		return
	}
	if earlier, taken := p.places[address.String()]; taken {
		problem("%s has this address already (upper and lower case are the same address); remove one of the two rows", earlier)
		return
	}
	p.places[address.String()] = user.Place
	user.FirstName, user.LastName = r.names()
	valid := true
	for _, name := range []struct{ field, label, value string }{{"first_name", "first name", user.FirstName}, {"last_name", "last name", user.LastName}} {
		if name.value == "" {
			problem("the %s is empty, and a mailbox needs one; fill it in, for instance with the team's name", name.label)
			valid = false
		} else if err := api.FieldOf[api.CreateMailboxBody](name.field).Check(name.value).Rule(); err != nil {
			problem("the %s %s; change it in the file", name.label, err)
			valid = false
		}
	}
	if valid {
		p.list.Users = append(p.list.Users, user)
	}
}

// domainOf returns the domain of an invalid address, or "" if unreadable.
func domainOf(written string) string {
	name, err := domainname.Normalize(written[strings.LastIndex(written, "@")+1:])
	if err != nil || !strings.Contains(written, "@") {
		return ""
	}
	return name
}

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

// isInactive reports whether the old host suspended, archived or blocked the user.
func (r row) isInactive() bool {
	switch strings.ToLower(r.get(Status)) {
	case "suspended", "archived", "deleted", "disabled", "inactive", "blocked":
		return true
	}
	return strings.EqualFold(r.get(Blocked), "true") || strings.EqualFold(r.get(Enabled), "false")
}

// aliases counts the further addresses in a column such as Microsoft's proxy addresses,
// "SMTP:jane@example.com+smtp:j@example.com".
func (r row) aliases(primary emailaddr.Address) int {
	n := 0
	for alias := range strings.FieldsFuncSeq(r.get(Aliases), func(c rune) bool { return strings.ContainsRune("+;, ", c) }) {
		if protocol, rest, ok := strings.Cut(alias, ":"); ok {
			if !strings.EqualFold(protocol, "smtp") {
				continue
			}
			alias = rest
		}
		if a, err := emailaddr.Parse(alias); err == nil && a != primary {
			n++
		}
	}
	return n
}

// SortedDomains returns the domains in counts, the largest count first.
func SortedDomains(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
}

// WriteCSV writes the users of one domain for Terraform's csvdecode: in UTF-8, separated by commas,
// with the columns local_part, first_name and last_name.
func WriteCSV(w io.Writer, users []User) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"local_part", "first_name", "last_name"}) // Flush reports the error
	for _, u := range users {
		_ = out.Write([]string{u.Address.Local, u.FirstName, u.LastName})
	}
	out.Flush()
	return out.Error()
}
