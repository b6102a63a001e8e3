package zonefile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/zonefile"
)

// FuzzParse checks that a file which Parse and the DNS library read contains the same records for both.
func FuzzParse(f *testing.F) {
	for _, file := range []string{
		"$ORIGIN example.com.\n$TTL 1h\n@ IN SOA ns h (\n1 2 3 4 5 )\n IN NS ns\n IN MX 10 mx\nns 300 A 192.0.2.1\n 600 A 192.0.2.2\n* TXT ( \"a \\\"b\\\"; \"\n \"c\" ) ; comment\n",
		"$ORIGIN .\n$TTL 2d\nexample.com IN A 192.0.2.1\n$ORIGIN a.example.com.\nwww CNAME b\n_x._tcp SRV 0 1 2 c\n@ CAA 0 issue \"ca.example; a=b\"\n",
		"$GENERATE 0-10/5 h${3,2,x} A 192.0.2.$\nTXT TXT a b\nb\\195\\188 AAAA 2001:DB8::1\nx TYPE1 \\# 4 c0000201\n",
		"www 1h30m IN A 192.0.2.1\n\tIN 60 A 192.0.2.2\nx A 192.0.2.1;y\nz TXT \"a\"\"b\" c\\;d\\065\n",
	} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file string) {
		file = "@ NS a.example.\n" + file // the library reads no record without a name before the first name
		got, err := zonefile.Parse(file, "example.com")
		if err != nil {
			return
		}
		want, err := parseWithLibrary(file)
		if err != nil {
			return
		}
		assert.Check(t, is.DeepEqual(valuesOf(got), want), "%q", file)
	})
}

// valuesOf returns records as sorted lines without TTLs, which differ in $GENERATE.
func valuesOf(sets map[string]zonefile.Set) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		for _, v := range slices.Sorted(slices.Values(sets[key].Values)) {
			all = append(all, key+" "+v)
		}
	}
	return all
}

// parseWithLibrary returns the records of a zone file as valuesOf does, read by the DNS library.
func parseWithLibrary(file string) ([]string, error) {
	records := map[string]bool{}
	parser := dns.NewZoneParser(strings.NewReader(file), "example.com.", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		name, err := dnsdata.NormalizeName(rr.Header().Name, "example.com")
		recordType := dns.Type(rr.Header().Rrtype).String()
		if _, typeErr := dnsdata.NormalizeType(recordType); err != nil || typeErr != nil || name == "@" && recordType == "NS" {
			continue
		}
		priority, value, err := dnsdata.ParseRDATA(recordType, strings.TrimPrefix(rr.String(), rr.Header().String()))
		if err != nil {
			return nil, err
		}
		if priority >= 0 {
			value = fmt.Sprintf("%d %s", priority, value)
		}
		records[name+" "+recordType+" "+value] = true
	}
	return slices.Sorted(maps.Keys(records)), parser.Err()
}
