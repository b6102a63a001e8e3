package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

const securityScheme = "bearer"

func openAPI() *huma.OpenAPI {
	return &huma.OpenAPI{
		OnAddOperation: []huma.AddOpFunc{completeSchemas},

		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Account Management Public API",
			Version:     "1",
			Description: "Manages an email-hosting account: domains, mailboxes, DNS records, forwarding, master passwords, service accounts, dedicated IPs and the plan. Operations marked x-lifecycle-extension are beyond the published ones and can be switched off as a whole.",
		},
		Components: &huma.Components{
			Schemas: newRegistry(),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				securityScheme: {Type: "http", Scheme: "bearer", Description: "A service account token, or an OAuth access token"},
			},
		},
	}
}

// Document returns the OpenAPI 3.1 document of the contract, as indented JSON.
// Without lifecycle it describes the published operations alone.
func Document(lifecycle bool) ([]byte, error) {
	b := binder{api: newAPI(http.NewServeMux()), publishedOnly: !lifecycle}
	b.operations()
	listNull(b.api.OpenAPI())
	doc, err := json.MarshalIndent(b.api.OpenAPI(), "", "  ")
	if err != nil {
		return nil, err
	}
	return append(escapeInvisible(doc), '\n'), nil
}

// escapeInvisible writes the characters of patterns that nobody can see as JSON
// escapes.
func escapeInvisible(doc []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(doc) {
		switch {
		case r < utf8.RuneSelf || unicode.IsGraphic(r) && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// listNull adds null to the nullable enumerations: huma lets it pass without,
// but in JSON Schema the list holds every value.
func listNull(doc *huma.OpenAPI) {
	for _, schema := range doc.Components.Schemas.Map() {
		for _, p := range schema.Properties {
			if p.Nullable && len(p.Enum) > 0 {
				p.Enum = append(p.Enum, nil)
			}
		}
	}
}
