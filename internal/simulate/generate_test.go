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

// valuableTypes hold mail or money, and adoptingTypes have on_existing.
var (
	valuableTypes = []string{"mailhost_domain", "mailhost_mailbox", setType, zoneType}
	adoptingTypes = []string{"mailhost_domain", "mailhost_mailbox", setType, "mailhost_dns_record", "mailhost_forwarding"}
)

// undrawn are arguments that no history has: what they do takes longer, or has tests of its own.
var undrawn = []string{"timeouts", "active", "valid_for", "rotate_before", "rotation_triggers", "permissions", "retired"}

// TestHistoriesHaveEverything checks that configurations set each argument of each resource.
func TestHistoriesHaveEverything(t *testing.T) {
	d := &generator{rand: rand.New(rand.NewPCG(1, 1)), account: account{id: uuid.NewString(), workspaceID: uuid.NewString()}, report: &report{}}
	drawn := map[string]bool{}
	for range 300 {
		for _, b := range d.configuration().blocks {
			for name := range b.arguments {
				drawn[typeOf(b.addr)+"."+name] = true
			}
		}
	}
	for typeName, s := range loadSchemas().resources {
		assert.Check(t, typeName == setType || typeName == zoneType || externalChanges[typeName].path != "", "no history changes a %s outside Terraform: add it to externalChanges", typeName)
		for _, a := range s.attributes {
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
func (d *generator) configuration() *configuration {
	c := &configuration{}
	d.add(c, "mailhost_domain")
	for range 1 + d.rand.IntN(6) {
		d.add(c, d.typeName())
	}
	return c
}

// add adds a block at a free address.
func (d *generator) add(c *configuration, typeName string) {
	addr := c.freeAddress(typeName, "a", "b", "c", "d")
	if addr == "" {
		return
	}
	b := &block{addr: addr, arguments: d.arguments(c, typeName), createBeforeDestroy: chance(d.rand, 15)}
	d.repairZone(b)
	if slices.Contains(adoptingTypes, typeName) && chance(d.rand, 30) {
		b.arguments["on_existing"] = pick(d.rand, []string{"adopt", "adopt", "error"})
	}
	b.typedMap = typeName == setType && chance(d.rand, 40)
	d.avoidMoves(c, addr)
	c.blocks = append(c.blocks, b)
}

// freeAddress returns an address with one of the names that no block has, or "".
func (c *configuration) freeAddress(typeName string, names ...string) string {
	for _, name := range names {
		if addr := typeName + "." + name; c.block(addr) == nil {
			return addr
		}
	}
	return ""
}

// avoidMoves removes moved and removed blocks that conflict with a new block.
func (d *generator) avoidMoves(c *configuration, addr string) {
	c.moved = slices.DeleteFunc(c.moved, func(m [2]string) bool { return m[0] == addr })
	c.removed = slices.DeleteFunc(c.removed, func(r string) bool { return r == addr })
}

var contact = map[string]any{
	"address_1": "Street 1", "city": "Berlin", "country": "DE", "email": "owner@example.com", "first_name": "Jane",
	"last_name": "Doe", "organization": "Acme", "phone": "+4930123456", "state": "Berlin", "zip": "10115",
}

func (d *generator) arguments(c *configuration, typeName string) map[string]any {
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
func (d *generator) domain(c *configuration) any {
	var domains []*block
	for _, b := range c.blocks {
		if typeOf(b.addr) == "mailhost_domain" {
			domains = append(domains, b)
		}
	}
	if len(domains) == 0 {
		return d.domainName()
	}
	b := pick(d.rand, domains)
	switch {
	case chance(d.rand, 60):
		return ref{b.addr, "name"}
	case chance(d.rand, 80):
		return ref{b.addr, "id"}
	}
	return b.arguments["name"]
}

// scope chooses the scope of a forwarding rule or a master password.
func (d *generator) scope(c *configuration, arguments map[string]any) {
	switch {
	case chance(d.rand, 60):
		arguments["domain"] = d.domain(c)
	case chance(d.rand, 30):
		arguments["workspace_id"] = d.account.workspaceID
	}
}

// edit makes one change to a configuration and describes it.
func (d *generator) edit(c *configuration) string {
	r := d.rand
	if len(c.blocks) == 0 {
		d.add(c, d.typeName())
		return "add to an empty configuration"
	}
	b := pick(r, c.blocks)
	if edited := d.editEntries(b); edited != "" {
		return edited
	}
	switch r.IntN(12) {
	case 0, 1:
		d.add(c, d.typeName())
		return "add a block"
	case 2:
		d.remove(c, b, chance(r, 20))
		return "remove " + b.addr
	case 3, 4:
		next := d.arguments(c, typeOf(b.addr))
		if v, ok := next["domain"].(ref); ok && v.addr == b.addr {
			return "nothing"
		}
		for _, name := range sortedKeys(next, b.arguments) {
			if !chance(r, 50) {
				continue
			}
			if v, ok := next[name]; ok {
				b.arguments[name] = v
			} else {
				delete(b.arguments, name)
			}
		}
		d.repair(b)
		return "change arguments of " + b.addr
	case 5:
		return d.rename(c, b, true)
	case 6, 7:
		return d.rename(c, b, false)
	case 8:
		b.createBeforeDestroy = !b.createBeforeDestroy
		return "toggle create_before_destroy of " + b.addr
	case 9:
		return d.duplicate(c, b)
	case 10:
		return d.swap(c, b)
	default:
		if typeOf(b.addr) == "mailhost_domain" {
			b.arguments["name"] = d.domainName()
			return "new name for " + b.addr
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
func (d *generator) repair(b *block) {
	a := b.arguments
	if a["domain"] != nil && a["workspace_id"] != nil {
		delete(a, "workspace_id")
	}
	switch typeOf(b.addr) {
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
func (d *generator) remove(c *configuration, b *block, forget bool) {
	for _, other := range slices.Clone(c.blocks) {
		if other == b || !slices.Contains(other.references(), b.addr) {
			continue
		}
		other.replaceTriggeredBy = nil
		if v, ok := other.arguments["domain"].(ref); !ok || v.addr != b.addr {
			continue
		}
		if chance(d.rand, 50) {
			d.remove(c, other, false)
		} else {
			other.arguments["domain"] = b.arguments["name"]
		}
	}
	c.blocks = slices.DeleteFunc(c.blocks, func(other *block) bool { return other == b })
	c.imports = slices.DeleteFunc(c.imports, func(i importBlock) bool { return i.to == b.addr })
	c.moved = slices.DeleteFunc(c.moved, func(m [2]string) bool { return m[1] == b.addr })
	if forget {
		c.removed = append(c.removed, b.addr)
	}
}

// rename changes the address of a block, with or without a moved block.
func (d *generator) rename(c *configuration, b *block, moved bool) string {
	to := c.freeAddress(typeOf(b.addr), "a", "b", "c", "d", "e")
	if to == "" {
		return "nothing"
	}
	from := b.addr
	for _, other := range c.blocks {
		for argument, v := range other.arguments {
			if v, ok := v.(ref); ok && v.addr == from {
				other.arguments[argument] = ref{to, v.attribute}
			}
		}
		for i := range other.replaceTriggeredBy {
			if other.replaceTriggeredBy[i] == from {
				other.replaceTriggeredBy[i] = to
			}
		}
	}
	c.imports = slices.DeleteFunc(c.imports, func(i importBlock) bool { return i.to == from })
	d.avoidMoves(c, to)
	b.addr = to
	// moved blocks must not form a cycle. They are removed after the apply.
	c.moved = slices.DeleteFunc(c.moved, func(m [2]string) bool { return m[0] == from || m[1] == from || m[0] == to || m[1] == to })
	if moved {
		c.moved = append(c.moved, [2]string{from, to})
		return "move " + from + " to " + to
	}
	return "rename " + from + " to " + to + " without moved"
}

// duplicate adds a second block for an object, in another spelling if there is one.
func (d *generator) duplicate(c *configuration, b *block) string {
	to := c.freeAddress(typeOf(b.addr), "a", "b", "c", "d", "e")
	if to == "" {
		return "nothing"
	}
	copied := b.clone()
	copied.addr = to
	copied.replaceTriggeredBy = nil
	for _, spellings := range domainNames {
		if name, ok := copied.arguments["name"].(string); ok && typeOf(to) == "mailhost_domain" && slices.Contains(spellings, name) {
			copied.arguments["name"] = pick(d.rand, spellings)
		}
	}
	d.avoidMoves(c, to)
	c.blocks = append(c.blocks, copied)
	return "duplicate " + b.addr + " as " + to
}

// swap exchanges the arguments of two blocks of a type.
func (d *generator) swap(c *configuration, b *block) string {
	for _, other := range c.blocks {
		if other == b || typeOf(other.addr) != typeOf(b.addr) {
			continue
		}
		name := pick(d.rand, sortedKeys(b.arguments, other.arguments))
		if chance(d.rand, 60) {
			b.arguments, other.arguments = other.arguments, b.arguments
			return "swap " + b.addr + " and " + other.addr
		}
		if b.arguments[name] == nil || other.arguments[name] == nil || name == "type" || name == "value" {
			return "nothing"
		}
		b.arguments[name], other.arguments[name] = other.arguments[name], b.arguments[name]
		d.repairZone(b)
		d.repairZone(other)
		return "swap " + name + " of " + b.addr + " and " + other.addr
	}
	return "nothing"
}

// trigger adds or removes a replace_triggered_by.
func (d *generator) trigger(c *configuration, b *block) string {
	for _, other := range c.blocks {
		if other != b && !slices.Contains(c.dependencies(other), b.addr) && len(b.replaceTriggeredBy) == 0 {
			b.replaceTriggeredBy = []string{other.addr}
			return b.addr + " is replaced with " + other.addr
		}
	}
	b.replaceTriggeredBy = nil
	return "no replace_triggered_by for " + b.addr
}

// editEntries changes single entries of a resource with many objects.
func (d *generator) editEntries(b *block) string {
	isSet, isZone := typeOf(b.addr) == setType, typeOf(b.addr) == zoneType
	if !isSet && !isZone || !chance(d.rand, 60) {
		return ""
	}
	n := 1 + d.rand.IntN(2)
	if isSet {
		if chance(d.rand, 10) {
			b.typedMap = !b.typedMap
		}
		b.arguments["mailboxes"] = d.setEntries(b.entriesOf(), n)
	} else {
		b.arguments["records"] = d.zoneEntries(b.arguments["records"].(map[string]any), n)
		d.repairZone(b)
	}
	return "change entries of " + b.addr
}

// contradicts reports whether two blocks are for the same object. Such a configuration
// need not converge.
func (c *configuration) contradicts() bool { return c.duplicate() != nil }

// duplicate returns the first block with an object of an earlier one, or nil.
func (c *configuration) duplicate() *block {
	taken := map[string]bool{}
	for _, b := range c.blocks {
		keys := c.naturalKeys(b)
		if slices.ContainsFunc(keys, func(key string) bool { return taken[key] }) {
			return b
		}
		for _, key := range keys {
			taken[key] = true
		}
	}
	for _, zone := range c.blocks {
		for _, b := range c.blocks {
			if typeOf(zone.addr) == zoneType && typeOf(b.addr) == "mailhost_dns_record" && c.domainOf(zone.arguments["domain"]) == c.domainOf(b.arguments["domain"]) &&
				!ignores(zone.arguments["ignore"], canonicalKey(fmt.Sprint(b.arguments["name"], " ", b.arguments["type"]))) {
				return b
			}
		}
	}
	return nil
}

// naturalKeys identifies the objects of a block.
func (c *configuration) naturalKeys(b *block) []string {
	if typeOf(b.addr) == setType {
		return c.mailboxKeys(b)
	}
	if key := c.naturalKey(b); key != "" {
		return []string{key}
	}
	return nil
}

// naturalKey identifies the object of a block. It is empty if the service allows any
// number of equal objects.
func (c *configuration) naturalKey(b *block) string {
	a := b.arguments
	scope := func() string {
		if a["domain"] != nil {
			return c.domainOf(a["domain"])
		}
		return fmt.Sprint(a["workspace_id"])
	}
	kind := typeOf(b.addr) + " "
	switch typeOf(b.addr) {
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
func (c *configuration) domainOf(v any) string {
	if r, ok := v.(ref); ok {
		return c.domainOf(c.block(r.addr).arguments["name"])
	}
	return normalized(fmt.Sprint(v))
}

func normalized(name string) string {
	if n, err := domainname.Normalize(name); err == nil {
		return n
	}
	return name
}
