package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// runner runs plans and applies of a configuration.
type runner interface {
	// plan plans a configuration and returns a description of each change.
	plan(ctx context.Context, blocks []*block) (changes []string, err error)
	// apply applies the latest plan. warned reports that there was a warning.
	apply(ctx context.Context) (warned bool, err error)
}

// core is a runner that does what Terraform's core does, for resources whose arguments
// are all known.
type core struct {
	network *network
	token   string
	schemas *tfprotov6.GetProviderSchemaResponse

	mu      sync.Mutex
	state   map[string]*object
	planned []*change
}

// object is a resource in the state.
type object struct {
	block    *block // as it was applied
	value    tftypes.Value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	tainted  bool
}

// change is what a plan does to one resource.
type change struct {
	block   *block // nil: destroy
	prior   *object
	replace bool
}

func (c *change) String() string {
	switch {
	case c.block == nil:
		return "destroy " + c.prior.block.addr()
	case c.prior == nil:
		return "create " + c.block.addr()
	case c.replace:
		return "replace " + c.block.addr()
	}
	return "update " + c.block.addr()
}

// parallelism is how many calls a walk makes at a time, as Terraform's by default.
const parallelism = 10

func newCore(n *network, token string) (*core, error) {
	server := provider.NewServer(provider.New("chaos")())
	schemas, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	return &core{network: n, token: token, schemas: schemas, state: map[string]*object{}}, err
}

// start returns a provider process for one walk.
func (c *core) start(ctx context.Context) (tfprotov6.ProviderServer, error) {
	server := provider.NewServer(provider.NewReplaced("chaos", provider.Replacements{Transport: c.network})())
	config := dynamic(newValue(c.schemas.Provider.ValueType(), map[string]any{
		"base_url": "http://api.example.com", "account_id": apitest.AccountID, "token": c.token,
	}))
	resp, err := server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.15.0", Config: config})
	if err != nil {
		return nil, err
	}
	_, err = verdict("provider", resp.Diagnostics)
	return server, err
}

// verdict returns the errors of diagnostics, and whether there is a warning.
func verdict(addr string, diagnostics []*tfprotov6.Diagnostic) (warned bool, err error) {
	var errs []error
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s: %s", addr, d.Summary, d.Detail))
		} else {
			warned = true
		}
	}
	return warned, errors.Join(errs...)
}

// inParallel calls fn for each item, and returns all errors.
func inParallel[T any](items []T, fn func(T) error) error {
	errs := make([]error, len(items))
	slots := make(chan struct{}, parallelism)
	var wg sync.WaitGroup
	for i, item := range items {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = fn(item)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// plan implements runner.
func (c *core) plan(ctx context.Context, blocks []*block) (changes []string, err error) {
	c.planned = nil
	server, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	all := byAddress(blocks)
	for addr, o := range c.state {
		if all[addr] == nil {
			all[addr] = o.block
		}
	}
	configured := byAddress(blocks)
	err = inParallel(slices.Sorted(maps.Keys(all)), func(addr string) error {
		one, err := c.planOne(ctx, server, addr, configured[addr])
		c.mu.Lock()
		defer c.mu.Unlock()
		if one != nil {
			c.planned = append(c.planned, one)
			changes = append(changes, one.String())
		}
		return err
	})
	slices.Sort(changes)
	return changes, err
}

// planOne refreshes a resource and plans it. b is nil if it is not configured.
func (c *core) planOne(ctx context.Context, server tfprotov6.ProviderServer, addr string, b *block) (*change, error) {
	c.mu.Lock()
	prior := c.state[addr]
	c.mu.Unlock()
	if prior != nil {
		refreshed, err := c.read(ctx, server, prior)
		if err != nil {
			return nil, err
		}
		c.put(addr, refreshed)
		prior = refreshed
	}
	switch {
	case b == nil && prior == nil:
		return nil, nil
	case b == nil:
		_, _, err := c.planChange(ctx, server, prior, nil)
		return &change{prior: prior}, err
	}
	validated, err := server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: b.typeName, Config: dynamic(c.config(b))})
	if err != nil {
		return nil, err
	}
	if _, err := verdict(addr, validated.Diagnostics); err != nil {
		return nil, err
	}
	if prior != nil && prior.tainted {
		return &change{block: b, prior: prior, replace: true}, nil
	}
	resp, planned, err := c.planChange(ctx, server, prior, b)
	switch {
	case err != nil:
		return nil, err
	case prior == nil:
		return &change{block: b}, nil
	case len(resp.RequiresReplace) > 0:
		return &change{block: b, prior: prior, replace: true}, nil
	case planned.Equal(prior.value):
		return nil, nil
	}
	return &change{block: b, prior: prior}, nil
}

