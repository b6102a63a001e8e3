package simulate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// domainNames are a few domains in several spellings, so that collisions are likely.
var domainNames = [][]string{
	{"acme.com", "Acme.com", "acme.com.", "ACME.COM."},
	{"bücher.com", "xn--bcher-kva.com", "Bücher.com"},
	{"zeta.org", "zeta.org."},
}

// resourceTypes are the resource types to choose from, weighted by repetition.
var resourceTypes = []string{
	"mailhost_domain", "mailhost_domain", "mailhost_domain", "mailhost_mailbox", "mailhost_mailbox", "mailhost_mailbox",
	"mailhost_dns_record", "mailhost_dns_record", "mailhost_forwarding", "mailhost_forwarding", "mailhost_master_password",
	"mailhost_service_account", "mailhost_dedicated_ip",
}

// collectionTypes are the types of resources with many objects.
var collectionTypes = []string{setType, setType, setType, zoneType, zoneType}

// valuableTypes hold mail or money, and adoptingTypes support on_existing.
var (
	valuableTypes = []string{"mailhost_domain", "mailhost_mailbox", setType, zoneType, "mailhost_dedicated_ip"}
	adoptingTypes = []string{"mailhost_domain", "mailhost_mailbox", setType, "mailhost_dns_record", "mailhost_forwarding", "mailhost_dedicated_ip"}
)

// undrawn lists the arguments that no history uses: their effect takes longer, or has other tests.
var undrawn = []string{"timeouts", "active", "valid_for", "rotate_before", "rotation_triggers", "permissions", "retired"}

// TestHistoriesHaveEverything checks that configurations set each argument of each resource.
func TestHistoriesHaveEverything(t *testing.T) {
	d := &generator{rand: rand.New(rand.NewPCG(1, 1)), account: account{id: uuid.NewString(), workspaceID: uuid.NewString()}, report: &report{}}
	drawn := map[string]bool{}
	for range 300 {
		for _, b := range d.configuration().Blocks {
			for name := range b.Arguments {
				drawn[core.TypeOf(b.Addr)+"."+name] = true
			}
		}
	}
	for typeName, s := range loadSchemas().Resources {
		assert.Check(t, typeName == setType || typeName == zoneType || slices.Contains(externalTypes(), typeName), "no history changes a %s outside Terraform: give its kind in apiserver/apitest/sample the Resource and Outside", typeName)
		for _, a := range s.Attributes {
			isArgument := (a.Optional || a.Required) && !slices.Contains(undrawn, a.Name)
			assert.Check(t, !isArgument || drawn[typeName+"."+a.Name], "no history sets %s.%s: draw it in arguments, or add it to undrawn", typeName, a.Name)
		}
	}
}

// generator generates configurations for an account.
type generator struct {
	rand    *rand.Rand
	account account
	report  *report
}

func (d *generator) typeName() string {
	return pick(d.rand, slices.Concat(resourceTypes, collectionTypes))
}

func pick[T any](r *rand.Rand, items []T) T { return items[r.IntN(len(items))] }

// chance is true with a probability in percent.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func (d *generator) domainName() string { return pick(d.rand, pick(d.rand, domainNames)) }

// configuration generates an initial configuration.
func (d *generator) configuration() *core.Configuration {
	c := &core.Configuration{}
	d.add(c, "mailhost_domain")
	for range 1 + d.rand.IntN(6) {
		d.add(c, d.typeName())
	}
	return c
}

// add adds a block at a free address.
func (d *generator) add(c *core.Configuration, typeName string) {
	addr := freeAddress(c, typeName, "a", "b", "c", "d")
	if addr == "" {
		return
	}
	b := &core.Block{Addr: addr, Arguments: d.arguments(c, typeName), CreateBeforeDestroy: chance(d.rand, 15)}
	d.repairZone(b)
	if slices.Contains(adoptingTypes, typeName) && chance(d.rand, 30) {
		b.Arguments["on_existing"] = pick(d.rand, []string{"adopt", "adopt", "error"})
	}
	if typeName == "mailhost_dedicated_ip" && chance(d.rand, 50) { // otherwise one unused address stops all claims
		b.Arguments["on_existing"] = "create"
	}
	b.TypedMap = typeName == setType && chance(d.rand, 40)
	d.avoidMoves(c, addr)
	c.Blocks = append(c.Blocks, b)
}

