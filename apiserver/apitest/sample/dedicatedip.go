package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var dedicatedIPs = Kind{
	Kind: api.ClaimDedicatedIP.Kind, File: "dedicatedip",
	Bodies: map[string]Object{
		"claim-dedicated-ip": {"option_id": Option(AccountID, "eu")},
	},
	Parameter: "dedicated_ip_id", Key: []string{"name"},
	New:    func(accountID, _ string) Object { return Object{"option_id": Option(accountID, "eu")} },
	Hidden: map[string]string{"option_id": "the response shows what the option is about"},

	Resource: "mailhost_dedicated_ip",
	Config:   Object{"option_id": Option(AccountID, "eu")},
	Replace:  Object{"option_id": Option(AccountID, "us")},
}

// Option returns the id of one of an account's two options for dedicated IPs, "eu" or "us".
func Option(accountID, key string) string {
	return api.DerivedID(accountID, "dedicated-ip-option:"+key)
}
