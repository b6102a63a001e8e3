package service

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

type flatResponse struct {
	ID    string    `json:"id"`
	Note  *string   `json:"note,omitempty"`
	Port  *int64    `json:"port"`
	Count int       `json:"count"`
	Size  flatSize  `json:"size"`
	Tags  []flatTag `json:"tags"`
	Cause error     // without a tag
}

type flatSize struct {
	Used int64 `json:"used"`
}

type flatTag struct {
	Name string `json:"name"`
	Main bool   `json:"main"`
}

type flatInner struct {
	Note types.String `tfsdk:"note"`
}

type flatModel struct {
	flatInner

	ID     customtype.String `tfsdk:"id"`
	Port   types.Int64       `tfsdk:"port"`
	Size   types.Object      `tfsdk:"size"`
	Tags   types.List        `tfsdk:"tags"`
	Secret types.String      `tfsdk:"secret"`
}

func TestFlatten(t *testing.T) {
	t.Parallel()
	m := flatModel{Secret: types.StringValue("s3cret")}
	Flatten(&m, &flatResponse{ID: "a", Port: new(int64(25)), Size: flatSize{3}, Tags: []flatTag{{"x", true}}})
	if m.ID.ValueString() != "a" || !m.Note.IsNull() || m.Port.ValueInt64() != 25 || m.Secret.ValueString() != "s3cret" ||
		m.Size.String() != `{"used":3}` || m.Tags.String() != `[{"main":true,"name":"x"}]` {
		t.Errorf("%+v", m)
	}
	Flatten(&m, flatResponse{Note: new("n")})
	if m.Note.ValueString() != "n" || !m.Port.IsNull() || m.Tags.IsNull() || len(m.Tags.Elements()) != 0 {
		t.Errorf("%+v", m)
	}
	defer func() {
		if recover() == nil {
			t.Error("a model with another type does not panic")
		}
	}()
	Flatten(&struct {
		ID types.Bool `tfsdk:"id"`
	}{}, flatResponse{})
}

func TestObject(t *testing.T) {
	t.Parallel()
	attributes := map[string]attr.Type{
		"id": customtype.UUID, "size": types.ObjectType{AttrTypes: map[string]attr.Type{"used": types.Int64Type}}, "timeouts": types.MapType{ElemType: types.StringType},
	}
	got := object(t.Context(), attributes, flatModel{ID: customtype.New("a")})
	if want := `{"id":"a","size":<null>,"timeouts":<null>}`; got.String() != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = object(t.Context(), attributes, &flatResponse{ID: "b", Size: flatSize{3}})
	if want := `{"id":"b","size":{"used":3},"timeouts":<null>}`; got.String() != want || !got.Attributes()["id"].Type(t.Context()).Equal(customtype.UUID) {
		t.Errorf("%s, want %s", got, want)
	}
}
