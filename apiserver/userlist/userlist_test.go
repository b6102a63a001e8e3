package userlist_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

// google is the header of Google Workspace's export, with a few of its forty columns.
const google = "First Name [Required],Last Name [Required],Email Address [Required],Password [Required],Org Unit Path [Required],Status [READ ONLY],Work Address\n"

// describe returns one line for each user and problem in a list.
func describe(l *userlist.List) []string {
	var out []string
	for _, u := range l.Users {
		line := fmt.Sprintf("%d %s: %s|%s", u.Line, u.Address, u.FirstName, u.LastName)
		if u.Inactive {
			line += " inactive"
		}
		if u.Aliases > 0 {
			line += fmt.Sprintf(" +%d", u.Aliases)
		}
		if u.SignIn != "" {
			line += " signs in as " + u.SignIn
		}
		out = append(out, line)
	}
	for _, p := range l.Problems {
		out = append(out, p.String())
	}
	for _, name := range userlist.SortedDomains(l.OtherDomains) {
		out = append(out, fmt.Sprintf("other: %s %d", name, l.OtherDomains[name]))
	}
	return out
}

func TestParse(t *testing.T) {
	t.Parallel()
	example := userlist.Options{Domains: []string{"example.com"}}
	long := strings.Repeat("x", 101)
	for name, tc := range map[string]struct {
		text string
		o    userlist.Options
		want []string
	}{
		"Google Workspace": {
			text: google + "Jane,Doe,Jane.Doe@example.com,****,/Sales,Active,Street 1\nMax,Old,max@example.com,****,/,Suspended,\nX,Y,x@other.example,****,/,Active,\n",
			o:    example,
			want: []string{"2 jane.doe@example.com: Jane|Doe", "3 max@example.com: Max|Old inactive", "other: other.example 1"},
		},
		"Microsoft 365, with names in the display name only": {
			text: "Block credential,Display name,First name,Last name,Proxy addresses,User principal name\n" +
				"False,Jane Doe,Jane,Doe,SMTP:jane@example.com+smtp:jd@example.com+SPO:x,jane@example.com\nTrue,\"Roe, John M.\",,,,john@example.com\nFalse,Front Office Berlin,,,,office@example.com\n",
			want: []string{"2 jane@example.com: Jane|Doe +1", "3 john@example.com: John M.|Roe inactive", "4 office@example.com: Front Office|Berlin"},
		},
		"Microsoft's template, where Address is a street": {
			text: "User Name,First Name,Last Name,Display Name,Address\njane@example.com,Jane,Doe,Jane Doe,Street 1\n",
			want: []string{"2 jane@example.com: Jane|Doe"},
		},
		"Entra": {
			text: "userPrincipalName,displayName,surname,givenName,accountEnabled\njane@example.com,Jane,Doe,Jane,false\n",
			want: []string{"2 jane@example.com: Jane|Doe inactive"},
		},
		"local parts": {
			text: "local_part,first_name,last_name,address\njane,Jane,Doe,Street 1\n",
			o:    example,
			want: []string{"2 jane@example.com: Jane|Doe"},
		},
		"local parts and domains": {
			text: "local_part,domain,first_name,last_name\njane,Example.com,Jane,Doe\njane,example.org,Jane,Doe\n",
			want: []string{"2 jane@example.com: Jane|Doe", "3 jane@example.org: Jane|Doe"},
		},
		"the mailbox export of this product": {
			text: "id,primary_email,first_name,last_name,domain_name,status,quota_allowed,quota_used,workspace_name,created_at\r\n1,jane@example.com,Jane,Doe,example.com,active,1,0,Default,x\r\n",
			want: []string{"2 jane@example.com: Jane|Doe"},
		},
		"Excel: byte order mark, semicolons, CRLF, empty rows, spaces": {
			text: "\ufeffaddress;first_name;last_name\r\njane@example.com; Jane\u00a0;Doe\r\n;;\r\n\r\nzoe@example.com;\"Zoë; Anna\";Müller\r\n",
			want: []string{"2 jane@example.com: Jane|Doe", "5 zoe@example.com: Zoë; Anna|Müller"},
		},
		"Excel: sep= and tabs": {
			text: "sep=\t\r\naddress\tfirst_name\tlast_name\r\njane@example.com\tJane\tDoe\r\n\tJohn\tRoe\r\n",
			want: []string{"3 jane@example.com: Jane|Doe", "line 4 (row 3): has no address; fill it in, or remove the row"},
		},
		"line breaks of an old Mac": {
			text: "address,first_name,last_name\rjane@example.com,Jane,Doe\r",
			want: []string{"2 jane@example.com: Jane|Doe"},
		},
		"rows in quotation marks": {
			text: "address;first_name;last_name\n\"jane@example.com;Jane;Doe\"\n",
			want: []string{"line 2: the row is in quotation marks as a whole, and so it is one cell; remove the marks at its beginning and end, and make doubled marks single"},
		},
		"named columns": {
			text: "Benutzerprinzipalname;Vorname;Nachname\njane@example.com;Jane;Doe\n",
			o: userlist.Options{Columns: map[userlist.Field]string{
				userlist.Address: "benutzerprinzipalname", userlist.FirstName: "Vorname", userlist.LastName: "Nachname",
			}},
			want: []string{"2 jane@example.com: Jane|Doe"},
		},
		"one address twice, in another case": {
			text: "address,first_name,last_name\nJane@example.com,Jane,Doe\n\njane@EXAMPLE.com,Jane,Doe\n",
			want: []string{
				"2 jane@example.com: Jane|Doe",
				"line 4: jane@EXAMPLE.com: line 2 has this address already (upper and lower case are the same address); remove one of the two rows",
			},
		},
		"rows that can't become mailboxes": {
			text: "address,first_name,last_name\njane,Jane,Doe\njörg@example.com,Jörg,Doe\n,Jane,Doe\ninfo@example.com,Info,\nlong@example.com,Jane," + long + "\nbell@example.com,Ja\ane,Doe\nmany@example.com,Jane,Doe,Jr\n",
			want: []string{
				"line 2: jane: is not an address that a mailbox can have: address must contain an @, as in jane@example.com",
				"line 3: jörg@example.com: is not an address that a mailbox can have: local part must not contain 'ö'; only ASCII letters, digits and !#$%&'*+-/=?^_`{|}~ are allowed, with single dots between them",
				"line 4: has no address; fill it in, or remove the row",
				"line 5: info@example.com: the last name is empty, and a mailbox needs one; fill it in, for instance with the team's name",
				"line 6: long@example.com: the last name must have 1 to 100 characters; change it in the file",
				"line 7: bell@example.com: the first name must not contain a control character such as a line break or a tab; change it in the file",
				"line 8: many@example.com: the row has 4 cells and the header 3; put a cell that contains ',' in quotation marks",
			},
		},
		"line breaks in cells": {
			text: "address,first_name,last_name,note\njane@example.com,Jane,Doe,\"a\r\nb\nc\"\n\nno-at-sign,A,B,\nJane@example.com,Jane,\"Doe\",\nx@example.com,\"Max \"Q\" Old\",Doe,\nmax@example.com,,Doe,\n",
			want: []string{
				"2 jane@example.com: Jane|Doe",
				"line 6 (row 4): no-at-sign: is not an address that a mailbox can have: address must contain an @, as in jane@example.com",
				"line 7 (row 5): Jane@example.com: line 2 has this address already (upper and lower case are the same address); remove one of the two rows",
				`line 8 (row 6): a quotation mark in the middle of a cell; put the whole cell in quotation marks, and double those within it: "Bob ""Bobby"" Smith"`,
				"line 9 (row 7): max@example.com: the first name is empty, and a mailbox needs one; fill it in, for instance with the team's name",
			},
		},
		"decomposed characters, as macOS writes them": {
			text: "address,fu\u0308rst,last_name\njo@example.com,Jo\u0308rg,Cafe\u0301\n",
			o:    userlist.Options{Columns: map[userlist.Field]string{userlist.FirstName: "f\u00fcrst"}},
			want: []string{"2 jo@example.com: J\u00f6rg|Caf\u00e9"},
		},
		"invalid rows of other domains": {
			text: "address,first_name,last_name\nj\u00f6rg@Other.example,Jo,Doe\nj\u00f6rg@example.com,Jo,Doe\njane@exa mple.com,Jane,Doe\njane@other.example,Jane,Doe,Jr\n",
			o:    example,
			want: []string{
				"line 3: j\u00f6rg@example.com: is not an address that a mailbox can have: local part must not contain '\u00f6'; only ASCII letters, digits and !#$%&'*+-/=?^_`{|}~ are allowed, with single dots between them",
				"line 4: jane@exa mple.com: is not an address that a mailbox can have: invalid domain: label \"exa mple\" must not contain ' '; expected letters, digits and hyphens",
				"line 5: jane@other.example: the row has 4 cells and the header 3; put a cell that contains ',' in quotation marks",
				"other: other.example 1",
			},
		},
		"quotation marks": {
			text: "address,first_name,last_name\nbob@example.com,Bob \"Bobby\",Smith\nann@example.com,\"Ann\nMarie\",Lee\njane@example.com,\"Jane,Doe\njohn@example.com,John,Roe\n",
			want: []string{
				`line 2: a quotation mark in the middle of a cell; put the whole cell in quotation marks, and double those within it: "Bob ""Bobby"" Smith"`,
				"line 3: ann@example.com: the first name must not contain a control character such as a line break or a tab; change it in the file",
				"line 5 (row 4): a quotation mark opens a cell that nothing closes up to line 6, and the rows between are not read; close it",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := userlist.Parse(tc.text, tc.o)
			assert.NilError(t, err)
			if diff := cmp.Diff(tc.want, describe(l)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestActiveOnly(t *testing.T) {
	t.Parallel()
	l, err := userlist.Parse(google+"A,B,a@example.com,,,Suspended,\nC,D,c@example.com,,,Active,\n", userlist.Options{ActiveOnly: true})
	assert.Check(t, err == nil && len(l.Users) == 1 && len(l.Rejected) == 1 && l.Rejected[0].Address == "a@example.com" && l.Rejected[0].Cause == userlist.NotActive, "%+v, %v; want one user, and one left out", l, err)
}

func TestHeaderErrors(t *testing.T) {
	t.Parallel()
	const address = `the first row has no column with the address (such as "Email Address", "User principal name", "address" or "local_part")`
	for text, want := range map[string]string{
		"":                       "the file is empty; its first row must name the columns",
		"Adresse;Rufname\nx;y\n": address + `, nor with the first name (such as "First Name" or "first_name"), nor with the last name (such as "Last Name" or "last_name"); its columns are "Adresse", "Rufname"`,
		"[{\"mail\":\"a@example.com\",\"displayName\":\"A B\"}]":    "the file seems to be JSON, not CSV; export the list as CSV, or convert it, for instance in PowerShell with (Get-Content FILE -Raw | ConvertFrom-Json) | Export-Csv users.csv -Encoding utf8",
		"<table><tr><td>Email</td></tr></table>":                    "the file seems to be HTML or XML, not CSV, even if its name ends in .csv or .xls; open it in a spreadsheet, and save it as CSV",
		"BEGIN:VCARD\nFN:A B\nEMAIL:a@example.com\nEND:VCARD\n":     "the file seems to contain contacts (vCard), not CSV; import it into an address book that can export CSV",
		"dn: cn=a\nmail: a@example.com\n":                           "the file seems to be LDIF, not CSV; export the list as CSV, for instance from Active Directory with csvde or with Get-ADUser and Export-Csv",
		"version: 1\n\ndn: cn=a\nmail: a@example.com\n":             "the file seems to be LDIF, not CSV; export the list as CSV, for instance from Active Directory with csvde or with Get-ADUser and Export-Csv",
		"DisplayName Mail\n----------- ----\nA B         a@x.com\n": "the file seems to be a table for the screen, not CSV; export the list as CSV, in PowerShell with Export-Csv in place of Format-Table",
		"DisplayName : A B\nMail        : a@example.com\n":          "the file seems to be a list for the screen, not CSV; export the list as CSV, in PowerShell with Export-Csv in place of Format-List",
		"a@example.com,A,B\nb@example.com,C,D\n":                    "the file seems to have no header, because its first row contains an address; insert a row that names the columns, such as address,first_name,last_name",
		"\"address,first_name\"\n\"jane@example.com,Jane\"\n":       "the rows of the file are in quotation marks as a whole, and so each is one cell; remove the marks at the beginning and end of each row, and make doubled marks single",
		"say \"x\"\n":             "the first rows can't be read as CSV, because of their quotation marks; save the file as CSV in a spreadsheet",
		"local_part,name\n":       `the first row has no column with the domain, which local parts need unless you choose one domain; its columns are "local_part", "name"`,
		"Email,First Name\nx;y\n": `the first row has no column with the last name (such as "Last Name" or "last_name"); its columns are "Email", "First Name"`,
		"Jane Doe,name\n":         address + `; its columns are "Jane Doe", "name"`,
	} {
		_, err := userlist.Parse(text, userlist.Options{})
		assert.Check(t, err != nil && err.Error() == want, "%q: %v\nwant %s", text, err, want)
	}
	_, err := userlist.Parse("a,b\n", userlist.Options{Columns: map[userlist.Field]string{userlist.Address: "Mail"}})
	want := `the file has no column "Mail" for the address; its columns are "a", "b"`
	assert.Check(t, err != nil && err.Error() == want, "%v\nwant %s", err, want)
}

// FuzzParse checks that each row is a user, a problem, of another domain or left out, and that the written list of
// users parses to the same users.
func FuzzParse(f *testing.F) {
	f.Add(google + "Jane,Doe,jane@example.com,,,Suspended,\n,,x,,,,\n")
	f.Add("\ufeffaddress;first_name;last_name\r\njane@example.com;\"Ja\"\"ne\";Doe\r\n")
	f.Add("sep=|\nlocal_part|domain|name\na|b.example|Doe, Jane\nA|b.example|x\n")
	f.Add("#TYPE x\nmail,userPrincipalName,proxyAddresses,name,accountEnabled,RecipientTypeDetails\n,a_b.example#EXT#@x.example,SMTP:a@example.com+smtp:b@b.example,A B,no,MailUser\n")
	f.Add("EmailAddresses,objectClass,Mail of x,upn,name\n\"['smtp:a@example.com', 'b@b.example']\",top;user,m@example.com,u@example.com,A B\nSystem.String[],x,,u@example.com,C D\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, activeOnly := range []bool{true, false} {
			l, err := userlist.Parse(text, userlist.Options{Domains: []string{"example.com", "b.example"}, ActiveOnly: activeOnly})
			if err == nil {
				checkList(t, text, l)
			}
		}
	})
}

func checkList(t *testing.T, text string, l *userlist.List) {
	t.Helper()
	lines, counts := map[int]bool{}, map[userlist.Cause]int{}
	for _, p := range l.Problems {
		lines[p.Line] = true
	}
	for _, r := range l.Rejected {
		counts[r.Cause]++
	}
	counted := len(l.Users) + len(lines) + counts[userlist.NotActive] + counts[userlist.NoMailbox]
	for _, n := range l.OtherDomains {
		counted += n
	}
	assert.NilError(t, l.WriteRejected(io.Discard))
	assert.Check(t, counted == l.Rows && len(l.Users)+len(l.Rejected) == l.Rows, "%q has %d rows, of which %d are counted: %+v", text, l.Rows, counted, l)
	for domain, users := range l.ByDomain() {
		var file strings.Builder
		assert.NilError(t, userlist.WriteCSV(&file, users))
		second, err := userlist.Parse(file.String(), userlist.Options{Domains: []string{domain}})
		assert.Assert(t, err == nil && len(second.Users) == len(users) && len(second.Problems) == 0, "%q is written as %q, which reads as %+v, %v", text, file.String(), second, err)
		for i, u := range second.Users {
			assert.Check(t, u.Address == users[i].Address && u.FirstName == users[i].FirstName && u.LastName == users[i].LastName, "%+v is written and read as %+v", users[i], u)
		}
	}
}
