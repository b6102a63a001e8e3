package console

import (
	"bytes"
	"cmp"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// view is the response to a browser: a page, or a redirect to one.
type view struct {
	Status   int // 0: 200
	Template string
	Title    string
	// Up is the page above the page of one object.
	Up   link
	Data any
	// Notice confirms an action of the visitor.
	Notice string
	// RedirectTo is a path of the console, with a query.
	RedirectTo string

	// The following are set for every page.
	Session *identity.Session
	Names   names
	Path    string
	Query   url.Values
	Base    string
}

type link struct{ Path, Text string }

// section is a page in the navigation.
type section struct {
	link
	page page
}

func sections() []section {
	return []section{
		{link{"", "Overview"}, overview}, {link{"/domains", "Domains"}, listDomains}, {link{"/mailboxes", "Mailboxes"}, listMailboxes},
		{link{"/forwarding", "Forwarding"}, listForwarding}, {link{"/dedicated-ips", "Dedicated IPs"}, listDedicatedIPs}, {link{"/tokens", "Tokens"}, listTokens},
		{link{"/grants", "Grants"}, listGrants}, {link{"/audit-log", "Audit log"}, listAuditLog}, {link{"/requests", "Requests"}, listRequests},
	}
}

func (view) Navigation() []section { return sections() }

// Current returns "page" for the current page of the navigation, "true" for the section of the current page, or "".
func (o view) Current(l section) string {
	switch p := Path + l.Path; {
	case o.Path == p:
		return "page"
	case l.Path != "" && strings.HasPrefix(o.Path, p+"/"):
		return "true"
	}
	return ""
}

// notices confirm actions, by the parameter done of the next page.
var notices = map[string]string{
	"resent":        "A new verification message is on its way. The link before it no longer works.",
	"token-revoked": "The token is revoked and no longer works.",
	"grant-revoked": "The grant is revoked.",
}

// templates contains the pages by file name.
var templates = readTemplates()

func readTemplates() map[string]*template.Template {
	pages := map[string]*template.Template{}
	names, _ := fs.Glob(files, "template/*.html") // the pattern is valid
	shared := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "template/layout.html", "template/parts.html"))
	for _, name := range names {
		pages[path.Base(name)] = template.Must(template.Must(shared.Clone()).ParseFS(files, name))
	}
	return pages
}

// write writes a page with caching disabled.
func (c *Console) write(w http.ResponseWriter, r *http.Request, o view) {
	if o.RedirectTo != "" {
		c.redirect(w, r, o.RedirectTo)
		return
	}
	o.Base = c.base
	if o.Notice == "" && r.Method == http.MethodGet {
		o.Notice = notices[r.URL.Query().Get("done")]
	}
	var page bytes.Buffer
	status := cmp.Or(o.Status, http.StatusOK)
	if err := templates[o.Template].Execute(&page, o); err != nil {
		c.log.Error("page failed", "request_id", requestID(r), "page", o.Template, "error", err)
		http.Error(w, "Something went wrong. Please try again in a moment.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the browser closed the connection
}

func (c *Console) errorView(r *http.Request, err error) view {
	f := failureOf(err)
	if f.Status == http.StatusInternalServerError && r.Context().Err() == nil {
		c.log.Error("page failed", "request_id", requestID(r), "error", err)
	}
	return view{Status: f.Status, Template: "error.html", Title: cmp.Or(f.Title, "Something went wrong"), Data: map[string]string{"Message": f.Message, "RequestID": requestID(r)}}
}

var functions = template.FuncMap{
	"time": func(v any) template.HTML { // nil is never
		t, ok := timeOf(v)
		if !ok {
			return ""
		}
		return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04") + `</time>`) //nolint:gosec // digits alone
	},
	"second":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"value":   api.Value[string],
	"number":  number,
	"bytes":   func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) },
	"words":   words,
	"state":   stateOf,
	"kind":    kindOf,
	"check":   func(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "_", "-")) },
	"ms":      func(d time.Duration) string { return humanize.CommafWithDigits(d.Seconds()*1000, 1) },
	"segment": url.PathEscape,
	"short":   func(id string) string { return id[:min(len(id), 8)] },
	"query":   queryOf,
	"columns": func(names ...string) []string { return names },
	"groups":  apiclient.GroupChanges,
	"quote":   strconv.Quote,
	"quoteID": apiclient.QuoteID,
	"author":  authorOf,
	"sender":  senderOf,
	"visitor": visitorOf,
	"pairs":   apiclient.Pairs,
}

