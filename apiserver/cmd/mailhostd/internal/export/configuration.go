package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/hcltext"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// configuration renders an account as files.
type configuration struct {
	*account
	baseURL string // "" for an account in a database
	files   map[string][]byte
	// labels are the names of resources that are in use, with their types.
	labels map[string]bool
	// names are the names of domains by id.
	names map[string]string
	// usesWorkspaces: a resource refers to local.workspaces.
	usesWorkspaces bool
}

// The files beside those of the domains.
const (
	providerFile   = "provider.tf"
	workspacesFile = "workspaces.tf"
	accountFile    = "account.tf"
	importsFile    = "imports.tf"
	readmeFile     = "README.md"
)

// render returns the files of an account, by name.
func render(a *account, baseURL string) map[string][]byte {
	c := &configuration{account: a, baseURL: baseURL, files: map[string][]byte{}, labels: map[string]bool{}, names: map[string]string{}}
	c.provider()
	for _, d := range a.domains {
		c.names[d.ID] = d.Name
	}
	for _, d := range a.domains {
		c.domain(d)
	}
	for i := range a.rules {
		c.rule(&a.rules[i])
	}
	for i := range a.passwords {
		c.password(&a.passwords[i])
	}
	for i := range a.services {
		c.service(&a.services[i])
	}
	for i := range a.ips {
		c.ip(&a.ips[i])
	}
	if c.usesWorkspaces {
		c.locals()
	}
	files := map[string][]byte{readmeFile: c.readme()}
	for name, text := range c.files {
		files[name] = hclwrite.Format([]byte(mark + strings.TrimSuffix(string(text), "\n")))
	}
	return files
}

func (c *configuration) write(file, format string, args ...any) {
	c.files[file] = fmt.Appendf(c.files[file], format+"\n", args...)
}

// begin begins a resource and its import, and returns its address. A label that is taken gets
// a number.
func (c *configuration) begin(file, resourceType, label, importID string) string {
	label = hcltext.Label(label)
	address := resourceType + "." + label
	for n := 2; c.labels[address]; n++ {
		address = fmt.Sprintf("%s.%s_%d", resourceType, label, n)
	}
	c.labels[address] = true
	_, label, _ = strings.Cut(address, ".")
	c.write(file, "resource %q %q {", resourceType, label)
	c.write(importsFile, "import {\nto = %s\nid = %s\n}\n", address, hcltext.Quote(importID))
	return address
}

func (c *configuration) end(file string) { c.write(file, "}\n") }

func (c *configuration) provider() {
	c.write(providerFile, "terraform {\nrequired_providers {\nmailhost = {\nsource = \"mailhost/mailhost\"\n}\n}\n}\n")
	if c.baseURL == "" {
		c.write(providerFile, "# The environment variables MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN lead to the\n# account; without them it is the embedded one in MAILHOST_DATA_DIR.\nprovider \"mailhost\" {}\n")
		return
	}
	c.write(providerFile, "# The environment variable MAILHOST_TOKEN has the token.\nprovider \"mailhost\" {\nbase_url = %s\naccount_id = %s\n}\n",
		hcltext.Quote(c.baseURL), hcltext.Quote(c.id))
}

func (c *configuration) locals() {
	c.write(workspacesFile, "locals {\n# The workspaces of the account, which Terraform does not manage.\nworkspaces = {")
	for _, id := range slices.SortedFunc(maps.Keys(c.workspaces), func(a, b string) int { return strings.Compare(c.workspaces[a], c.workspaces[b]) }) {
		c.write(workspacesFile, "%s = %s", hcltext.Quote(c.workspaces[id]), hcltext.Quote(id))
	}
	c.write(workspacesFile, "}\n}\n")
}

func (c *configuration) workspace(id string) string {
	name, ok := c.workspaces[id]
	if !ok {
		return hcltext.Quote(id)
	}
	c.usesWorkspaces = true
	return "local.workspaces[" + hcltext.Quote(name) + "]"
}

