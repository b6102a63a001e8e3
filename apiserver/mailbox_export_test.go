package apiserver_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// rows checks the header line of an export and returns the parsed rows after it.
func rows(t *testing.T, a *apitest.Response) [][]string {
	t.Helper()
	a.Want(200)
	const header = "id,primary_email,first_name,last_name,domain_name,status,quota_allowed,quota_used,workspace_name,created_at\r\n"
	if !strings.HasPrefix(string(a.Raw), header) {
		t.Fatalf("the export has another header line: %s", a)
	}
	all, err := csv.NewReader(strings.NewReader(string(a.Raw))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(a.Raw), "\r\n"); n < len(all) {
		t.Errorf("%d of %d lines end without a carriage return: %q", len(all)-n, len(all), a.Raw)
	}
	return all[1:]
}

func addresses(t *testing.T, a *apitest.Response) []string {
	t.Helper()
	out := []string{}
	for _, row := range rows(t, a) {
		out = append(out, row[1])
	}
	return out
}

func TestExport(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Domain("bücher.de")
	id := h.Mailbox("example.com", "jane")
	second := h.Mailbox("example.com", "joe")
	third := h.Mailbox("bücher.de", "anna")
	const jane, joe, anna = "jane@example.com", "joe@example.com", "anna@xn--bcher-kva.de"

	a := h.Post("/mailboxes/export", obj{})
	same(t, "row", rows(t, a)[0], []string{id, jane, "First", "Last", "example.com", "active", "10737418240", "0", "Default", "2026-03-14T15:09:26.535897Z"})
	for name, want := range map[string]string{
		"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="mailboxes-2026-03-14.csv"`,
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q; want %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		name string
		body obj
		want []string
	}{
		{"neither", obj{}, []string{jane, joe, anna}},
		{"both null", obj{"domain": nil, "mailboxes": nil}, []string{jane, joe, anna}},
		{"domain", obj{"domain": "EXAMPLE.com"}, []string{jane, joe}},
		{"domain by id", obj{"domain": h.Get("/domains/bücher.de").Str("id")}, []string{anna}},
		{"mailboxes", obj{"mailboxes": []string{third, "JANE@example.com"}}, []string{jane, anna}},
		{"the same twice", obj{"mailboxes": []string{id, jane}}, []string{jane}},
		{"both", obj{"domain": "example.com", "mailboxes": []string{second}}, []string{joe}},
	} {
		t.Run(tt.name, func(t *testing.T) { same(t, "rows", addresses(t, h.In(t).Post("/mailboxes/export", tt.body)), tt.want) })
	}
}

func TestExportOfUnknown(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Domain("example.net")
	id := h.Mailbox("example.com", "jane")
	h.Post("/mailboxes/export", obj{"domain": "nowhere.com"}).Refused(422, "body.domain value_error")
	h.Post("/mailboxes/export", obj{"mailboxes": []string{id, nobody, "x", "joe@example.com"}}).
		Refused(422, "body.mailboxes.1 value_error", "body.mailboxes.2 value_error", "body.mailboxes.3 value_error")
	h.Post("/mailboxes/export", obj{"domain": "example.net", "mailboxes": []string{"jane@example.com", nobody}}).
		Refused(422, "body.mailboxes.0 value_error", "body.mailboxes.1 value_error")
	h.Post("/mailboxes/export", obj{"domain": "nowhere.com", "mailboxes": []string{id, nobody}}).
		Refused(422, "body.domain value_error", "body.mailboxes.1 value_error")
	h.Post("/mailboxes/export", obj{"domain": 1, "mailboxes": []any{id, 2, nil}}).
		Refused(422, "body.domain string_type", "body.mailboxes.1 string_type", "body.mailboxes.2 string_type")
}

func TestExportNeutralisesFormulas(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	for i, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "a;=1", "a; @b", "＝1+1", "＠SUM(A1)", `a"b,c`, "plain", "'quoted", "a=b"} {
		h.Post("/mailboxes", obj{"domain": "example.com", "local_part": fmt.Sprint("u", i), "first_name": name, "last_name": "-x"}).Want(201)
	}
	h.Mailbox("example.com", "=cmd")
	var got []string
	for _, row := range rows(t, h.Post("/mailboxes/export", obj{})) {
		got = append(got, row[2])
		if row[1] == "=cmd@example.com" {
			t.Error("an address would be executed as a formula")
		}
		if row[2] != "First" && row[3] != "'-x" {
			t.Errorf("last name is %q", row[3])
		}
	}
	want := []string{"'=1+1", "'+1", "'-1", "'@SUM(A1)", "a;'=1", "a;' @b", "'＝1+1", "'＠SUM(A1)", `a"b,c`, "plain", "'quoted", "a=b", "First"}
	if !slices.Equal(got, want) {
		t.Errorf("first names are %q; want %q", got, want)
	}
}

func TestExportOfMany(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	var want []string
	for page := range 3 {
		items := make([]obj, 700)
		for i := range items {
			local := fmt.Sprintf("u%d-%d", page, i)
			items[i] = obj{"local_part": local, "first_name": "f", "last_name": "l"}
			want = append(want, local+"@example.com")
		}
		h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": items}).Want(200)
	}
	same(t, "rows", addresses(t, h.Post("/mailboxes/export", obj{})), want)
}
