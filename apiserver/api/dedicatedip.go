package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// DedicatedIP is an address allocation of the account.
type DedicatedIP struct {
	ID          string      `json:"id" format:"uuid"`
	Name        string      `json:"name" minLength:"1" doc:"Name of the dedicated IP"`
	Status      string      `json:"status" enum:"provisioning,active,releasing" doc:"State of the dedicated IP"`
	Type        string      `json:"type" doc:"Type of the allocation"`
	ASN         *int64      `json:"asn" minimum:"0" maximum:"4294967295" doc:"Number of the autonomous system that announces the address"`
	CountryCode *string     `json:"country_code" doc:"Country of the address (ISO 3166)"`
	IPAddresses []IPAddress `json:"ip_addresses" nullable:"false" doc:"Addresses, with their current health"`
	CreatedAt   *string     `json:"created_at" format:"date-time" doc:"When the dedicated IP was claimed"`
	UpdatedAt   *string     `json:"updated_at" format:"date-time"`
}

// IPAddress is one address of a dedicated IP.
type IPAddress struct {
	IP              string  `json:"ip" doc:"The public address"`
	FCrDNSConfirmed bool    `json:"fcrdns_confirmed" default:"false" doc:"Whether its forward-confirmed reverse DNS passed"`
	Healthy         *bool   `json:"healthy" doc:"Whether it is healthy; null if that is unknown"`
	RDNS            *string `json:"rdns" doc:"Its host name in reverse DNS, if it has one"`
}

// DedicatedIPOption is an option that can be claimed.
type DedicatedIPOption struct {
	ID          string `json:"id" format:"uuid" doc:"UUID of the option, for the option_id of a claim"`
	Name        string `json:"name" doc:"Name of the option"`
	Type        string `json:"type" doc:"Type of the addresses"`
	CountryCode string `json:"country_code" doc:"Country of the addresses (ISO 3166)"`
	Available   int    `json:"available" minimum:"0" doc:"How many addresses can still be claimed"`
}

type ClaimDedicatedIPBody struct {
	OptionID string `json:"option_id" format:"uuid"`
}

type ClaimDedicatedIPRequest = KeyedRequest[ClaimDedicatedIPBody]

type ListDedicatedIPsRequest struct {
	InAccount
	Paged
	Status      string `query:"status" enum:"provisioning,active,releasing" doc:"Only those in this state"`
	CountryCode string `query:"country_code" minLength:"2" maxLength:"2" doc:"Only those in this country, by its two-letter code (ISO 3166), such as DE"`
}

type DedicatedIPRequest struct {
	InAccount
	DedicatedIPID string `path:"dedicated_ip_id" format:"uuid"`
}

var dedicatedIPs = Kind{Tag: "Dedicated IPs", Noun: "dedicated IP", Description: "Addresses from which only this account sends"}

// Operations on dedicated IPs.
var (
	ClaimDedicatedIP = defineCreate[ClaimDedicatedIPBody, DedicatedIP]("POST /dedicated-ips/claim", "Claim a dedicated IP", Spec{
		Number: 18, ID: "claim-dedicated-ip", Kind: dedicatedIPs, Capability: vocab.CapDedicatedIPClaim,
	})
	ListDedicatedIPs = define[ListDedicatedIPsRequest, Page[DedicatedIP]]("GET /dedicated-ips", "List dedicated IPs", Spec{
		Number: 19, ID: "list-dedicated-ips", Kind: dedicatedIPs, Capability: vocab.CapDedicatedIPView,
	})
	ListDedicatedIPOptions = define[ListRequest, Page[DedicatedIPOption]]("GET /dedicated-ips/options", "List what can be claimed", Spec{
		ID: "list-dedicated-ip-options", Kind: dedicatedIPs, Capability: vocab.CapDedicatedIPView,
	})
	GetDedicatedIP = define[DedicatedIPRequest, DedicatedIP]("GET /dedicated-ips/{dedicated_ip_id}", "Read a dedicated IP", Spec{
		ID: "get-dedicated-ip", Kind: dedicatedIPs, Capability: vocab.CapDedicatedIPView,
	})
	ReleaseDedicatedIP = defineEmpty[DedicatedIPRequest]("DELETE /dedicated-ips/{dedicated_ip_id}", "Give a dedicated IP back", Spec{
		ID: "release-dedicated-ip", Kind: dedicatedIPs, Capability: vocab.CapDedicatedIPRelease,
	})
)