func (c *configuration) domain(d *domain) {
	file := d.Name + ".tf"
	address := c.begin(file, "mailhost_domain", d.Name, d.Name)
	c.write(file, "name = %s", hcltext.Quote(d.Name))
	if d.WorkspaceID != c.defaultWorkspace {
		c.write(file, "workspace_id = %s", c.workspace(d.WorkspaceID))
	}
	if d.AutoRenew {
		c.write(file, "auto_renew = true")
	}
	if d.RedirectURL != nil {
		c.write(file, "redirect_url = %s", hcltext.Quote(*d.RedirectURL))
	}
	c.write(file, "\nlifecycle {\nprevent_destroy = true\n}")
	c.end(file)
	if len(d.records) > 0 {
		c.zone(file, address, d)
	}
	if len(d.mailboxes) == 0 {
		return
	}
	c.begin(file, "mailhost_mailbox_set", d.Name, d.Name)
	c.write(file, "domain = %s.name\n\nmailboxes = {", address)
	for _, m := range d.mailboxes {
		c.write(file, "%s = { first_name = %s, last_name = %s }", hcltext.Quote(m.LocalPart), hcltext.Quote(m.FirstName), hcltext.Quote(m.LastName))
	}
	c.write(file, "}")
	c.end(file)
}

func (c *configuration) zone(file, domain string, d *domain) {
	c.begin(file, "mailhost_dns_zone", d.Name, d.Name)
	c.write(file, "domain = %s.name\n\nrecords = {", domain)
	for records := d.records; len(records) > 0; {
		first := records[0]
		n := slices.IndexFunc(records, func(r api.DNSRecord) bool { return r.Name != first.Name || r.Type != first.Type })
		if n < 0 {
			n = len(records)
		}
		ttl, values := first.TTL, make([]string, n)
		for i, r := range records[:n] {
			ttl, values[i] = min(ttl, r.TTL), hcltext.Quote(rdata(r))
		}
		key, list, setTTL := first.Name+" "+first.Type, "["+strings.Join(values, ", ")+"]", ""
		if n > 1 {
			list = "[\n" + strings.Join(values, ",\n") + ",\n]"
		}
		if ttl != api.DefaultDNSTTL {
			setTTL = fmt.Sprintf("ttl = %d, ", ttl)
		}
		if slices.ContainsFunc(records[:n], func(r api.DNSRecord) bool { return r.TTL != ttl }) {
			c.leave("The different TTLs of the records %s of %s: a zone has one for all, so that the apply sets each to %d.", key, d.Name, ttl)
		}
		c.write(file, "%s = { %svalues = %s }", hcltext.Quote(key), setTTL, list)
		records = records[n:]
	}
	c.write(file, "}")
	c.end(file)
}

// text returns the value of a record, without the quotes of a TXT record.
func text(r api.DNSRecord) string {
	if r.Type == dnsdata.TypeTXT {
		if plain, err := dnsdata.Text(r.Value); err == nil {
			return plain
		}
	}
	return r.Value
}

// rdata is text with the priority, as a zone has it.
func rdata(r api.DNSRecord) string {
	if r.Priority == nil {
		return text(r)
	}
	return fmt.Sprintf("%d %s", *r.Priority, r.Value)
}

// scope is where a rule or a master password applies.
type scope struct {
	file string
	// label begins the name of the resource, and key its import id; it ends with a slash, or is "".
	label, key string
	// attribute is the line that sets it, or "" for the account.
	attribute string
}

func (c *configuration) scope(scopeType, id string) scope {
	name := c.names[id]
	switch {
	case scopeType == vocab.ScopeDomain && name != "":
		return scope{name + ".tf", name, name + "/", "domain = mailhost_domain." + hcltext.Label(name) + ".name\n"}
	case scopeType == vocab.ScopeDomain:
		return scope{accountFile, "domain", id + "/", "domain = " + hcltext.Quote(id) + "\n"}
	case scopeType == vocab.ScopeWorkspace:
		label := c.workspaces[id]
		if label == "" {
			label = "workspace"
		}
		return scope{accountFile, label, id + "/", "workspace_id = " + c.workspace(id) + "\n"}
	}
	return scope{accountFile, "account", "", ""}
}

