package userlist

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// Field is the meaning of a column.
type Field string

// The fields, in the order of messages.
const (
	Address     Field = "address"
	SignIn      Field = "sign_in"
	LocalPart   Field = "local_part"
	Domain      Field = "domain"
	FirstName   Field = "first_name"
	LastName    Field = "last_name"
	DisplayName Field = "display_name"
	Status      Field = "status"
	Blocked     Field = "blocked"
	Enabled     Field = "enabled"
	Kind        Field = "recipient_type"
	Aliases     Field = "aliases"
)

// Fields lists all fields.
var Fields = []Field{Address, SignIn, LocalPart, Domain, FirstName, LastName, DisplayName, Status, Blocked, Enabled, Kind, Aliases}

// header is the row that names the columns.
type header struct {
	separator rune
	// record counts the rows above the header, and line is its line in the content.
	record, line int
	cells        []string
	// index contains the columns of each field, the preferred ones first.
	index map[Field][]int
	// street is the column with the header "address", or -1. A cell of it is a mail address if it contains an @,
	// because Microsoft's template for new users has streets there.
	street int
	// otherMail are the columns of unknown meaning whose header contains a word for mail.
	otherMail []int
}

func newHeader(cells []string, named map[Field]string) header {
	h := header{cells: cells, index: map[Field][]int{}, street: -1}
	keys := keysOf(cells)
	for _, field := range Fields {
		found := keys.columns(field)
		if name := named[field]; name != "" {
			found = nil
			if i := slices.IndexFunc(cells, func(cell string) bool { return strings.EqualFold(clean(cell), clean(name)) }); i >= 0 {
				found = []int{i}
			}
		}
		if found != nil {
			h.index[field] = found
		}
	}
	h.resolve(keys)
	return h
}

// resolve assigns the columns whose meaning depends on the others: a bare name completes a first name or a last
// name, and a "state" is a status if there is no other one.
func (h *header) resolve(keys headerKeys) {
	if found := keys.columns(bareName); found != nil {
		field := DisplayName
		if h.has(FirstName) != h.has(LastName) {
			field = FirstName
			if h.has(FirstName) {
				field = LastName
			}
		}
		if !h.has(field) {
			h.index[field] = found
		}
	}
	if found := keys.columns(bareStatus); found != nil && !h.hasStatus() {
		h.index[Status] = found
	}
	if found := keys.columns(bareAddr); found != nil && !slices.Contains(h.index[Address], found[0]) {
		h.street = found[0]
	}
	if found := keys.columns(deletion); found != nil {
		h.index[deletion] = found
	}
	for i, cell := range h.cells {
		if isAboutMail(cell) && i != h.street && !slices.ContainsFunc(Fields, func(f Field) bool { return slices.Contains(h.index[f], i) }) {
			h.otherMail = append(h.otherMail, i)
		}
	}
}

func (h *header) has(field Field) bool { return h.index[field] != nil }

func (h *header) hasStatus() bool { return h.has(Status) || h.has(Blocked) || h.has(Enabled) }

func (h *header) String() string {
	var headers []string
	for _, cell := range h.cells {
		if cell = clean(cell); cell != "" {
			headers = append(headers, fmt.Sprintf("%.60q", cell))
		}
	}
	return "its columns are " + strings.Join(headers, ", ")
}

// MissingColumnError reports a header that lacks columns for fields.
type MissingColumnError struct {
	Fields []Field
	header *header
}

func (e *MissingColumnError) Error() string {
	lacks := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lacks[i] = map[Field]string{
			Address:   `the address (such as "Email Address", "User principal name", "address" or "local_part")`,
			Domain:    `the domain, which local parts need unless you choose one domain`,
			FirstName: `the first name (such as "First Name" or "first_name")`,
			LastName:  `the last name (such as "Last Name" or "last_name")`,
			Status:    `the status (such as "Status", "suspended", "Block credential" or "accountEnabled")`,
		}[f]
	}
	place := "the first row"
	if e.header.record > 0 {
		place = fmt.Sprintf("line %d", e.header.line)
	}
	return fmt.Sprintf("%s has no column with %s; %s", place, strings.Join(lacks, ", nor with "), e.header)
}

// rowsAboveHeader limits the rows above the header, such as a title or PowerShell's "#TYPE …".
const rowsAboveHeader = 5

// findHeader finds the header with the separator that yields the most known columns: the first row that suffices
// for mailboxes, else the one with the most known columns.
func findHeader(body string, separators []rune, o Options) (*header, error) {
	var best *header
	complete := false
	for _, separator := range separators {
		reader := newReader(body, separator)
		for record := 0; record <= rowsAboveHeader; record++ {
			cells, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				continue
			}
			h := newHeader(cells, o.Columns)
			h.separator, h.record = separator, record
			h.line, _ = reader.FieldPos(0)
			suffices := h.checkNamed(o.Columns) == nil && h.check(o) == nil
			if best == nil || suffices && !complete || suffices == complete && h.betterThan(best, complete) {
				best, complete = &h, suffices
			}
		}
	}
	if best == nil {
		return nil, cmp.Or(otherFormat(body, nil), errors.New("the first rows can't be read as CSV, because of their quotation marks; save the file as CSV in a spreadsheet"))
	}
	if err := best.checkNamed(o.Columns); err != nil {
		return best, err
	}
	if err := best.check(o); err != nil {
		return best, cmp.Or(otherFormat(body, best), err)
	}
	return best, nil
}

