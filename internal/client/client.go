package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-cleanhttp"
	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Defaults of Options.
const (
	defaultUserAgent = "terraform-provider-mailhost"
	defaultRetryMax  = 8
	defaultWaitMin   = 500 * time.Millisecond
	defaultWaitMax   = 20 * time.Second
	defaultBudget    = 5 * time.Minute
	idlePerHost      = 32
	// dialTimeout bounds the time until a connection is made.
	dialTimeout = 10 * time.Second
	// writeTimeout bounds the time from the end of a request that may change
	// something to the header of its response. A purchase or a bulk create is
	// slow on some APIs.
	writeTimeout = 90 * time.Second
	// defaultReadTimeout bounds the time from the start of a GET to the header of
	// its response, and the time between two parts of any response's body.
	defaultReadTimeout = 30 * time.Second
)

// LogFunc writes one log line. It has the type of tflog.Debug.
type LogFunc func(ctx context.Context, msg string, fields ...map[string]any)

// Options says which account to talk to, as whom, and how patiently.
type Options struct {
	// BaseURL is where the API lives, without the part that the contract sets.
	// With a Transport that needs no network it is a placeholder.
	BaseURL string
	// AccountID is the account that every operation is scoped to.
	AccountID string
	// Token is a bearer token; TokenSource, if set, is asked instead. With
	// neither, no credential is sent: the Transport is trusted.
	Token       string
	TokenSource oauth2.TokenSource
	// Transport sends single requests. Nil: a pooled one over the network.
	Transport http.RoundTripper
	UserAgent string

	// RetryMax is the number of attempts after the first; 0: 8, negative: none.
	RetryMax int
	// RetryWaitMin and RetryWaitMax bound the ceiling of the random wait between
	// two attempts; 0: 500 ms and 20 s.
	RetryWaitMin, RetryWaitMax time.Duration
	// RetryBudget bounds the time in which one call begins new attempts; 0: 5
	// minutes. A Retry-After that reaches beyond it ends the call at once. Calls
	// that get no response at all have less, see doc.go.
	RetryBudget time.Duration
	// ReadTimeout bounds the wait for the response to a GET, and for the next part
	// of any response's body; 0: 30 seconds.
	ReadTimeout time.Duration

	// Log, if set, gets a line for each attempt. It sees no header and no body.
	Log   LogFunc
	Hooks Hooks
}

// Client calls the API. It is safe for concurrent use, and what it learns of the
// API (see doc.go) it keeps for its lifetime.
type Client struct {
	base      string
	accountID string
	token     string // Options.Token
	retry     retryPolicy
	hooks     Hooks
	http      *retryablehttp.Client

	caps        capabilities
	outage      outage
	incidents   incidents
	reached     atomic.Bool // there has been some response, from whatever server
	answers     atomic.Bool // the API has returned a response of the contract
	keys        keySupport
	pageSizes   pageSizes
	serverClock serverClock
	// claims lets one claim of a dedicated IP run at a time: two at once could
	// not tell whose a new address is.
	claims chan struct{}
	// recordDomains is what DomainOfDNSRecord has met.
	recordDomains *recordDomains
	// refreshedRecords are the ids of the DNS records that NoteRefreshedDNSRecord got.
	refreshedRecords sync.Map

	authorizations  *index[api.Authorization]
	dedicatedIPs    *index[api.DedicatedIP]
	dnsRecords      *index[api.DNSRecord]
	domains         *index[api.Domain]
	forwarding      *index[api.Forwarding]
	mailboxes       *index[api.Mailbox]
	masterPasswords *index[api.MasterPassword]
	serviceAccounts *index[api.ServiceAccount]
	workspaces      *index[api.Workspace]
}

// New returns a client. It sends nothing yet.
func New(o Options) (*Client, error) {
	base, err := checkBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if o.AccountID == "" {
		return nil, errors.New("the account id is missing")
	}
	hooks := o.Hooks.withDefaults()
	c := &Client{
		base:      base,
		accountID: o.AccountID,
		token:     o.Token,
		hooks:     hooks,
		claims:    make(chan struct{}, 1),
		retry: retryPolicy{
			max:     max(cmp.Or(o.RetryMax, defaultRetryMax), 0),
			waitMin: cmp.Or(o.RetryWaitMin, defaultWaitMin),
			waitMax: cmp.Or(o.RetryWaitMax, defaultWaitMax),
			budget:  cmp.Or(o.RetryBudget, defaultBudget),
		},
	}
	if o.TokenSource != nil {
		c.token = ""
	}
	c.http = newRetryClient(&wire{
		next:      transportOf(o),
		tokens:    tokensOf(o),
		userAgent: cmp.Or(o.UserAgent, defaultUserAgent),
		log:       o.Log,
		hooks:     hooks,
		timeout:   cmp.Or(o.ReadTimeout, defaultReadTimeout),
	})
	c.indexes()
	return c, nil
}

// AccountID returns the account that the client works on.
func (c *Client) AccountID() string { return c.accountID }

// UsesServiceAccount reports whether the client authenticates with the token of the
// service account that has this prefix and public id. It can't know for a
// TokenSource.
func (c *Client) UsesServiceAccount(tokenPrefix, publicID string) bool {
	return publicID != "" && strings.HasPrefix(c.token, tokenPrefix+"_"+publicID+"_")
}

func checkBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		// The parser's error quotes its input, which may hold a password.
		return "", errors.New("the base URL is malformed; expected for instance https://api.example.com")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("the base URL must be an absolute http or https URL, for instance https://api.example.com")
	case u.User != nil:
		return "", errors.New("the base URL must not hold a user name or password; the credential is the token")
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the base URL must end with its path: %s has a query or a fragment", u.Redacted())
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func transportOf(o Options) http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	t := cleanhttp.DefaultPooledTransport()
	t.MaxIdleConnsPerHost = idlePerHost
	t.ResponseHeaderTimeout = writeTimeout
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	return t
}

func tokensOf(o Options) oauth2.TokenSource {
	switch {
	case o.TokenSource != nil:
		return oauth2.ReuseTokenSource(nil, o.TokenSource)
	case o.Token != "":
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: o.Token})
	}
	return nil
}

// indexes builds the shared index of each list.
func (c *Client) indexes() {
	c.authorizations = newIndex(authorizationKind, c.sweepAuthorizations)
	c.dedicatedIPs = newIndex(dedicatedIPKind, whole(c.ListDedicatedIPs))
	c.dnsRecords = newIndex(dnsRecordKind, whole(c.ListDNSRecords))
	c.recordDomains = newRecordDomains()
	c.domains = newIndex(domainKind, whole(c.ListDomains))
	c.forwarding = newIndex(forwardingKind, whole(c.ListForwarding))
	c.mailboxes = newIndex(mailboxKind, whole(c.ListMailboxes))
	c.masterPasswords = newIndex(masterPasswordKind, whole(c.ListMasterPasswords))
	c.serviceAccounts = newIndex(serviceAccountKind, c.ListServiceAccounts)
	c.workspaces = newIndex(workspaceKind, c.ListWorkspaces)
}
