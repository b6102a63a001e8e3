package dnszone

import (
	"reflect"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// leftOut maps the fields of a DNS record that are no attribute of an entry to the reason.
var leftOut = map[string]string{
	"domain": "it is the zone's", "name": "it is in the key of the entry", "type": "it is in the key of the entry", "value": "it is in values", "prio": "it is in values",
}

// TestEntriesHaveEveryField checks that an entry contains each field of a create.
func TestEntriesHaveEveryField(t *testing.T) {
	t.Parallel()
	for _, f := range api.FieldsOf(reflect.TypeFor[api.CreateDNSRecordBody]()) {
		_, has := entryType.AttrTypes[f.Name]
		if _, listed := leftOut[f.Name]; has == listed {
			t.Errorf("%s of a DNS record must be either an attribute of an entry of mailhost_dns_zone, from entryType in internal/service/dnszone/record.go on (follow ttl), or in leftOut with the reason", f.Name)
		}
	}
}
