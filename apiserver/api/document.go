package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

const securityScheme = "bearer"

func openAPI() *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Account Management Public API",
			Version:     "1",
			Description: "Manages an email-hosting account: domains, mailboxes, DNS records, forwarding, master passwords, service accounts, dedicated IPs and the plan. Operations marked x-lifecycle-extension are beyond the published ones and can be switched off as a whole.",
		},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				securityScheme: {Type: "http", Scheme: "bearer", Description: "A service account token, or an OAuth access token"},
			},
		},
	}
}

// Document returns the OpenAPI 3.1 document of the contract, as indented JSON.
// Without lifecycle it describes the published operations alone.
func Document(lifecycle bool) ([]byte, error) {
	h := NewAPI(http.NewServeMux())
	for _, op := range sorted() {
		if lifecycle || !op.Lifecycle() {
			op.bind(h, nil)
		}
	}
	listNull(h.OpenAPI())
	doc, err := json.MarshalIndent(h.OpenAPI(), "", "  ")
	if err != nil {
		return nil, err
	}
	return append(doc, '\n'), nil
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
