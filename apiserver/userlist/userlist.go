// Package userlist reads lists of people in the exports (CSV) of other mail hosts and spreadsheets,
// checks them against the limits of mailboxes, and reports each problem with its line.
//
// It understands the columns of the exports of Google Workspace, Microsoft 365, Entra, Exchange and Zoho in many
// languages, and of files made for this product; see headers.go. It detects the separator, and rows above
// the header.
//
// The mailbox of a person is the mail address, not the name with which the person signs in: the local part and
// domain of a file made for this product, else the column with the mail address, else the primary entry
// ("SMTP:") of the proxy addresses, else the only one of the addresses without "SMTP:", else the sign-in name. The
// first that the row contains counts.
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
	// ActiveOnly leaves out people who were suspended, archived or blocked at the old host. A file whose statuses
	// are missing or not understood is then an error.
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
	// Rejected are the other rows, in the file's order.
	Rejected []Rejected
	// Problems are the reasons of the invalid rows, in the file's order. A row may cause several problems.
	Problems []Problem
	// Domains counts the rows of each domain, including invalid and left-out rows, but not rows
	// without a readable domain. OtherDomains counts the rows of domains not chosen.
	Domains, OtherDomains map[string]int
	// SimilarDomains maps a domain that was not chosen to the chosen one that it may be a misspelling of.
	SimilarDomains map[string]string
	// OtherMail counts, by header, the addresses in columns of unknown meaning, in rows whose mailbox is the sign-in
	// name for want of a mail address.
	OtherMail map[string]int
	// UnknownStatuses are the statuses of users that are not understood, and so count as active.
	UnknownStatuses []UnknownStatus
	// UnknownKinds are the kinds of recipients that are not understood, and so count as mailboxes.
	UnknownKinds []UnknownStatus

	header *header
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
	// SignIn is the name with which the user signs in, if it is another address than Address.
	SignIn string
}

// Cause is the cause for which a row is rejected.
type Cause string

// The causes.
const (
	Invalid     Cause = "invalid"
	OtherDomain Cause = "other domain"
	NotActive   Cause = "not active"
	NoMailbox   Cause = "no mailbox"
)

// Rejected is a row that did not become a user.
type Rejected struct {
	Place
	Cause Cause
	// Address is the address in canonical form, or as spelled in the file if it is invalid.
	Address string
	// Reason explains the cause.
	Reason string
	// Kind is the kind of recipient that is no mailbox, as spelled in the file.
	Kind string
	// Domain is the other domain. Local is an address of a chosen domain that the row contains nevertheless, as
	// the sign-in name or an alias.
	Domain, Local string

	lines [][]string // the cells; a row with a misplaced quotation mark may have several lines
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
	header, err := findHeader(body, separators, o)
	if header != nil {
		header.line += firstLine - 1
	}
	if err != nil {
		return nil, err
	}
	p := parser{
		Options: o, header: header, body: body, lines: strings.Split(body, "\n"), skipped: firstLine - 1, places: map[string]Place{}, statuses: unknownCounts{}, kinds: unknownCounts{},
		list: &List{Columns: header.used(), Separator: header.separator, Domains: map[string]int{}, OtherDomains: map[string]int{}, SimilarDomains: map[string]string{}, OtherMail: map[string]int{}, header: header},
	}
	p.readRows()
	p.list.UnknownStatuses, p.list.UnknownKinds = p.statuses.list(), p.kinds.list()
	for name := range p.list.OtherDomains {
		if similar := SimilarDomain(name, o.Domains); similar != "" {
			p.list.SimilarDomains[name] = similar
		}
	}
	if unknown := p.list.UnknownStatuses; o.ActiveOnly && len(unknown) > 0 {
		return nil, &UnknownStatusError{unknown}
	}
	return p.list, nil
}

// prepare returns the content without Excel's line for the separator, the number of its first line, and
// the possible separators.
func prepare(text string) (body string, firstLine int, separators []rune) {
	body = textfile.Normalize(text)
	line, rest, _ := strings.Cut(body, "\n")
	if name, ok := strings.CutPrefix(strings.Trim(line, `"`), "sep="); ok && len([]rune(name)) == 1 {
		return rest, 2, []rune(name)
	}
	return body, 1, []rune{',', ';', '\t', '|'}
}

