package conformance

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// This file contains the rules for successful responses that a schema can't express.

func (c *comparison) rules(value any) {
	if page, ok := value.(object); ok && isPaged(c.operation) {
		c.page(page)
	}
	c.filters(Items(value))
	switch c.operation.ID {
	case api.CreateMailboxes.ID:
		c.bulk(value)
	case api.PurchaseDomains.ID:
		c.purchase(value)
	case api.CreateMasterPassword.ID:
		c.secret(value)
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

// requested returns the number of a query parameter, or its default.
func (c *comparison) requested(name string, byDefault int64) (n int64, ok bool) {
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
	page, pageOK := number(p["page"])
	size, sizeOK := number(p["page_size"])
	total, totalOK := number(p["total"])
	list, listOK := p["items"].([]any)
	if !pageOK || !sizeOK || !totalOK || !listOK {
		return // the schema reports it
	}
	other := false
	if want, ok := c.requested("page", defaultPage); ok && page != want {
		other = true
		c.differ(inBody+" /page", "the requested page", fmt.Sprintf("%d for page %d", page, want))
	}
	if want, ok := c.requested("page_size", defaultPageSize); ok && size != want {
		other = true
		c.differ(inBody+" /page_size", "the requested page_size", fmt.Sprintf("%d for page_size %d", size, want))
	}
	n := int64(len(list))
	expected := int64(0)
	if size > 0 && page > 0 && page-1 <= total/size { // a later page would overflow
		expected = min(max(total-(page-1)*size, 0), size)
	}
	switch {
	case n > size && !other:
		c.differ(inBody+" /items", "at most page_size objects", "more")
	case n != expected && !other:
		c.differ(inBody+" /total", "the number of all objects of the list", fmt.Sprintf("%d with %d on page %d of size %d", total, n, page, size))
	}
	c.order(Items(p))
}

// order checks that a page contains each object once, by the time of creation. It compares times only
// if all of them have the contract's form.
func (c *comparison) order(objects []object) {
	seen := map[any]bool{}
	var before time.Time
	times, ordered := true, true
	for _, o := range objects {
		if id := o["id"]; id != nil {
			if seen[id] {
				c.differ(inBody+" /items/*/id", "each object once", "an object twice on a page")
				return
			}
			seen[id] = true
		}
		text, _ := o["created_at"].(string)
		t, err := time.Parse(api.TimestampLayout, text)
		times = times && err == nil
		ordered = ordered && !t.Before(before)
		before = t
	}
	if times && !ordered {
		c.differ(inBody+" /items", "the order of created_at", "another order")
	}
}

// filters checks that each object of a list matches the request's filters.
func (c *comparison) filters(objects []object) {
	query := c.Request.URL.Query()
	for _, f := range api.FieldsOf(c.operation.Request) {
		want := query.Get(f.Name)
		if f.In != "query" || f.Name == "page" || f.Name == "page_size" || len(query[f.Name]) > 1 || want == "" && f.Default == "" {
			continue
		}
		if slices.ContainsFunc(objects, func(o object) bool { matches, known := Matches(o, f, want); return known && !matches }) {
			c.differ(inBody+" /items", "objects that match the filter "+f.Name, "others too")
		}
	}
}

// Matches reports whether an object matches a filter; known is false if only the host can know.
func Matches(o map[string]any, f *api.Field, want string) (matches, known bool) {
	switch f.Name {
	case "include_revoked":
		all, _ := strconv.ParseBool(want)
		return all || o["revoked_at"] == nil, true
	case "search":
		return contains(o, want)
	case "domain":
		name, isMailbox := o["domain_name"].(string)
		canonical, err := domainname.Normalize(want)
		return o["domain_id"] == strings.ToLower(want) || err == nil && canonical == name, isMailbox
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
	for _, member := range o {
		s, ok := member.(string)
		contains = contains || ok && strings.Contains(strings.ToLower(s), strings.ToLower(text))
		known = known && (!ok || isPlain(s))
	}
	return contains, known || contains
}

// requestBody decodes the body of the request, or returns false.
func (c *comparison) requestBody(v any) bool { return json.Unmarshal(c.RequestBody, v) == nil }

// bulk checks that the two lists report each item of a bulk request once.
func (c *comparison) bulk(value any) {
	var body struct{ Items []json.RawMessage }
	response, _ := value.(object)
	created, createdOK := response["created"].([]any)
	failed, failedOK := response["failed"].([]any)
	if !c.requestBody(&body) || !createdOK || !failedOK {
		return
	}
	reported := map[int64]int{}
	for _, item := range slices.Concat(created, failed) {
		o, _ := item.(object)
		i, ok := number(o["index"])
		if !ok {
			return // the schema reports it
		}
		reported[i]++
	}
	twice := slices.Max(append(slices.Collect(maps.Values(reported)), 0)) > 1
	for i := range int64(len(body.Items)) {
		delete(reported, i)
	}
	missing := len(created)+len(failed) < len(body.Items)
	switch {
	case twice:
		c.differ(inBody, "each item of the request once, by its index", "an item twice")
	case len(reported) > 0:
		c.differ(inBody, "each item of the request once, by its index", "an index that no item has")
	case missing:
		c.differ(inBody, "each item of the request once, by its index", "an item is missing")
	}
}

// purchase checks that a purchase reports each domain, and counts the results.
func (c *comparison) purchase(value any) {
	var body struct{ Domains []json.RawMessage }
	response, _ := value.(object)
	results, ok := response["results"].([]any)
	if !ok {
		return
	}
	if c.requestBody(&body) && len(results) != len(body.Domains) {
		c.differ(inBody+" /results", "a result for each domain of the request", "another number of results")
	}
	failed := int64(0)
	for _, result := range results {
		o, _ := result.(object)
		if o["status"] == api.PurchaseFailed {
			failed++
		}
	}
	for _, count := range []struct {
		name string
		want int64
	}{{"failed_count", failed}, {"successful_count", int64(len(results)) - failed}} {
		if n, ok := number(response[count.name]); ok && n != count.want {
			c.differ(inBody+" /"+count.name, "the number of such results", fmt.Sprintf("%d of %d", n, count.want))
		}
	}
}

// secret checks that a secret is in the response if, and only if, the request asked for one.
func (c *comparison) secret(value any) {
	var body api.CreateMasterPasswordBody
	response, ok := value.(object)
	if !ok || !c.requestBody(&body) {
		return
	}
	switch _, shown := response["generated_secret"]; {
	case shown && !body.Generate:
		c.differ(inBody+" /generated_secret", "no such member, because the request generates no secret", "a member")
	case !shown && body.Generate:
		c.differ(inBody+" /generated_secret", "a member, because the request generates a secret", "none")
	}
}

// csv checks the header line of a CSV file, of which the body may be only the beginning.
func (c *comparison) csv() {
	columns, err := csv.NewReader(bytes.NewReader(c.Body)).Read()
	if err != nil || !slices.Equal(columns, api.ExportColumns) {
		c.differ(inBody+", first line", strings.Join(api.ExportColumns, ","), "other columns")
	} else if !bytes.Contains(c.Body, []byte("\r\n")) {
		c.differ(inBody, "lines that end in CRLF (RFC 4180)", "other ends of lines")
	}
}