// freeAddress returns an address with one of the names that no block uses, or "".
func freeAddress(c *core.Configuration, typeName string, names ...string) string {
	for _, name := range names {
		if addr := typeName + "." + name; c.Block(addr) == nil {
			return addr
		}
	}
	return ""
}

// avoidMoves removes moved and removed blocks that conflict with a new block.
func (d *generator) avoidMoves(c *core.Configuration, addr string) {
	c.Moved = slices.DeleteFunc(c.Moved, func(m [2]string) bool { return m[0] == addr })
	c.Removed = slices.DeleteFunc(c.Removed, func(r string) bool { return r == addr })
}

var contact = map[string]any{
	"address_1": "Street 1", "city": "Berlin", "country": "DE", "email": "owner@example.com", "first_name": "Jane",
	"last_name": "Doe", "organization": "Acme", "phone": "+4930123456", "state": "Berlin", "zip": "10115",
}

func (d *generator) arguments(c *core.Configuration, typeName string) map[string]any {
	r := d.rand
	switch typeName {
	case "mailhost_domain":
		out := map[string]any{"name": d.domainName(), "contact_info": contact}
		if chance(r, 10) {
			delete(out, "contact_info")
		}
		if chance(r, 40) {
			out["auto_renew"] = chance(r, 50)
		}
		if chance(r, 30) {
			out["redirect_url"] = pick(r, []string{"https://example.org", "https://example.org/", "http://example.net/a"})
		}
		if chance(r, 20) {
			out["workspace_id"] = d.account.workspaceID
		}
		return out
	case setType:
		return d.setArguments(c)
	case zoneType:
		return d.zoneArguments(c)
	case "mailhost_mailbox":
		return map[string]any{"domain": d.domain(c), "local_part": pick(r, []string{"jane", "Jane", "joe", "info"}), "first_name": pick(r, []string{"Jane", "Joe"}), "last_name": "Doe"}
	case "mailhost_dns_record":
		out := map[string]any{"domain": d.domain(c)}
		switch r.IntN(4) {
		case 0:
			out["name"], out["type"], out["value"] = pick(r, []string{"www", "WWW", "ftp"}), "A", pick(r, []string{"192.0.2.1", "192.0.2.2"})
		case 1:
			out["name"], out["type"], out["value"] = pick(r, []string{"@", "txt"}), "TXT", pick(r, []string{"hello world", `"hello world"`, "v=other"})
		case 2:
			out["name"], out["type"], out["value"], out["priority"] = "sub", "MX", pick(r, []string{"mail.example.com", "Mail.Example.com."}), 10*(1+r.IntN(2))
		default:
			out["name"], out["type"], out["value"] = "alias", "CNAME", pick(r, []string{"example.com", "Example.com."})
		}
		if chance(r, 40) {
			out["ttl"] = pick(r, []int{300, 3600})
		}
		return out
	case "mailhost_forwarding":
		out := map[string]any{"target_email": pick(r, []string{"jane@acme.com", "Jane@Acme.com", "else@example.org", "other@example.org"})}
		d.scope(c, out)
		return out
	case "mailhost_master_password":
		out := map[string]any{"name": pick(r, []string{"one", "two"})}
		d.scope(c, out)
		d.passwordSecret(out)
		return out
	case "mailhost_service_account":
		out := map[string]any{"name": pick(r, []string{"ci", "app"})}
		if chance(r, 30) {
			out["expires_at"] = pick(r, []string{"2040-01-01T00:00:00Z", "2040-01-01T01:00:00+01:00", "2041-01-01T00:00:00Z"})
		}
		return out
	case "mailhost_dedicated_ip":
		return map[string]any{"option_id": api.DerivedID(d.account.id, pick(r, []string{"dedicated-ip-option:eu", "dedicated-ip-option:us"}))}
	}
	panic("add " + typeName + " to arguments")
}