// parser reads the rows below a header.
type parser struct {
	Options
	header  *header
	body    string
	lines   []string         // of the body
	skipped int              // lines before the content
	breaks  int              // line breaks in cells so far
	places  map[string]Place // by address
	// statuses and kinds count the cells that are not understood.
	statuses, kinds unknownCounts
	list            *List
}

// place returns the place of a row that begins at a line of the content. A spreadsheet does not
// show the lines before the content as rows.
func (p *parser) place(line int) Place {
	return Place{Line: p.skipped + line, Row: line - p.breaks}
}

func (p *parser) readRows() {
	reader := newReader(p.body, p.header.separator)
	for record := 0; ; record++ {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		broken, isBroken := errors.AsType[*csv.ParseError](err)
		switch {
		case isBroken && record > p.header.record:
			p.list.Rows++
			p.rejectBroken(broken)
		case !isBroken && record > p.header.record && slices.ContainsFunc(cells, func(cell string) bool { return clean(cell) != "" }):
			line, _ := reader.FieldPos(0)
			p.list.Rows++
			p.readRow(row{header: p.header, cells: cells, place: p.place(line)})
		}
		if isBroken {
			p.breaks += broken.Line - broken.StartLine
			continue
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

// rejectBroken rejects the lines of a row with a misplaced quotation mark, the only error that package csv can
// report here. The cells of each line are as good as they can be read.
func (p *parser) rejectBroken(err *csv.ParseError) {
	text := `a quotation mark in the middle of a cell; put the whole cell in quotation marks, and double those within it: "Bob ""Bobby"" Smith"`
	if err.StartLine != err.Line {
		text = fmt.Sprintf("a quotation mark opens a cell that nothing closes up to line %d, and the rows between are not read; close it", p.skipped+err.Line)
	}
	problem := Problem{Place: p.place(err.StartLine), Text: text}
	p.list.Problems = append(p.list.Problems, problem)
	rejected := Rejected{Place: problem.Place, Cause: Invalid, Reason: text}
	for _, line := range p.lines[err.StartLine-1 : min(err.Line, len(p.lines))] {
		if cells := p.readBroken(line, err.Err); cells != nil {
			rejected.lines = append(rejected.lines, cells)
		}
	}
	p.list.Rejected = append(p.list.Rejected, rejected)
}

// readBroken reads a line of a broken row. Marks in the middle of a cell belong to it; others that have no
// counterpart are ignored.
func (p *parser) readBroken(line string, cause error) []string {
	reader := newReader(line, p.header.separator)
	reader.LazyQuotes = errors.Is(cause, csv.ErrBareQuote)
	cells, err := reader.Read()
	if err != nil {
		cells, _ = newReader(strings.ReplaceAll(line, `"`, ""), p.header.separator).Read()
	}
	return cells
}

func (p *parser) readRow(r row) {
	written, problem := r.address(p.Domains)
	reject := func(cause Cause, reasons ...string) *Rejected {
		p.list.Rejected = append(p.list.Rejected, Rejected{Place: r.place, Cause: cause, Address: written, Reason: strings.Join(reasons, "; "), lines: [][]string{r.cells}})
		return &p.list.Rejected[len(p.list.Rejected)-1]
	}
	invalid := func(reasons ...string) {
		for _, text := range reasons {
			p.list.Problems = append(p.list.Problems, Problem{Place: r.place, Address: written, Text: text})
		}
		reject(Invalid, reasons...)
	}
	if n := len(p.header.cells); len(r.cells) > n && slices.ContainsFunc(r.cells[n:], func(cell string) bool { return clean(cell) != "" }) {
		invalid(fmt.Sprintf("the row has %d cells and the header %d; put a cell that contains %q in quotation marks", len(r.cells), n, p.header.separator))
		return
	}
	if len(r.cells) == 1 && len(p.header.cells) > 1 && strings.ContainsRune(r.cells[0], p.header.separator) {
		written = "" // a whole row
		invalid(wholeRow)
		return
	}
	kind, column := r.kind()
	unknownKind := false
	if kind != "" {
		mailbox, known := isMailbox(kind, p.header.cells[column])
		if !mailbox {
			reject(NoMailbox, kind+" is no mailbox").Kind = kind
			return
		}
		unknownKind = !known
	}
	if problem != "" {
		invalid(problem)
		return
	}
	if written == "" {
		invalid("has no address; fill it in, or remove the row")
		return
	}
	if r.get(Address) == "" && written == r.signIn() {
		for _, i := range r.otherMail(p.Domains) {
			p.list.OtherMail[clean(p.header.cells[i])]++
		}
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
			rejected := reject(OtherDomain, "the address is in the domain "+domain)
			rejected.Domain, rejected.Local = domain, r.localAddress(p.Domains)
			return
		}
	}
	if err != nil {
		invalid(fmt.Sprintf("is not an address that a mailbox can have: %s", err))
		return
	}
	user := User{Place: r.place, Address: address}
	activity, unknown := r.activity()
	if user.Inactive = activity == inactive; user.Inactive && p.ActiveOnly {
		reject(NotActive, "not active at the old host").Address = address.String()
		return
	}
	p.statuses.add(r, unknown...)
	if unknownKind {
		p.kinds.add(r, column)
	}
	if earlier, taken := p.places[address.String()]; taken {
		invalid(fmt.Sprintf("%s has this address already (upper and lower case are the same address); remove one of the two rows", earlier))
		return
	}
	p.places[address.String()] = user.Place
	user.FirstName, user.LastName = r.names()
	var problems []string
	for _, name := range []struct{ field, label, value string }{{"first_name", "first name", user.FirstName}, {"last_name", "last name", user.LastName}} {
		if name.value == "" {
			problems = append(problems, fmt.Sprintf("the %s is empty, and a mailbox needs one; fill it in, for instance with the team's name", name.label))
		} else if err := api.FieldOf[api.CreateMailboxBody](name.field).Check(name.value).Rule(); err != nil {
			problems = append(problems, fmt.Sprintf("the %s %s; change it in the file", name.label, err))
		}
	}
	if problems != nil {
		invalid(problems...)
		return
	}
	for _, alias := range r.aliases() {
		if alias != address {
			user.Aliases++
		}
	}
	if signIn, err := emailaddr.Parse(r.signIn()); err == nil && signIn != address {
		user.SignIn = signIn.String()
	}
	p.list.Users = append(p.list.Users, user)
}

const wholeRow = "the row is in quotation marks as a whole, and so it is one cell; remove the marks at its beginning and end, and make doubled marks single"

// domainOf returns the domain of an invalid address, or "" if unreadable.
func domainOf(written string) string {
	name, err := domainname.Normalize(written[strings.LastIndex(written, "@")+1:])
	if err != nil || !strings.Contains(written, "@") {
		return ""
	}
	return name
}

// SimilarDomain returns the domain from which another one differs in one letter that is missing, added, wrong
// or exchanged with the next one, or "". Both may be real, so that this is a hint only.
func SimilarDomain(name string, domains []string) string {
	for _, domain := range domains {
		a, b := name, domain
		if len(a) > len(b) {
			a, b = b, a
		}
		i := 0
		for i < len(a) && a[i] == b[i] {
			i++
		}
		a, b = a[i:], b[i:]
		switch {
		case len(a) == len(b) && a != "" && a[1:] == b[1:],
			len(a) == len(b) && len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:],
			len(a)+1 == len(b) && a == b[1:]:
			return domain
		}
	}
	return ""
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

// WriteRejected writes the rejected rows as CSV with the header of the file and, in front, the reason. Corrected, the
// file can be read again. The cells stay as they are, also formulas, because they are the reader's own.
func (l *List) WriteRejected(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Comma = l.Separator
	withReason := func(reason string, cells []string) []string {
		if clean(l.header.cells[0]) == reasonHeader { // of an earlier file of this kind
			cells = cells[min(1, len(cells)):]
		}
		return append([]string{reason}, cells...)
	}
	_ = out.Write(withReason(reasonHeader, l.header.cells)) // Flush reports the error
	for _, r := range l.Rejected {
		for _, cells := range r.lines {
			_ = out.Write(withReason(fmt.Sprintf("%s: %s", r.Place, r.Reason), cells))
		}
	}
	out.Flush()
	return out.Error()
}

const reasonHeader = "left out because"
