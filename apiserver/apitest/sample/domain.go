package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var domains = Kind{
	Kind: api.PurchaseDomains.Kind, File: "domain",
	Bodies: map[string]Object{
		"purchase-domains": {"domains": []any{"new.com"}, "workspace_id": api.DefaultWorkspaceID(AccountID), "contact_info": Contact()},
		"update-domain":    {"auto_renew": true, "redirect_url": "https://www.example.com/"},
	},
	Parameter: "domain", Path: "example.com", Key: []string{"name"},
	Hidden: map[string]string{"workspace_id": "an update has to name another workspace, which has a random id"},

	Resource: "mailhost_domain",
	Config:   Object{"name": "acme.com", "contact_info": Contact()},
	Change:   Object{"auto_renew": true},
	Replace:  Object{"name": "example.org", "on_existing": "adopt"},
	Outside:  []Change{{"update-domain", Object{"auto_renew": true}}, {"update-domain", Object{"redirect_url": "https://outside.example"}}},
}

// Contact returns a valid contact for domain purchases.
func Contact() Object {
	return Object{
		"address_1": "Hauptstr. 1", "city": "Köln", "country": "DE", "email": "jane@example.net", "first_name": "Jane", "last_name": "Doe",
		"organization": "Example", "phone": "+4922112345", "state": "NRW", "zip": "50667",
	}
}
