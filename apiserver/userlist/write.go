package userlist

import (
	"encoding/csv"
	"io"
)

// WriteCSV writes users of one domain as Terraform's csvdecode reads them: in UTF-8,
// separated by commas, with the columns local_part, first_name and last_name.
func WriteCSV(w io.Writer, users []User) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"local_part", "first_name", "last_name"}) // Flush keeps the error
	for _, u := range users {
		_ = out.Write([]string{u.Address.Local, u.FirstName, u.LastName})
	}
	out.Flush()
	return out.Error()
}