func (c *configuration) rule(f *api.Forwarding) {
	s := c.scope(f.ScopeType, f.ScopeID)
	c.begin(s.file, "mailhost_forwarding", s.label+"_to_"+f.TargetEmail, s.key+f.TargetEmail)
	c.write(s.file, "%starget_email = %s", s.attribute, hcltext.Quote(f.TargetEmail))
	isConfirmed := f.VerificationState == vocab.VerificationInternal || f.VerificationState == vocab.VerificationVerified
	if isConfirmed && !f.Active {
		c.write(s.file, "active = false")
	}
	c.end(s.file)
}

func (c *configuration) password(p *api.MasterPassword) {
	s := c.scope(p.ScopeType, p.ScopeID)
	c.begin(s.file, "mailhost_master_password", s.label+"_"+p.Name, p.ID)
	c.write(s.file, "# The API does not return the secret: it stays as it is, and a replacement needs one.")
	c.write(s.file, "%sname = %s", s.attribute, hcltext.Quote(p.Name))
	c.end(s.file)
}

func (c *configuration) service(s *api.ServiceAccount) {
	c.begin(accountFile, "mailhost_service_account", s.Name, s.ID)
	c.write(accountFile, "# Its users have the token, which the API does not return.\nname = %s", hcltext.Quote(s.Name))
	if s.ExpiresAt != nil {
		c.write(accountFile, "expires_at = %s", hcltext.Quote(strings.Replace(*s.ExpiresAt, ".000000Z", "Z", 1)))
	}
	grants := c.grants[s.ID]
	if len(grants) > 0 && !slices.ContainsFunc(grants, func(g api.Authorization) bool { return g.CapabilityKey == nil }) {
		c.write(accountFile, "permissions = [")
		for _, g := range grants {
			restricted := ""
			if g.ResourceType != nil {
				restricted = fmt.Sprintf(", resource_type = %s, resource_id = %s", hcltext.Quote(*g.ResourceType), hcltext.Quote(api.Value(g.ResourceID)))
			}
			c.write(accountFile, "{ capability_key = %s%s },", hcltext.Quote(*g.CapabilityKey), restricted)
		}
		c.write(accountFile, "]")
	}
	c.end(accountFile)
}

func (c *configuration) ip(ip *api.DedicatedIP) {
	label := ip.Name
	if label == "" {
		label = "ip"
	}
	c.begin(accountFile, "mailhost_dedicated_ip", label, ip.ID)
	addresses := make([]string, len(ip.IPAddresses))
	for i, a := range ip.IPAddresses {
		addresses[i] = a.IP
	}
	c.write(accountFile, "# %s. To claim another one in its place, set option_id.\n\nlifecycle {\nprevent_destroy = true\n}", cli.Printable(strings.Join(addresses, ", ")))
	c.end(accountFile)
}

func (c *configuration) readme() []byte {
	var b strings.Builder
	b.WriteString(readmeMark + `: a file for each domain, with its DNS zone, its mailboxes and its rules; ` + "`account.tf`" + ` has what belongs to the whole account.

1. Set MAILHOST_TOKEN, or what else ` + "`provider.tf`" + ` names.
2. ` + "`terraform init && terraform plan`" + ` (or ` + "`tofu`" + `): the plan only imports.
3. ` + "`terraform apply`" + `, and delete ` + "`imports.tf`" + `.

From then on this folder is yours. Run the export again into another folder, or with ` + "`--overwrite`" + ` in a clean checkout of this one, to see as a diff what was changed elsewhere.

`)
	if len(c.leftOut) > 0 {
		b.WriteString("## What is not in it\n\n")
		for _, line := range c.leftOut {
			b.WriteString("* " + line + "\n")
		}
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}
