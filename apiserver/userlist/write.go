package userlist

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteCSV writes users of one domain as csvdecode reads them: in UTF-8, separated by
// commas, with the columns local_part, first_name and last_name.
func WriteCSV(w io.Writer, users []User) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"local_part", "first_name", "last_name"}) // Flush keeps the error
	for _, u := range users {
		_ = out.Write([]string{u.Address.Local, u.FirstName, u.LastName})
	}
	out.Flush()
	return out.Error()
}

// ResourceName returns the name of a domain's resource in a configuration: example.com
// is example_com.
func ResourceName(domain string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' {
			return r
		}
		return '_'
	}, domain)
	if unicode.IsDigit([]rune(name)[0]) {
		name = "_" + name
	}
	return name
}

// WriteConfiguration writes the mailbox set of a domain, which reads its mailboxes from a
// CSV file in the folder of the configuration.
func WriteConfiguration(w io.Writer, domain, csvName string) error {
	_, err := fmt.Fprintf(w, `resource "mailhost_mailbox_set" %q {
  # If this configuration has a mailhost_domain for it, write its name here, for instance
  # mailhost_domain.main.name, so that the domain is there first.
  domain = %q

  mailboxes = {
    for p in csvdecode(file("${path.module}/%s")) :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
`, ResourceName(domain), domain, csvName)
	return err
}