// passwordSecret chooses the source of a master password's secret.
func (d *generator) passwordSecret(arguments map[string]any) {
	for _, name := range []string{"generate", "value", "value_wo", "value_wo_version"} {
		delete(arguments, name)
	}
	switch secret := fmt.Sprintf("s3cret-%08x", d.rand.Uint32()); d.rand.IntN(3) {
	case 0:
		arguments["generate"] = true
	case 1:
		d.report.secret("a master password", secret)
		arguments["value"] = secret
	default:
		d.report.secret("a write-only master password", secret)
		arguments["value_wo"], arguments["value_wo_version"] = secret, 1+d.rand.IntN(3)
	}
}

// domain chooses a reference to a domain, or its name.
func (d *generator) domain(c *core.Configuration) any {
	var domains []*core.Block
	for _, b := range c.Blocks {
		if core.TypeOf(b.Addr) == "mailhost_domain" {
			domains = append(domains, b)
		}
	}
	if len(domains) == 0 {
		return d.domainName()
	}
	b := pick(d.rand, domains)
	switch {
	case chance(d.rand, 60):
		return core.Ref{Addr: b.Addr, Attribute: "name"}
	case chance(d.rand, 80):
		return core.Ref{Addr: b.Addr, Attribute: "id"}
	}
	return b.Arguments["name"]
}

// scope chooses the scope of a forwarding rule or a master password.
func (d *generator) scope(c *core.Configuration, arguments map[string]any) {
	switch {
	case chance(d.rand, 60):
		arguments["domain"] = d.domain(c)
	case chance(d.rand, 30):
		arguments["workspace_id"] = d.account.workspaceID
	}
}

// edit makes one change to a configuration and describes it.
func (d *generator) edit(c *core.Configuration) string {
	r := d.rand
	if len(c.Blocks) == 0 {
		d.add(c, d.typeName())
		return "add to an empty configuration"
	}
	b := pick(r, c.Blocks)
	if edited := d.editEntries(b); edited != "" {
		return edited
	}
	switch r.IntN(12) {
	case 0, 1:
		d.add(c, d.typeName())
		return "add a block"
	case 2:
		d.remove(c, b, chance(r, 20))
		return "remove " + b.Addr
	case 3, 4:
		next := d.arguments(c, core.TypeOf(b.Addr))
		if v, ok := next["domain"].(core.Ref); ok && v.Addr == b.Addr {
			return "nothing"
		}
		for _, name := range sortedKeys(next, b.Arguments) {
			if !chance(r, 50) {
				continue
			}
			if v, ok := next[name]; ok {
				b.Arguments[name] = v
			} else {
				delete(b.Arguments, name)
			}
		}
		d.repair(b)
		return "change arguments of " + b.Addr
	case 5:
		return d.rename(c, b, true)
	case 6, 7:
		return d.rename(c, b, false)
	case 8:
		b.CreateBeforeDestroy = !b.CreateBeforeDestroy
		return "toggle create_before_destroy of " + b.Addr
	case 9:
		return d.duplicate(c, b)
	case 10:
		return d.swap(c, b)
	default:
		if core.TypeOf(b.Addr) == "mailhost_domain" {
			b.Arguments["name"] = d.domainName()
			return "new name for " + b.Addr
		}
		return d.trigger(c, b)
	}
}

func sortedKeys(a, b map[string]any) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// repair makes independently chosen arguments consistent.
func (d *generator) repair(b *core.Block) {
	a := b.Arguments
	if a["domain"] != nil && a["workspace_id"] != nil {
		delete(a, "workspace_id")
	}
	switch core.TypeOf(b.Addr) {
	case "mailhost_master_password":
		d.passwordSecret(a)
	case zoneType:
		d.repairZone(b)
	case "mailhost_dns_record":
		value := map[any]string{"A": "192.0.2.9", "TXT": "text", "MX": "mail.example.com", "CNAME": "example.com"}
		if delete(a, "priority"); a["type"] == "MX" {
			a["priority"] = 10
		}
		if v, _ := a["value"].(string); v == "" || (a["type"] == "A") != strings.HasPrefix(v, "192.") || strings.ContainsAny(v, " =") != (a["type"] == "TXT") {
			a["value"] = value[a["type"]]
		}
	}
}

