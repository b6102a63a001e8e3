package modeltest

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// exportMailboxes exports some mailboxes, or all.
func (m *machine) exportMailboxes() {
	body := obj{}
	if draw(m, "of a domain", false, true) {
		body["domain"] = m.domainRef("domain")
	}
	if draw(m, "of a choice", false, true) {
		var refs []string
		for range draw(m, "mailboxes", 1, 2, 3) {
			refs = append(refs, m.mailboxRef())
		}
		body["mailboxes"] = refs
	}
	m.export(m.caller(), body)
}

// export sends an export request and compares the rows.
func (m *machine) export(who *caller, body obj) {
	m.do(who, operation{
		method: "POST", path: "/mailboxes/export", body: body, capability: "mailbox.export", narrowable: true, reads: true,
		then: func(who *caller) want {
			rows, unknown := m.exportRows(m.reach(who, "mailbox.export"), body)
			if len(unknown) > 0 {
				return unprocessable(unknown...)
			}
			return want{status: 200, header: map[string]string{
				"Content-Type":        "text/csv; charset=utf-8",
				"Content-Disposition": fmt.Sprintf(`attachment; filename="mailboxes-%s.csv"`, m.now().Format("2006-01-02")),
			}, check: func(a *response) []string { return rowDifferences(rows, a.raw) }}
		},
	})
}

func (m *machine) exportRows(r reach, body obj) (rows [][]string, unknown []problem) {
	var in *domain
	if ref, given := body["domain"].(string); given {
		if in = m.seenDomain(r, ref); in == nil {
			unknown = append(unknown, wrong("body.domain"))
		}
	}
	refs, chosen := body["mailboxes"].([]string)
	var choice []*mailbox
	for i, ref := range refs {
		b := m.seenMailbox(r, ref)
		if b == nil || in != nil && b.domain != in {
			unknown = append(unknown, wrong("body.mailboxes."+strconv.Itoa(i)))
		}
		choice = append(choice, b)
	}
	rows = [][]string{{"id", "primary_email", "first_name", "last_name", "domain_name", "status", "quota_allowed", "quota_used", "workspace_name", "created_at"}}
	for _, b := range m.mailboxes {
		if !r.domain(b.domain) || in != nil && b.domain != in || chosen && !slices.Contains(choice, b) {
			continue
		}
		row := []string{
			b.id, b.address(), b.first, b.last, b.domain.name, m.mailboxStatus(b),
			strconv.Itoa(mailboxQuota), "0", b.domain.workspace.name, stamp(b.created),
		}
		for i, cell := range row {
			row[i] = formula.ReplaceAllString(cell, "$1'$2")
		}
		rows = append(rows, row)
	}
	return rows, unknown
}

// formula matches a text that a spreadsheet would execute as a formula, with any
// separator.
var formula = regexp.MustCompile(`(^|[,;|])([ "]*[=+\-@])`)

// rowDifferences compares the rows of CSV (RFC 4180). A line break within a cell is
// read as a single newline.
func rowDifferences(rows [][]string, raw []byte) (found []string) {
	if strings.Count(string(raw), "\r\n") < len(rows) {
		found = append(found, "the rows don't end in CRLF")
	}
	got, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
	if err != nil {
		return append(found, "the response is not CSV: "+err.Error())
	}
	for i := range max(len(got), len(rows)) {
		switch {
		case i >= len(got):
			found = append(found, fmt.Sprintf("the row %d is missing: %q", i, rows[i]))
		case i >= len(rows):
			found = append(found, fmt.Sprintf("the row %d should not be there: %q", i, got[i]))
		default:
			want := slices.Clone(rows[i])
			for j := range want {
				want[j] = strings.ReplaceAll(want[j], "\r\n", "\n")
			}
			if !slices.Equal(got[i], want) {
				found = append(found, fmt.Sprintf("the row %d is %q; want %q", i, got[i], want))
			}
		}
	}
	return found
}
