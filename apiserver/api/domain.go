package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// The statuses of one result of a purchase.
const (
	PurchasePurchased      = "purchased"
	PurchasePendingPayment = "pending_payment"
	PurchaseFailed         = "failed"
)

// The error codes of a failed purchase.
const (
	PurchaseInvalidDomain  = "invalid_domain"
	PurchaseUnsupportedTLD = "unsupported_tld"
	PurchaseUnavailable    = "unavailable"
	PurchasePremiumDomain  = "premium_domain"
	PurchaseAlreadyOwned   = "already_owned"
)

// Domain is a domain of the account.
type Domain struct {
	ID                      string  `json:"id" format:"uuid"`
	Name                    string  `json:"name" doc:"Name of the domain, in ASCII and lower case"`
	Status                  string  `json:"status" enum:"pending_payment,pending,active,failed" doc:"State of the domain"`
	OutboundRoutingReady    bool    `json:"outbound_routing_ready" doc:"Whether mail can be sent from the domain"`
	WorkspaceID             string  `json:"workspace_id" format:"uuid" doc:"UUID of the workspace that the domain is in"`
	AutoRenew               bool    `json:"auto_renew" default:"false" doc:"Whether the registration is renewed automatically"`
	DedicatedIPID           *string `json:"dedicated_ip_id" format:"uuid" doc:"UUID of the dedicated IP that sends the domain's mail, if one is assigned"`
	InboundTenantID         *string `json:"inbound_tenant_id" format:"uuid" doc:"UUID of the tenant that receives the domain's incoming mail, if one is assigned"`
	InboundTenantExternalID *string `json:"inbound_tenant_external_id" doc:"Id of the inbound tenant at its own provider"`
	InboundTenantName       *string `json:"inbound_tenant_name" doc:"Name of the inbound tenant"`
	InboundTenantType       *string `json:"inbound_tenant_type" doc:"Type of the inbound tenant"`
	RedirectMode            *string `json:"redirect_mode" enum:"301,302,iframe" doc:"How web traffic is redirected; null without a redirect"`
	RedirectURL             *string `json:"redirect_url" doc:"Where the domain's web traffic is redirected to; null without a redirect"`
	Tags                    []Tag   `json:"tags" nullable:"false" doc:"Labels of the domain"`
	CreatedAt               string  `json:"created_at" format:"date-time" doc:"When the domain was added to the account"`
	UpdatedAt               string  `json:"updated_at" format:"date-time"`
}

// Tag is a label of a domain.
type Tag struct {
	ID   string `json:"id" format:"uuid" doc:"UUID of the label"`
	Name string `json:"name" doc:"Name of the label"`
}

type PurchaseDomainsBody struct {
	Domains     []string    `json:"domains" nullable:"false" minItems:"1" maxItems:"100"`
	WorkspaceID string      `json:"workspace_id" format:"uuid"`
	ContactInfo ContactInfo `json:"contact_info"`
}

type PurchaseDomainsRequest = KeyedRequest[PurchaseDomainsBody]

// ContactInfo is the registrant of a purchased domain.
type ContactInfo struct {
	Address1     string `json:"address_1" minLength:"1" maxLength:"255" format:"name"`
	City         string `json:"city" minLength:"1" maxLength:"255" format:"name"`
	Country      string `json:"country" minLength:"2" maxLength:"2" doc:"Two-letter ISO 3166 country code"`
	Email        string `json:"email" minLength:"1" maxLength:"255"`
	FirstName    string `json:"first_name" minLength:"1" maxLength:"255" format:"name"`
	LastName     string `json:"last_name" minLength:"1" maxLength:"255" format:"name"`
	Organization string `json:"organization" minLength:"1" maxLength:"255" format:"name"`
	Phone        string `json:"phone" minLength:"1" maxLength:"255" doc:"E.164 with country code, for instance +4930123456"`
	State        string `json:"state" minLength:"1" maxLength:"255" format:"name"`
	Zip          string `json:"zip" minLength:"1" maxLength:"255" format:"name"`
}

// Purchase reports each domain of a purchase separately.
type Purchase struct {
	Results         []PurchaseResult `json:"results" nullable:"false"`
	Currency        *string          `json:"currency"`
	EstimatedTotal  *string          `json:"estimated_total"`
	FailedCount     int              `json:"failed_count" default:"0" minimum:"0"`
	SuccessfulCount int              `json:"successful_count" default:"0" minimum:"0"`
	PaymentURL      *string          `json:"payment_url" doc:"Where to pay, if a payment is needed"`
	PurchaseBatchID *string          `json:"purchase_batch_id"`
}