// remove removes a block. Blocks that refer to it are removed too, or get its name
// instead of the reference.
func (d *generator) remove(c *core.Configuration, b *core.Block, forget bool) {
	for _, other := range slices.Clone(c.Blocks) {
		if other == b || !slices.Contains(other.References(), b.Addr) {
			continue
		}
		other.ReplaceTriggeredBy = nil
		if v, ok := other.Arguments["domain"].(core.Ref); !ok || v.Addr != b.Addr {
			continue
		}
		if chance(d.rand, 50) {
			d.remove(c, other, false)
		} else {
			other.Arguments["domain"] = b.Arguments["name"]
		}
	}
	c.Blocks = slices.DeleteFunc(c.Blocks, func(other *core.Block) bool { return other == b })
	c.Imports = slices.DeleteFunc(c.Imports, func(i core.ImportBlock) bool { return i.To == b.Addr })
	c.Moved = slices.DeleteFunc(c.Moved, func(m [2]string) bool { return m[1] == b.Addr })
	if forget {
		c.Removed = append(c.Removed, b.Addr)
	}
}

// rename changes the address of a block, with or without a moved block.
func (d *generator) rename(c *core.Configuration, b *core.Block, moved bool) string {
	to := freeAddress(c, core.TypeOf(b.Addr), "a", "b", "c", "d", "e")
	if to == "" {
		return "nothing"
	}
	from := b.Addr
	for _, other := range c.Blocks {
		for argument, v := range other.Arguments {
			if v, ok := v.(core.Ref); ok && v.Addr == from {
				other.Arguments[argument] = core.Ref{Addr: to, Attribute: v.Attribute}
			}
		}
		for i := range other.ReplaceTriggeredBy {
			if other.ReplaceTriggeredBy[i] == from {
				other.ReplaceTriggeredBy[i] = to
			}
		}
	}
	c.Imports = slices.DeleteFunc(c.Imports, func(i core.ImportBlock) bool { return i.To == from })
	d.avoidMoves(c, to)
	b.Addr = to
	// moved blocks must not form a cycle. They are removed after the apply.
	c.Moved = slices.DeleteFunc(c.Moved, func(m [2]string) bool { return m[0] == from || m[1] == from || m[0] == to || m[1] == to })
	if moved {
		c.Moved = append(c.Moved, [2]string{from, to})
		return "move " + from + " to " + to
	}
	return "rename " + from + " to " + to + " without moved"
}

// duplicate adds a second block for an object, in another spelling if there is one.
func (d *generator) duplicate(c *core.Configuration, b *core.Block) string {
	to := freeAddress(c, core.TypeOf(b.Addr), "a", "b", "c", "d", "e")
	if to == "" {
		return "nothing"
	}
	copied := b.Clone()
	copied.Addr = to
	copied.ReplaceTriggeredBy = nil
	for _, spellings := range domainNames {
		if name, ok := copied.Arguments["name"].(string); ok && core.TypeOf(to) == "mailhost_domain" && slices.Contains(spellings, name) {
			copied.Arguments["name"] = pick(d.rand, spellings)
		}
	}
	d.avoidMoves(c, to)
	c.Blocks = append(c.Blocks, copied)
	return "duplicate " + b.Addr + " as " + to
}

// swap exchanges the arguments of two blocks of a type.
func (d *generator) swap(c *core.Configuration, b *core.Block) string {
	for _, other := range c.Blocks {
		if other == b || core.TypeOf(other.Addr) != core.TypeOf(b.Addr) {
			continue
		}
		name := pick(d.rand, sortedKeys(b.Arguments, other.Arguments))
		if chance(d.rand, 60) {
			b.Arguments, other.Arguments = other.Arguments, b.Arguments
			return "swap " + b.Addr + " and " + other.Addr
		}
		if b.Arguments[name] == nil || other.Arguments[name] == nil || name == "type" || name == "value" {
			return "nothing"
		}
		b.Arguments[name], other.Arguments[name] = other.Arguments[name], b.Arguments[name]
		d.repairZone(b)
		d.repairZone(other)
		return "swap " + name + " of " + b.Addr + " and " + other.Addr
	}
	return "nothing"
}