// queryOf returns a query of alternating names and values. It omits empty values.
func queryOf(pairs ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	return strings.TrimSuffix("?"+q.Encode(), "?")
}

// timeOf parses a timestamp of the API, which may be null.
func timeOf(v any) (time.Time, bool) {
	var text string
	switch v := v.(type) {
	case time.Time:
		return v.UTC(), !v.IsZero()
	case string:
		text = v
	case *string:
		text = api.Value(v)
	}
	t, err := time.Parse(api.TimestampLayout, text)
	return t, err == nil
}

func number(n int) string { return humanize.Comma(int64(n)) }

// words returns a value of the API as words, such as "Service account" for service_account.
func words(s string) string {
	return sentenceCase(strings.ReplaceAll(s, "_", " "))
}

// kindOf returns the kind of an object in the audit log as words.
func kindOf(typ string) string {
	if typ == "authorization" { // the pages call it a grant
		return "grant"
	}
	return strings.NewReplacer("_ip", " IP", "dns", "DNS", "_", " ").Replace(typ)
}

func sentenceCase(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// sentence returns a message of the API as a sentence.
func sentence(s string) string {
	if s = sentenceCase(s); s != "" && !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}

// stateOf returns the class of a status: good, wait, bad or off.
func stateOf(status string) string {
	switch status {
	case "active", "verified", "internal", "ok", "owner":
		return "good"
	case "pending", "pending_payment", "provisioning", "paused", "pending_cancellation", "warning":
		return "wait"
	case "failed", "expired", "missing", "cancelled":
		return "bad"
	}
	return "off"
}

const rowsPerPage = 50

// listPage is a page of a list, with a filter by Statuses.
type listPage[Row any] struct {
	Rows     []Row
	Pager    pager
	Statuses []string
}

// listView returns the view for a page of a list, or the error of the read. row converts an object for the page.
func listView[Item, Row any](v *visit, template, title string, list *api.Page[Item], err error, row func(Item) Row, statuses ...string) (view, error) {
	if err != nil {
		return view{}, err
	}
	p := listPage[Row]{Pager: pagerOf(v, *list), Statuses: statuses}
	for _, item := range list.Items {
		p.Rows = append(p.Rows, row(item))
	}
	return view{Template: template, Title: title, Data: p}, nil
}

// same is the row function for pages that show the objects unchanged.
func same[Item any](item Item) Item { return item }

// pager is the position in a paged list.
type pager struct {
	Page, Total     int
	pageSize, shown int
	query           url.Values
}

// pagerOf returns the position of a page in its list.
func pagerOf[T any](v *visit, p api.Page[T]) pager {
	query := v.URL.Query()
	query.Del("done")
	return pager{p.Page, p.Total, p.PageSize, len(p.Items), query}
}

func (p pager) Last() int { return max(1, (p.Total+p.pageSize-1)/p.pageSize) }

func (p pager) From() int { return (p.Page-1)*p.pageSize + 1 }

func (p pager) To() int { return p.From() + p.shown - 1 }

// Previous returns the number of the previous page, or of the last page if the current one is beyond it.
func (p pager) Previous() int { return min(p.Page-1, p.Last()) }

func (p pager) Next() int { return p.Page + 1 }

// Link returns the query of another page of the list.
func (p pager) Link(n int) string {
	q := maps.Clone(p.query)
	q.Set("page", strconv.Itoa(n))
	return "?" + q.Encode()
}
