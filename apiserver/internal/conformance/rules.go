package conformance

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// This file contains the rules for successful responses that a schema can't express.

func (c *comparison) rules(value any) {
	response, _ := value.(object)
	if c.operation.ID == api.CreateMailboxes.ID {
		c.bulk(response)
	}
	c.objects(value)
	if page, ok := value.(object); ok && isPaged(c.operation) {
		c.page(page)
	}
	c.filters(Items(value))
	switch c.operation.ID {
	case api.PurchaseDomains.ID:
		c.purchase(response)
	case api.CreateMasterPassword.ID, api.CreateServiceAccount.ID:
		c.secret(response)
	}
}

func isPaged(s api.Spec) bool {
	_, ok := s.Request.FieldByName("PageSize")
	return ok
}

// Items returns the objects of a page or of a list without pages, or nil.
func Items(value any) (objects []map[string]any) {
	list, ok := value.([]any)
	if page, paged := value.(object); paged {
		list, ok = page["items"].([]any)
	}
	if !ok {
		return nil
	}
	for _, element := range list {
		if o, ok := element.(object); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// number returns a whole number of a body, or false.
func number(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// parameter returns the number of a query parameter, or its default.
func (c *comparison) parameter(name string, byDefault int64) (n int64, ok bool) {
	values := c.Request.URL.Query()[name]
	switch len(values) {
	case 0:
		return byDefault, true
	case 1:
		n, err := strconv.ParseInt(values[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}

// The defaults of the parameters of a page.
var (
	defaultPage, _     = strconv.ParseInt(api.FieldOf[api.Paged]("page").Default, 10, 64)
	defaultPageSize, _ = strconv.ParseInt(api.FieldOf[api.Paged]("page_size").Default, 10, 64)
)

// page checks that the numbers of a page agree with the request and with its items.
func (c *comparison) page(p object) {
	list, ok := p["items"].([]any)
	if !ok {
		return // the schema reports it
	}
	isOnce := c.order(Items(p))
	page, pageOK := c.paging(p, "page", defaultPage)
	size, sizeOK := c.paging(p, "page_size", defaultPageSize)
	total, totalOK := number(p["total"])
	if !isOnce || !pageOK || !sizeOK || !totalOK {
		return
	}
	n := int64(len(list))
	expected := int64(0)
	if size > 0 && page > 0 && page-1 <= total/size { // a later page would overflow
		expected = min(max(total-(page-1)*size, 0), size)
	}
	switch {
	case n > size:
		c.differ(inBody+" /items", "at most page_size objects", "more")
	case n != expected:
		c.contradict("/total", "the number of all objects of the list", fmt.Sprintf("%d with %d on page %d of size %d", total, n, page, size))
	}
}

// paging returns a number of a page, if it is the requested one.
func (c *comparison) paging(p object, name string, byDefault int64) (n int64, ok bool) {
	n, ok = number(p[name])
	if want, known := c.parameter(name, byDefault); ok && known && n != want {
		c.contradict("/"+name, "the requested "+name, fmt.Sprintf("%d for %s %d", n, name, want))
		return n, false
	}
	return n, ok
}

// order checks that a page contains each object once, by the time of creation and then by the id. It compares
// times only if all of them have the contract's form.
func (c *comparison) order(objects []object) (isOnce bool) {
	seen := map[string]bool{}
	before := ""
	times, ordered := true, true
	for _, o := range objects {
		id := fmt.Sprint(o["id"])
		if o["id"] != nil && seen[id] {
			c.contradict("/items/*/id", "each object once", "an object twice on a page")
			return false
		}
		seen[id] = true
		created, _ := o["created_at"].(string)
		_, err := time.Parse(api.TimestampLayout, created)
		times = times && err == nil
		ordered = ordered && before <= created+id // a time in this form sorts as text
		before = created + id
	}
	if times && !ordered {
		c.differ(inBody+" /items", "the order of created_at", "another order")
	}
	return true
}

// filters checks that each object of a list matches the request's filters. A filter does not match an object
// because of another difference in a member either.
func (c *comparison) filters(objects []object) {
	query := c.Request.URL.Query()
	for _, f := range api.FieldsOf(c.operation.Request) {
		want := query.Get(f.Name)
		if f.In != "query" || f.Name == "page" || f.Name == "page_size" || len(query[f.Name]) > 1 || want == "" && f.Default == "" {
			continue
		}
		mismatches := func(o object) bool { matches, known := Matches(o, f, want); return known && !matches }
		if slices.ContainsFunc(objects, mismatches) && !c.hidesMatch(f.Name) {
			c.differ(inBody+" /items", "objects that match the filter "+f.Name, "others too")
		}
	}
}

// hidesMatch reports whether a difference in an object may be the reason why it does not match a filter.
func (c *comparison) hidesMatch(filter string) bool {
	members := []string{filter}
	switch filter {
	case "domain":
		members = []string{"domain_id", "domain_name", "primary_email", "scope_id", "scope_type"}
	case "workspace_id":
		members = append(members, "scope_id", "scope_type")
	case "include_revoked":
		members = []string{"revoked_at"}
	case "tag":
		members = []string{"tags"}
	case "search":
		members = []string{"name", "target_email", "primary_email", "first_name", "last_name"}
	}
	return slices.ContainsFunc(members, func(m string) bool { return c.differsIn("/items/*/"+m, "/*/"+m) })
}

// Matches reports whether an object matches a filter; known is false if only the host can know.
func Matches(o map[string]any, f *api.Field, want string) (matches, known bool) {
	switch f.Name {
	case "include_revoked":
		all, _ := strconv.ParseBool(want)
		return all || o["revoked_at"] == nil, true
	case "search":
		return contains(o, want)
	case "tag":
		tags, _ := o["tags"].([]any)
		return slices.ContainsFunc(tags, func(tag any) bool {
			t, _ := tag.(object)
			return strings.EqualFold(fmt.Sprint(t["id"]), want) || strings.EqualFold(fmt.Sprint(t["name"]), want)
		}), true
	case "name": // with a dot, it may be absolute
		name, _ := o["name"].(string)
		return dnsdata.EqualNames(name, want, ""), !strings.Contains(want, ".")
	case "domain":
		if scope, scoped := o["scope_type"]; scoped {
			return o["scope_id"] == strings.ToLower(want), scope != vocab.ScopeDomain || api.IsID(want)
		}
		name, isMailbox := o["domain_name"].(string)
		canonical, err := domainname.Normalize(want)
		return o["domain_id"] == strings.ToLower(want) || err == nil && canonical == name, isMailbox
	case "workspace_id":
		if scope, scoped := o["scope_type"]; scoped {
			return scope == vocab.ScopeWorkspace && o["scope_id"] == strings.ToLower(want), true
		}
	}
	value, exists := o[f.Name]
	text, isText := value.(string)
	isExact := f.Enum != nil || f.Format == "uuid" || slices.Contains([]string{"capability_key", "country_code", "subject_id", "type"}, f.Name)
	return isText && strings.EqualFold(text, want), exists && isExact
}

// contains reports whether a text member of an object contains a text. It is unknown for international
// text, which has several forms.
func contains(o object, text string) (contains, known bool) {
	isPlain := func(s string) bool {
		return !strings.Contains(s, "xn--") && !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	known = isPlain(text)
	text = strings.TrimSpace(text)
	members := slices.Collect(maps.Values(o))
	if o["first_name"] != nil {
		members = append(members, fmt.Sprint(o["first_name"], " ", o["last_name"]))
	}
	for _, member := range members {
		s, ok := member.(string)
		contains = contains || ok && strings.Contains(strings.ToLower(s), strings.ToLower(text))
		known = known && (!ok || isPlain(s))
	}
	return contains, known || contains
}

// requestBody returns the body of the request, or nil.
func (c *comparison) requestBody() object {
	value, _ := Decode(c.RequestBody)
	body, _ := value.(object)
	return body
}

// bulk checks that the two lists report each item of a bulk request once.
func (c *comparison) bulk(response object) {
	items, itemsOK := c.requestBody()["items"].([]any)
	created, createdOK := response["created"].([]any)
	failed, failedOK := response["failed"].([]any)
	if !itemsOK || !createdOK || !failedOK {
		return
	}
	reported := map[int64]int{}
	for _, item := range slices.Concat(created, failed) {
		o, _ := item.(object)
		i, ok := number(o["index"])
		if !ok || i < 0 {
			return // the schema reports it
		}
		reported[i]++
	}
	twice := slices.Max(append(slices.Collect(maps.Values(reported)), 0)) > 1
	for i := range int64(len(items)) {
		delete(reported, i)
	}
	var received string
	switch {
	case twice:
		received = "an item twice"
	case len(reported) > 0:
		received = "an index that no item has"
	case len(created)+len(failed) < len(items):
		received = "an item is missing"
	default:
		return
	}
	c.differ(inBody, "each item of the request once, by its index", received)
}

// purchase checks that a purchase reports each domain of the request, with its id or an error, and counts the results.
func (c *comparison) purchase(response object) {
	results, ok := response["results"].([]any)
	if !ok {
		return
	}
	if domains, ok := c.requestBody()["domains"].([]any); ok {
		if len(results) != len(domains) {
			c.contradict("/results", "a result for each domain of the request", "another number of results")
		} else {
			c.purchased(results, domains)
		}
	}
	failed, unpaid := int64(0), false
	for _, result := range results {
		o, _ := result.(object)
		c.consistent("/results/*", o)
		if o["status"] == api.PurchaseFailed {
			failed++
		} else if id, exists := o["id"]; exists && id == nil {
			c.contradict("/results/*/id", "the id of the domain", null, "/results/*/status")
		}
		name, _ := o["domain_name"].(string)
		if canonical, err := domainname.Normalize(name); err == nil && canonical != name && o["status"] != api.PurchaseFailed {
			c.contradict("/results/*/domain_name", patterns[hostName], otherText)
		}
		unpaid = unpaid || o["status"] == api.PurchasePendingPayment
	}
	if url, exists := response["payment_url"]; exists && url == nil && unpaid {
		c.contradict("/payment_url", "a URL, because a payment is pending", null)
	}
	for name, want := range map[string]int64{"failed_count": failed, "successful_count": int64(len(results)) - failed} {
		if n, ok := number(response[name]); ok && n != want {
			c.contradict("/"+name, "the number of such results", fmt.Sprintf("%d of %d", n, want), "/results")
		}
	}
}

// purchased checks that each domain of a purchase is in a result.
func (c *comparison) purchased(results, domains []any) {
	for _, domain := range domains {
		name, _ := domain.(string)
		if !slices.ContainsFunc(results, func(result any) bool {
			o, _ := result.(object)
			got, _ := o["domain_name"].(string)
			return domainname.Equal(got, name)
		}) {
			c.contradict("/results/*/domain_name", "each domain of the request", "another one")
			return
		}
	}
}

// secret checks that a generated secret is in the response if, and only if, the request asked for one, and
// that the parts of a token belong to it.
func (c *comparison) secret(response object) {
	secret, shown := response["generated_secret"]
	switch generate := c.requestBody()["generate"] == true; {
	case c.operation.ID != api.CreateMasterPassword.ID || c.requestBody() == nil:
	case shown && !generate:
		c.contradict("/generated_secret", "no such member, because the request generates no secret", "a member")
	case secret == nil && generate:
		c.contradict("/generated_secret", "a member, because the request generates a secret", "none")
	}
	token, _ := response["token"].(string)
	publicID, _ := response["token_public_id"].(string)
	if publicID == "" || !strings.Contains(token, publicID) {
		return // it is not the token, but redacted
	}
	c.agree("/token_prefix", "the beginning of the token", response["token_prefix"], func(beginning, token string) bool { return strings.HasPrefix(token, beginning) }, token)
	c.agree("/token_last4", "the end of the token", response["token_last4"], func(end, token string) bool { return strings.HasSuffix(token, end) }, token)
}

// csv checks a CSV file, of which the body may be only the beginning: the header line, and each whole row like a mailbox.
func (c *comparison) csv() {
	whole := c.Body[:bytes.LastIndexByte(c.Body, '\n')+1]
	file := csv.NewReader(bytes.NewReader(whole))
	columns, err := file.Read()
	if err != nil || !slices.Equal(columns, api.ExportColumns) {
		line, _, _ := bytes.Cut(whole, []byte("\n"))
		c.differ(inBody+", first line", strings.Join(api.ExportColumns, ","), firstLine(string(line)))
		return
	}
	if !utf8.Valid(whole) {
		c.differ(inBody, "text in UTF-8", "another encoding")
	}
	if !bytes.Contains(whole, []byte("\r\n")) {
		c.differ(inBody, "lines that end in CRLF (RFC 4180)", "other ends of lines")
	}
	domain, _ := c.requestBody()["domain"].(string)
	for {
		row, err := file.Read()
		if errors.Is(err, csv.ErrFieldCount) {
			c.differ(inBody, "a cell for each column", "another number of cells")
			return
		} else if errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote) {
			c.differ(inBody, "quotes around each cell with a quotation mark (RFC 4180)", "other quotes")
			return
		} else if err != nil {
			return // the end, maybe within a row
		}
		o := object{}
		for i, column := range columns {
			o[column] = row[i]
		}
		c.validate(theDocument().exported, o)
		c.consistent("", o)
		if domain != "" && !api.IsID(domain) {
			c.agree("/domain_name", "the domain of the request", o["domain_name"], domainname.Equal, domain)
		}
	}
}

// firstLine describes the first line of a CSV file with other columns.
func firstLine(line string) string {
	separators := map[string]string{";": "semicolons", "\t": "tabs", "|": "bars"}
	for separator, name := range separators {
		if strings.Count(line, separator) == len(api.ExportColumns)-1 {
			return name + " between the columns"
		}
	}
	if strings.HasPrefix(line, byteOrderMark) {
		return "a byte order mark"
	}
	return "other columns"
}