// trigger adds or removes a replace_triggered_by.
func (d *generator) trigger(c *core.Configuration, b *core.Block) string {
	for _, other := range c.Blocks {
		if other != b && !slices.Contains(c.Dependencies(other), b.Addr) && len(b.ReplaceTriggeredBy) == 0 {
			b.ReplaceTriggeredBy = []string{other.Addr}
			return b.Addr + " is replaced with " + other.Addr
		}
	}
	b.ReplaceTriggeredBy = nil
	return "no replace_triggered_by for " + b.Addr
}

// editEntries changes single entries of a resource with many objects.
func (d *generator) editEntries(b *core.Block) string {
	isSet, isZone := core.TypeOf(b.Addr) == setType, core.TypeOf(b.Addr) == zoneType
	if !isSet && !isZone || !chance(d.rand, 60) {
		return ""
	}
	n := 1 + d.rand.IntN(2)
	if isSet {
		if chance(d.rand, 10) {
			b.TypedMap = !b.TypedMap
		}
		b.Arguments["mailboxes"] = d.setEntries(entriesOf(b), n)
	} else {
		b.Arguments["records"] = d.zoneEntries(b.Arguments["records"].(map[string]any), n)
		d.repairZone(b)
	}
	return "change entries of " + b.Addr
}

// contradicts reports whether two blocks are for the same object. Such a configuration
// need not converge.
func contradicts(c *core.Configuration) bool { return duplicate(c) != nil }

// duplicate returns the first block with an object of an earlier one, or nil.
func duplicate(c *core.Configuration) *core.Block {
	taken := map[string]bool{}
	for _, b := range c.Blocks {
		keys := naturalKeys(c, b)
		if slices.ContainsFunc(keys, func(key string) bool { return taken[key] }) {
			return b
		}
		for _, key := range keys {
			taken[key] = true
		}
	}
	for _, zone := range c.Blocks {
		for _, b := range c.Blocks {
			if core.TypeOf(zone.Addr) == zoneType && core.TypeOf(b.Addr) == "mailhost_dns_record" && domainOf(c, zone.Arguments["domain"]) == domainOf(c, b.Arguments["domain"]) &&
				!ignores(zone.Arguments["ignore"], canonicalKey(fmt.Sprint(b.Arguments["name"], " ", b.Arguments["type"]))) {
				return b
			}
		}
	}
	return nil
}

// naturalKeys identifies the objects of a block.
func naturalKeys(c *core.Configuration, b *core.Block) []string {
	if core.TypeOf(b.Addr) == setType {
		return mailboxKeys(c, b)
	}
	if key := naturalKey(c, b); key != "" {
		return []string{key}
	}
	return nil
}

// naturalKey identifies the object of a block. It is empty if the service allows any
// number of equal objects.
func naturalKey(c *core.Configuration, b *core.Block) string {
	a := b.Arguments
	scope := func() string {
		if a["domain"] != nil {
			return domainOf(c, a["domain"])
		}
		return fmt.Sprint(a["workspace_id"])
	}
	kind := core.TypeOf(b.Addr) + " "
	switch core.TypeOf(b.Addr) {
	case "mailhost_domain":
		return kind + normalized(fmt.Sprint(a["name"]))
	case zoneType:
		return kind + scope()
	case "mailhost_mailbox":
		return kind + strings.ToLower(fmt.Sprint(a["local_part"])) + "@" + scope()
	case "mailhost_dns_record": // a CNAME stands alone, and values have several spellings
		return kind + strings.ToLower(fmt.Sprint(a["name"])) + " " + fmt.Sprint(a["type"]) + " " + scope()
	case "mailhost_forwarding":
		return kind + strings.ToLower(fmt.Sprint(a["target_email"])) + " " + scope()
	case "mailhost_master_password":
		return kind + fmt.Sprint(a["name"]) + " " + scope()
	}
	return ""
}

// domainOf returns the domain name of an argument.
func domainOf(c *core.Configuration, v any) string {
	if r, ok := v.(core.Ref); ok {
		return domainOf(c, c.Block(r.Addr).Arguments["name"])
	}
	return normalized(fmt.Sprint(v))
}

func normalized(name string) string {
	if n, err := domainname.Normalize(name); err == nil {
		return n
	}
	return name
}