func (c *core) put(addr string, o *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o == nil {
		delete(c.state, addr)
	} else {
		c.state[addr] = o
	}
}

func (c *core) read(ctx context.Context, server tfprotov6.ProviderServer, o *object) (*object, error) {
	resp, err := server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{
		TypeName: o.block.typeName, CurrentState: dynamic(o.value), CurrentIdentity: o.identity, Private: o.private,
	})
	if err != nil {
		return nil, err
	}
	if _, err := verdict(o.block.addr(), resp.Diagnostics); err != nil {
		return nil, err
	}
	now, err := c.decode(o.block.typeName, resp.NewState)
	if err != nil || now.IsNull() {
		return nil, err
	}
	return &object{o.block, now, resp.Private, resp.NewIdentity, o.tainted}, nil
}

// planChange calls PlanResourceChange; b is nil for a destroy, and prior for a create.
func (c *core) planChange(ctx context.Context, server tfprotov6.ProviderServer, prior *object, b *block) (*tfprotov6.PlanResourceChangeResponse, tftypes.Value, error) {
	planned := b // the block that the result belongs to
	if b == nil {
		planned = prior.block
	}
	req := &tfprotov6.PlanResourceChangeRequest{TypeName: planned.typeName}
	before, config := c.null(planned.typeName), c.null(planned.typeName)
	if b != nil {
		config = c.config(b)
	}
	if prior != nil {
		before, req.PriorPrivate, req.PriorIdentity = prior.value, prior.private, prior.identity
	}
	req.PriorState, req.Config = dynamic(before), dynamic(config)
	req.ProposedNewState = dynamic(c.proposed(req.TypeName, before, config))
	resp, err := server.PlanResourceChange(ctx, req)
	if err != nil {
		return nil, tftypes.Value{}, err
	}
	if _, err := verdict(planned.addr(), resp.Diagnostics); err != nil {
		return nil, tftypes.Value{}, err
	}
	value, err := c.decode(req.TypeName, resp.PlannedState)
	return resp, value, err
}

// proposed returns the proposed new state: computed attributes that are not configured
// keep their prior values.
func (c *core) proposed(typeName string, prior, config tftypes.Value) tftypes.Value {
	if prior.IsNull() || config.IsNull() {
		return config
	}
	before, attributes := fieldsOf(prior), maps.Clone(fieldsOf(config))
	for _, a := range c.schemas.ResourceSchemas[typeName].Block.Attributes {
		if a.Computed && attributes[a.Name].IsNull() {
			attributes[a.Name] = before[a.Name]
		}
	}
	return tftypes.NewValue(c.resourceType(typeName), attributes)
}

// apply implements runner. It destroys first, the dependent objects before others, and
// then creates and updates, the dependent ones after others. What depends on a failure is
// skipped.
func (c *core) apply(ctx context.Context) (warned bool, err error) {
	server, err := c.start(ctx)
	if err != nil {
		return false, err
	}
	var destroys, others []*block
	changes := map[string]*change{}
	dependents := map[string][]string{}
	for _, o := range c.state {
		for _, need := range o.block.needs {
			dependents[need] = append(dependents[need], o.block.addr())
		}
	}
	for _, one := range c.planned {
		if one.block == nil || one.replace {
			destroys = append(destroys, one.prior.block)
			changes[one.prior.block.addr()] = one
		}
		if one.block != nil {
			others = append(others, one.block)
			changes[one.block.addr()] = one
		}
	}
	var mu sync.Mutex
	failed := map[string]bool{}
	walk := func(group []*block, needs func(*block) []string, fn func(*change) (bool, error)) {
		err = errors.Join(err, inParallel(group, func(b *block) error {
			mu.Lock()
			skip := failed[b.addr()] || slices.ContainsFunc(needs(b), func(need string) bool { return failed[need] })
			failed[b.addr()] = failed[b.addr()] || skip
			mu.Unlock()
			if skip {
				return nil
			}
			warning, err := fn(changes[b.addr()])
			mu.Lock()
			defer mu.Unlock()
			warned = warned || warning
			failed[b.addr()] = err != nil
			return err
		}))
	}
	for _, group := range slices.Backward(levels(inOrder(destroys))) {
		walk(group, func(b *block) []string { return dependents[b.addr()] }, func(one *change) (bool, error) {
			return c.applyChange(ctx, server, one.prior, nil)
		})
	}
	for _, group := range levels(inOrder(others)) {
		walk(group, func(b *block) []string { return b.needs }, func(one *change) (bool, error) {
			prior := one.prior
			if one.replace {
				prior = nil
			}
			return c.applyChange(ctx, server, prior, one.block)
		})
	}
	return warned, err
}

