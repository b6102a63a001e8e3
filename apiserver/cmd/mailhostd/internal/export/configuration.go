package export

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/hcltext"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// configuration holds an account as files.
type configuration struct {
	*cli.Target
	result
	files map[string][]byte
	// labels contains the used addresses of resources: type and name.
	labels map[string]bool
	// names contains the names of domains by id, and workspaces the names of workspaces.
	names, workspaces map[string]string
	// defaultWorkspace is the id of the default workspace, or "" if unreadable.
	defaultWorkspace string
	// usesWorkspaces means that a resource refers to local.workspaces.
	usesWorkspaces bool
}

// The files in addition to one for each domain.
const (
	providerFile   = "provider.tf"
	workspacesFile = "workspaces.tf"
	accountFile    = "account.tf"
	importsFile    = "imports.tf"
	readmeFile     = "README.md"
)

// read reads an account, and returns it as files.
func read(ctx context.Context, t *cli.Target, progress func(done, total int64)) (*configuration, error) {
	c := &configuration{
		Target: t, result: result{LeftOut: []string{}}, files: map[string][]byte{}, labels: map[string]bool{}, names: map[string]string{}, workspaces: map[string]string{},
	}
	c.provider()
	if err := c.account(ctx, progress); err != nil {
		return nil, err
	}
	if c.usesWorkspaces {
		c.locals()
	}
	for name, text := range c.files {
		c.files[name] = hclwrite.Format([]byte(mark + strings.TrimSuffix(string(text), "\n")))
	}
	c.files[readmeFile] = c.readme()
	c.Files = slices.Sorted(maps.Keys(c.files))
	return c, nil
}

func (c *configuration) write(file, format string, args ...any) {
	c.files[file] = fmt.Appendf(c.files[file], format+"\n", args...)
}

// resource writes a resource and its import, and returns its address. A label in use gets a number.
func (c *configuration) resource(file, resourceType, label, importID, body string) string {
	label = hcltext.Label(label)
	address := resourceType + "." + label
	for n := 2; c.labels[address]; n++ {
		address = fmt.Sprintf("%s.%s_%d", resourceType, label, n)
	}
	c.labels[address] = true
	_, label, _ = strings.Cut(address, ".")
	c.write(file, "resource %q %q {\n%s\n}\n", resourceType, label, strings.TrimSuffix(body, "\n"))
	c.write(importsFile, "import {\nto = %s\nid = %s\n}\n", address, hcltext.Quote(importID))
	return address
}

func (c *configuration) provider() {
	c.write(providerFile, "terraform {\nrequired_providers {\nmailhost = {\nsource = \"mailhost/mailhost\"\n}\n}\n}\n")
	if c.URL == "" {
		c.write(providerFile, "# The environment variables MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN lead to the\n# account; without them it is the embedded one in MAILHOST_DATA_DIR.\nprovider \"mailhost\" {}\n")
		return
	}
	c.write(providerFile, "# The environment variable MAILHOST_TOKEN has the token.\nprovider \"mailhost\" {\nbase_url = %s\naccount_id = %s\n}\n",
		hcltext.Quote(c.URL), hcltext.Quote(c.AccountID))
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

func (c *configuration) domain(d api.Domain, mailboxes []api.Mailbox, records []api.DNSRecord) {
	c.Mailboxes += len(mailboxes)
	c.Records += len(records)
	file := d.Name + ".tf"
	body := "name = " + hcltext.Quote(d.Name) + "\n"
	if d.WorkspaceID != c.defaultWorkspace {
		body += "workspace_id = " + c.workspace(d.WorkspaceID) + "\n"
	}
	if d.AutoRenew {
		body += "auto_renew = true\n"
	}
	if d.RedirectURL != nil {
		body += "redirect_url = " + hcltext.Quote(*d.RedirectURL) + "\n"
	}
	address := c.resource(file, "mailhost_domain", d.Name, d.Name, body+"\nlifecycle {\nprevent_destroy = true\n}")
	if len(records) > 0 {
		c.zone(file, address, d, records)
	}
	if len(mailboxes) == 0 {
		return
	}
	var set strings.Builder
	for _, m := range mailboxes {
		fmt.Fprintf(&set, "%s = { first_name = %s, last_name = %s }\n", hcltext.Quote(m.LocalPart), hcltext.Quote(m.FirstName), hcltext.Quote(m.LastName))
	}
	c.resource(file, "mailhost_mailbox_set", d.Name, d.Name, fmt.Sprintf("domain = %s.name\n\nmailboxes = {\n%s}", address, &set))
}

func (c *configuration) zone(file, domain string, d api.Domain, records []api.DNSRecord) {
	var zone strings.Builder
	for len(records) > 0 {
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
		fmt.Fprintf(&zone, "%s = { %svalues = %s }\n", hcltext.Quote(key), setTTL, list)
		records = records[n:]
	}
	c.resource(file, "mailhost_dns_zone", d.Name, d.Name, fmt.Sprintf("domain = %s.name\n\nrecords = {\n%s}", domain, &zone))
}

// rdata returns the value of a record in the form of a zone: canonical, with the priority.
func rdata(r api.DNSRecord) string {
	value, err := dnsdata.NormalizeValue(r.Type, r.Value)
	if err != nil {
		value = r.Value
	}
	if r.Priority != nil {
		return fmt.Sprintf("%d %s", *r.Priority, value)
	}
	return value
}

func (c *configuration) readme() []byte {
	var b strings.Builder
	b.WriteString(readmeMark + `: a file for each domain, with its DNS zone, its mailboxes and its rules; ` + "`account.tf`" + ` has what belongs to the whole account.

1. Set MAILHOST_TOKEN, or what else ` + "`provider.tf`" + ` names.
2. ` + "`terraform init && terraform plan`" + ` (or ` + "`tofu`" + `): the plan only imports.
3. ` + "`terraform apply`" + `, and delete ` + "`imports.tf`" + `.

From then on this folder is yours. Run the export again into another folder, or with ` + "`--overwrite`" + ` in a clean checkout of this one, to see as a diff what was changed elsewhere.

`)
	if len(c.LeftOut) > 0 {
		b.WriteString("## What is not in it\n\n")
		for _, line := range c.LeftOut {
			b.WriteString("* " + line + "\n")
		}
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}
