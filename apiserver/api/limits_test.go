package api

import (
	"reflect"
	"strconv"
	"testing"
)

// TestConstantsMatchTags checks the constants that repeat a limit of a struct tag,
// because a tag can't refer to a constant.
func TestConstantsMatchTags(t *testing.T) {
	for _, tt := range []struct {
		of         reflect.Type
		field, tag string
		want       int64
	}{
		{reflect.TypeFor[Paged](), "PageSize", "maximum", MaxPageSize},
		{reflect.TypeFor[CreateMailboxesBody](), "Items", "maxItems", MaxBulkItems},
		{reflect.TypeFor[CreateDNSRecordBody](), "TTL", "default", DefaultDNSTTL},
	} {
		f, ok := tt.of.FieldByName(tt.field)
		if got, want := f.Tag.Get(tt.tag), strconv.FormatInt(tt.want, 10); !ok || got != want {
			t.Errorf("%s.%s has the tag %s:%q; the constant is %s", tt.of.Name(), tt.field, tt.tag, got, want)
		}
	}
}