// inOrder sorts blocks so that each is after those that it needs.
func inOrder(blocks []*block) []*block {
	order := []string{"mailhost_dedicated_ip", "mailhost_service_account", "mailhost_domain", "mailhost_mailbox"}
	rank := func(b *block) int {
		if i := slices.Index(order, b.typeName); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(blocks, func(a, b *block) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.addr(), b.addr())
	})
	return blocks
}

// applyChange plans a change again, as Terraform does, and applies it.
func (c *core) applyChange(ctx context.Context, server tfprotov6.ProviderServer, prior *object, b *block) (warned bool, err error) {
	applied := b // the block that the result belongs to
	if b == nil {
		applied = prior.block
	}
	addr, typeName := applied.addr(), applied.typeName
	before, config := c.null(typeName), c.null(typeName)
	if b != nil {
		config = c.config(b)
	}
	if prior != nil {
		before = prior.value
	}
	planned, value, err := c.planChange(ctx, server, prior, b)
	if err != nil {
		return false, err
	}
	resp, err := server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: dynamic(before), Config: dynamic(config), PlannedState: dynamic(value),
		PlannedPrivate: planned.PlannedPrivate, PlannedIdentity: planned.PlannedIdentity,
	})
	if err != nil {
		return false, err
	}
	warned, err = verdict(addr, resp.Diagnostics)
	now, decodeErr := c.decode(typeName, resp.NewState)
	err = errors.Join(err, decodeErr)
	switch {
	case now.IsNull():
		c.put(addr, nil)
		if err == nil && b != nil {
			err = fmt.Errorf("%s: the provider returned no object", addr)
		}
	case b == nil && err == nil:
		err = fmt.Errorf("%s: the provider returned an object that it has destroyed", addr)
	default:
		c.put(addr, &object{applied, now, resp.Private, resp.NewIdentity, err != nil && prior == nil})
	}
	return warned, err
}

func (c *core) resourceType(typeName string) tftypes.Object {
	return c.schemas.ResourceSchemas[typeName].ValueType().(tftypes.Object)
}

func (c *core) null(typeName string) tftypes.Value {
	return tftypes.NewValue(c.resourceType(typeName), nil)
}

func (c *core) config(b *block) tftypes.Value {
	return newValue(c.resourceType(b.typeName), b.arguments)
}

func (c *core) decode(typeName string, d *tfprotov6.DynamicValue) (tftypes.Value, error) {
	if d == nil {
		return c.null(typeName), nil
	}
	return d.Unmarshal(c.resourceType(typeName))
}

func dynamic(v tftypes.Value) *tfprotov6.DynamicValue {
	d, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err)
	}
	return &d
}

func fieldsOf(v tftypes.Value) map[string]tftypes.Value {
	var fields map[string]tftypes.Value
	if err := v.As(&fields); err != nil {
		panic(err)
	}
	return fields
}

// newValue converts a Go value to a value of type t. Missing attributes are null.
func newValue(t tftypes.Type, v any) tftypes.Value {
	switch v := v.(type) {
	case int:
		return tftypes.NewValue(t, big.NewFloat(float64(v)))
	case []any:
		items := make([]tftypes.Value, len(v))
		for i := range v {
			items[i] = newValue(t.(tftypes.List).ElementType, v[i])
		}
		return tftypes.NewValue(t, items)
	case map[string]any:
		fields := map[string]tftypes.Value{}
		switch t := t.(type) {
		case tftypes.Object:
			for name, inner := range t.AttributeTypes {
				fields[name] = newValue(inner, v[name])
			}
			return tftypes.NewValue(t, fields)
		case tftypes.Map:
			for name := range v {
				fields[name] = newValue(t.ElementType, v[name])
			}
			return tftypes.NewValue(t, fields)
		}
		types := map[string]tftypes.Type{}
		for name := range v { // of a dynamic type, as HCL's { … }
			fields[name] = newValue(tftypes.DynamicPseudoType, v[name])
			types[name] = fields[name].Type()
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, fields)
	case string:
		if t.Is(tftypes.DynamicPseudoType) {
			return tftypes.NewValue(tftypes.String, v)
		}
	}
	return tftypes.NewValue(t, v)
}