// PurchaseResult is the outcome for one domain.
type PurchaseResult struct {
	DomainName string  `json:"domain_name"`
	Status     string  `json:"status" enum:"purchased,pending_payment,failed"`
	Error      *string `json:"error"`
	ErrorCode  *string `json:"error_code" enum:"invalid_domain,unsupported_tld,unavailable,premium_domain,already_owned"`
	ID         *string `json:"id" doc:"The domain's id, where it was bought or is owned already"`
}

type ListDomainsRequest struct {
	InAccount
	Paged
	WorkspaceID string `query:"workspace_id" format:"uuid" doc:"Only those of the workspace with this UUID"`
	Status      string `query:"status" enum:"pending_payment,pending,active,failed" doc:"Only those in this state"`
	Tag         string `query:"tag" doc:"Only those with this label, by its name or UUID"`
	Search      string `query:"search" doc:"Only those with this text in their name, in upper or lower case, an internationalized one in either form"`
}

// UpdateDomainRequest is the request for new settings of a domain.
type UpdateDomainRequest struct {
	InAccount
	Domain string `path:"domain" doc:"Domain UUID or name"`
	Body   UpdateDomainBody
}

// UpdateDomainBody is the body of UpdateDomainRequest. Absent members change nothing; a null
// redirect_url ends the redirect.
type UpdateDomainBody struct {
	AutoRenew   *bool            `json:"auto_renew,omitempty" nullable:"true"`
	RedirectURL Nullable[string] `json:"redirect_url,omitzero" maxLength:"2048" doc:"http or https; null ends the redirect"`
	WorkspaceID *string          `json:"workspace_id,omitempty" format:"uuid" nullable:"true"`
}

// DomainSettings is the response to an update.
type DomainSettings struct {
	AutoRenew   bool    `json:"auto_renew"`
	ID          string  `json:"id" format:"uuid"`
	WorkspaceID string  `json:"workspace_id" format:"uuid"`
	RedirectURL *string `json:"redirect_url"`
}

type DomainRequest struct {
	InAccount
	Domain string `path:"domain" doc:"Domain UUID or name"`
}

// DomainAvailabilityRequest names a domain to buy.
type DomainAvailabilityRequest struct {
	InAccount
	Name string `query:"name" doc:"Name of the domain, an international one in either form"`
}

// DomainAvailability reports whether a domain can be bought: its price as a decimal amount, or an error
// code of a purchase.
type DomainAvailability struct {
	DomainName string  `json:"domain_name"`
	Available  bool    `json:"available"`
	Error      *string `json:"error"`
	ErrorCode  *string `json:"error_code" enum:"invalid_domain,unsupported_tld,unavailable,premium_domain,already_owned"`
	Price      *string `json:"price" doc:"What a purchase costs now, a decimal amount; also for a failed domain of the account, once it is deleted"`
	Currency   *string `json:"currency"`
}

var domains = Kind{Tag: "Domains", Noun: "domain", Description: "Domains: availability, purchase and settings"}

// Operations on domains.
var (
	PurchaseDomains = define[PurchaseDomainsRequest, Purchase]("POST /domains/purchase", "Buy domains, each reported on its own", Spec{
		Number: 14, ID: "purchase-domains", Kind: domains, Capability: vocab.CapDomainPurchase, Narrowable: true,
	})
	ListDomains = define[ListDomainsRequest, Page[Domain]]("GET /domains", "List domains", Spec{
		Number: 15, ID: "list-domains", Kind: domains, Capability: vocab.CapDomainView, Narrowable: true,
	})
	UpdateDomain = define[UpdateDomainRequest, DomainSettings]("PATCH /domains/{domain}", "Change a domain's customer-facing settings", Spec{
		Number: 16, ID: "update-domain", Kind: domains, Capability: vocab.CapDomainUpdate, Narrowable: true,
	})
	GetDomain = define[DomainRequest, Domain]("GET /domains/{domain}", "Read a domain", Spec{
		ID: "get-domain", Kind: domains, Capability: vocab.CapDomainView, Narrowable: true,
	})
	CheckDomainAvailability = define[DomainAvailabilityRequest, DomainAvailability]("GET /domains/availability", "Report whether a domain can be bought, and at what price", Spec{
		ID: "check-domain-availability", Kind: domains, Capability: vocab.CapDomainView,
	})
	DeleteDomain = defineEmpty[DomainRequest]("DELETE /domains/{domain}", "Delete a domain without mailboxes, with all else in it", Spec{
		ID: "delete-domain", Kind: domains, Capability: vocab.CapDomainDelete, Narrowable: true,
	})
)