// otherFormats maps the beginnings of files that are no CSV to advice.
var otherFormats = []struct {
	beginning *regexp.Regexp
	advice    string
}{
	{regexp.MustCompile(`^$`), "the file is empty; its first row must name the columns"},
	{regexp.MustCompile(`^[\[{]`), "the file seems to be JSON, not CSV; export the list as CSV, or convert it, for instance in PowerShell with (Get-Content FILE -Raw | ConvertFrom-Json) | Export-Csv users.csv -Encoding utf8"},
	{regexp.MustCompile(`(?i)^<`), "the file seems to be HTML or XML, not CSV, even if its name ends in .csv or .xls; open it in a spreadsheet, and save it as CSV"},
	{regexp.MustCompile(`(?i)^BEGIN:V?CARD`), "the file seems to contain contacts (vCard), not CSV; import it into an address book that can export CSV"},
	{regexp.MustCompile(`(?i)^(version:\s*1\s+)?(#.*\s+)*dn::?\s`), "the file seems to be LDIF, not CSV; export the list as CSV, for instance from Active Directory with csvde or with Get-ADUser and Export-Csv"},
	{regexp.MustCompile(`^.*\n?.*\n[-+=|: ]*---[-+=|: ]*\n`), "the file seems to be a table for the screen, not CSV; export the list as CSV, in PowerShell with Export-Csv in place of Format-Table"},
	{regexp.MustCompile(`(?i)^\w+ +: .*\n\w+ +: `), "the file seems to be a list for the screen, not CSV; export the list as CSV, in PowerShell with Export-Csv in place of Format-List"},
}

// otherFormat returns an error that explains a file without a usable header, or nil. The header is the best one found.
func otherFormat(body string, h *header) error {
	for _, f := range otherFormats {
		if f.beginning.MatchString(strings.TrimSpace(body)) {
			return errors.New(f.advice)
		}
	}
	switch {
	case h == nil:
		return nil
	case slices.ContainsFunc(h.cells, func(cell string) bool { _, err := emailaddr.Parse(clean(cell)); return err == nil }):
		return errors.New("the file seems to have no header, because its first row contains an address; insert a row that names the columns, such as address,first_name,last_name")
	case len(h.cells) == 1 && strings.ContainsAny(h.cells[0], ",;\t") && strings.Contains(body, "\""+h.cells[0]+"\"\n"):
		return errors.New("the rows of the file are in quotation marks as a whole, and so each is one cell; remove the marks at the beginning and end of each row, and make doubled marks single")
	}
	return nil
}

func (h *header) betterThan(other *header, complete bool) bool {
	switch known, others := len(h.index), len(other.index); {
	case complete && h.record != other.record:
		return h.record < other.record
	case known != others:
		return known > others
	default:
		return known == 0 && len(h.cells) > len(other.cells)
	}
}

// checkNamed returns an error if a column that the caller named is missing.
func (h *header) checkNamed(named map[Field]string) error {
	for _, field := range Fields {
		if name := named[field]; name != "" && !h.has(field) {
			return fmt.Errorf("the file has no column %q for the %s; %s", name, field, h)
		}
	}
	return nil
}

// check returns an error if rows below this header can't become mailboxes.
func (h *header) check(o Options) error {
	var missing []Field
	switch {
	case h.has(Address), h.has(SignIn), h.street >= 0:
	case h.has(LocalPart):
		if !h.has(Domain) && len(o.Domains) != 1 {
			missing = append(missing, Domain)
		}
	case !h.has(Aliases): // which may contain the primary address
		missing = append(missing, Address)
	}
	for _, name := range []Field{FirstName, LastName} {
		if !h.has(name) && !h.has(DisplayName) {
			missing = append(missing, name)
		}
	}
	if o.ActiveOnly && missing == nil && !h.hasStatus() {
		missing = append(missing, Status)
	}
	if missing == nil {
		return nil
	}
	return &MissingColumnError{missing, h}
}

// used returns the headers of each field, as spelled in the file.
func (h *header) used() map[Field]string {
	used := map[Field]string{}
	for _, field := range Fields {
		var headers []string
		for _, i := range h.index[field] {
			headers = append(headers, clean(h.cells[i]))
		}
		if field == Address && h.street >= 0 && !h.has(Address) && !h.has(SignIn) {
			headers = append(headers, clean(h.cells[h.street]))
		}
		if headers != nil {
			used[field] = strings.Join(headers, ", ")
		}
	}
	return used
}
