package customtype_test

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestKeepDomainRef(t *testing.T) {
	t.Parallel()
	type DomainRef = customtype.DomainRef
	ref := customtype.New[DomainRef]
	for _, tt := range []struct {
		prior    DomainRef
		id, name string
		want     DomainRef
	}{
		{ref("Example.COM."), idLower, "example.com", ref("Example.COM.")},
		{ref("bücher.example"), idLower, "xn--bcher-kva.example", ref("bücher.example")},
		{ref(idUpper), idLower, "example.com", ref(idUpper)},
		{ref(idOther), idLower, "example.com", ref("example.com")},
		{ref("example.org"), idLower, "example.com", ref("example.com")},
		{DomainRef{}, idLower, "example.com", ref("example.com")},
		{DomainRef{}, idLower, "", ref(idLower)},
		{ref("example.org"), idLower, "", ref(idLower)},
		{customtype.NewUnknown[DomainRef](), idLower, "example.com", ref("example.com")},
	} {
		if got := customtype.KeepDomainRef(tt.prior, tt.id, tt.name); !got.Equal(tt.want) {
			t.Errorf("KeepDomainRef(%s, %s, %q) = %s, want %s", tt.prior, tt.id, tt.name, got, tt.want)
		}
	}
}

func TestRefersTo(t *testing.T) {
	t.Parallel()
	if customtype.RefersTo("", "", "") {
		t.Error("an empty reference names a domain")
	}
	if !customtype.RefersTo(idUpper, idLower, "example.com") || !customtype.RefersTo("EXAMPLE.com", idLower, "example.com") {
		t.Error("a reference does not name its domain")
	}
}
