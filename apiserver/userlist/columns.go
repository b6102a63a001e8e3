package userlist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Field is the meaning of a column.
type Field string

// The fields, in the order of messages.
const (
	Address     Field = "address"
	LocalPart   Field = "local_part"
	Domain      Field = "domain"
	FirstName   Field = "first_name"
	LastName    Field = "last_name"
	DisplayName Field = "display_name"
	Status      Field = "status"
	Blocked     Field = "blocked"
	Enabled     Field = "enabled"
	Aliases     Field = "aliases"
)

// Fields lists all fields.
var Fields = []Field{Address, LocalPart, Domain, FirstName, LastName, DisplayName, Status, Blocked, Enabled, Aliases}

// usualHeaders lists the headers of a field in the form of key, the preferred header first:
// Microsoft's template for new users contains a user name and a street address, and both match the
// field address.
var usualHeaders = map[Field][]string{
	Address:     {"emailaddress", "primaryemail", "userprincipalname", "username", "email", "mail", "address"},
	LocalPart:   {"localpart"},
	Domain:      {"domain", "domainname"},
	FirstName:   {"firstname", "givenname"},
	LastName:    {"lastname", "surname", "familyname"},
	DisplayName: {"displayname", "fullname", "name"},
	Status:      {"status"},
	Blocked:     {"blockcredential"},
	Enabled:     {"accountenabled"},
	Aliases:     {"proxyaddresses", "aliases"},
}

// key returns a header without case, spaces and punctuation, and without Google Workspace's
// addition in brackets: "First Name [Required]" is "firstname".
func key(header string) string {
	header, _, _ = strings.Cut(header, "[")
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, header)
}

type header struct {
	separator rune
	cells     []string
	index     map[Field]int
}

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
		}[f]
	}
	return fmt.Sprintf("the first row has no column with %s; %s", strings.Join(lacks, ", nor with "), e.header)
}

// findHeader reads the first row with the separator that yields the most known columns.
func findHeader(body string, separators []rune, named map[Field]string) (best header, err error) {
	for _, separator := range separators {
		cells, readErr := newReader(body, separator).Read()
		if readErr != nil {
			continue
		}
		h := header{separator: separator, cells: cells, index: map[Field]int{}}
		for _, field := range Fields {
			if i := h.find(field, named[field]); i >= 0 {
				h.index[field] = i
			}
		}
		if best.cells == nil || len(h.index) > len(best.index) || len(best.index) == 0 && len(cells) > len(best.cells) {
			best = h
		}
	}
	for _, field := range Fields {
		if name := named[field]; name != "" && !best.has(field) {
			return best, fmt.Errorf("the file has no column %q for the %s; %s", name, field, &best)
		}
	}
	return best, nil
}

func (h *header) find(field Field, named string) int {
	if named != "" {
		return slices.IndexFunc(h.cells, func(cell string) bool { return strings.EqualFold(clean(cell), clean(named)) })
	}
	for _, usual := range usualHeaders[field] {
		if i := slices.IndexFunc(h.cells, func(cell string) bool { return key(cell) == usual }); i >= 0 {
			return i
		}
	}
	return -1
}

func (h *header) has(field Field) bool {
	_, ok := h.index[field]
	return ok
}

// check returns an error if rows below this header can't become mailboxes.
func (h *header) check(domains []string) error {
	if !slices.ContainsFunc(h.cells, func(cell string) bool { return clean(cell) != "" }) {
		return errors.New("the file is empty; its first row must name the columns")
	}
	var missing []Field
	switch {
	case h.has(Address):
	case !h.has(LocalPart):
		missing = append(missing, Address)
	case !h.has(Domain) && len(domains) != 1:
		missing = append(missing, Domain)
	}
	for _, name := range []Field{FirstName, LastName} {
		if !h.has(name) && !h.has(DisplayName) {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	return &MissingColumnError{missing, h}
}

func (h *header) used() map[Field]string {
	columns := map[Field]string{}
	for field, i := range h.index {
		columns[field] = clean(h.cells[i])
	}
	return columns
}
