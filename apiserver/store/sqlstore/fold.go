package sqlstore

import (
	"errors"
	"fmt"
)

// fillFoldedNames migrates the search columns to the current form of searchText.
func fillFoldedNames(t *tx) error {
	one := func(fold func(string) string) func(row [4]string) string {
		return func(row [4]string) string { return fold(row[0]) }
	}
	for _, c := range []struct {
		table, column, query string
		form                 func(row [4]string) string
	}{
		{"workspaces", "folded_name", `SELECT t.id, t.folded_name, t.name, '', '', '' FROM workspaces t`, one(searchText)},
		{"master_passwords", "search_text", `SELECT t.id, t.search_text, t.name, '', '', '' FROM master_passwords t`, one(searchText)},
		{"forwarding_rules", "search_text", `SELECT t.id, t.search_text, t.target_email, '', '', '' FROM forwarding_rules t`, one(namesText)},
		{"domains", "search_text", `SELECT t.id, t.search_text, t.name, '', '', '' FROM domains t`, one(namesText)},
		{
			"mailboxes", "search_text",
			`SELECT t.id, t.search_text, t.local_part, d.name, t.first_name, t.last_name FROM mailboxes t JOIN domains d ON d.id = t.domain_id`,
			func(row [4]string) string {
				return namesText(row[0]+"@"+row[1]) + "\n" + searchText(row[2]+" "+row[3])
			},
		},
	} {
		if err := t.fillForms(c.table, c.column, c.query, c.form); err != nil {
			return fmt.Errorf("fold names in %s: %w", c.table, err)
		}
	}
	return nil
}

// fillForms sets a column to the form of four texts. The query returns the id, the
// column and the texts. It reads in chunks, and writes only rows that differ.
func (t *tx) fillForms(table, column, query string, form func([4]string) string) error {
	const chunk = 1000
	for last := ""; ; {
		rows, err := t.q.QueryContext(t.ctx, query+` WHERE t.id > $1 ORDER BY t.id LIMIT $2`, last, chunk)
		if err != nil {
			return err
		}
		n, changed := 0, map[string]string{}
		for rows.Next() {
			var now string
			var row [4]string
			if err := rows.Scan(&last, &now, &row[0], &row[1], &row[2], &row[3]); err != nil {
				return errors.Join(err, rows.Close())
			}
			if n++; form(row) != now {
				changed[last] = form(row)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		for id, text := range changed {
			if err := t.change(`UPDATE `+table+` SET `+column+` = $1 WHERE id = $2`, text, id); err != nil {
				return err
			}
		}
		if n < chunk {
			return nil
		}
	}
}
