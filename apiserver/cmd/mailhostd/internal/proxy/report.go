package proxy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// Report contains the facts about a host that its responses have shown.
type Report struct {
	Upstream string `json:"upstream"`
	ReadOnly bool   `json:"read_only"`
	// Differs means that an operation differs, or that a published one is absent.
	Differs    bool        `json:"differs"`
	Operations []Operation `json:"operations"`
	Findings   []Finding   `json:"findings"`
	// Outside counts the requests that are for no operation, Unreachable those without a response of the
	// host, Unfinished the responses that were not compared, because they broke off, are too large or are
	// compressed in an unknown way, and Blocked the requests that were not passed on.
	Outside     int `json:"outside"`
	Unreachable int `json:"unreachable"`
	Unfinished  int `json:"unfinished"`
	Blocked     int `json:"blocked"`
	// Cause is the error of the last request without a response, or "".
	Cause string `json:"cause,omitempty"`
}

// The states of an operation.
const (
	Agrees  = "agrees"
	Differs = "differs"
	Absent  = "absent"
	// Refused means that no request succeeded, so that little is known.
	Refused = "refused"
	// NotSeen also holds for an operation with blocked requests only.
	NotSeen = "not_seen"
)

// Operation is an operation of the contract. Number is 0 for a lifecycle operation, which a host may
// lack. Blocked counts the requests that were not passed on.
type Operation struct {
	ID       string `json:"operation"`
	Number   int    `json:"number,omitempty"`
	State    string `json:"state"`
	Requests int    `json:"requests"`
	Blocked  int    `json:"blocked,omitempty"`
}

// Finding is a difference between responses of an operation and the contract.
type Finding struct {
	Operation string `json:"operation"`
	Place     string `json:"place"`
	Expected  string `json:"expected"`
	Received  string `json:"received"`
	Count     int    `json:"count"`
}

// finding collects what was received at one place.
type finding struct {
	received []string
	count    int
}

// maxReceived limits the different values of a finding, and maxFindings the findings.
const (
	maxReceived = 5
	maxFindings = 10_000
)

// find counts a difference.
func (o *observer) find(operation string, d conformance.Difference) {
	key := Finding{Operation: operation, Place: d.Place, Expected: d.Expected}
	f := o.findings[key]
	if f == nil {
		if len(o.findings) == maxFindings {
			return
		}
		f = new(finding)
		o.findings[key] = f
	}
	f.count++
	if len(f.received) < maxReceived && !slices.Contains(f.received, d.Received) {
		f.received = append(f.received, d.Received)
	}
}

// absent reports whether a host lacks an operation.
func (k *observed) absent() bool {
	return !k.exists && len(k.missing) > 0 || !k.succeeded && (k.notFound || k.isForeign)
}

// Report returns the facts so far. Operations have the contract's order, and so have the findings.
func (p *Proxy) Report() Report {
	o := p.observer
	o.mu.Lock()
	defer o.mu.Unlock()
	r := Report{
		Upstream: p.upstream.String(), ReadOnly: p.readOnly, Findings: []Finding{},
		Outside: o.numbers.outside, Unreachable: o.numbers.unreachable, Unfinished: o.numbers.unfinished, Blocked: o.numbers.blocked, Cause: o.cause,
	}
	byOperation := map[string][]Finding{}
	for key, f := range o.findings {
		key.Received, key.Count = strings.Join(f.received, ", "), f.count
		byOperation[key.Operation] = append(byOperation[key.Operation], key)
	}
	for _, s := range api.Specs() {
		k := o.operations[s.ID]
		found := byOperation[s.ID]
		for status, count := range k.missing {
			found = append(found, Finding{s.ID, "status", conformance.StatusesOf(s), strconv.Itoa(status), count})
		}
		if k.byName.notFound && !k.byName.succeeded {
			found = append(found, Finding{s.ID, "status", "a success, because the host shows an object with this name", "404", 1})
		}
		state := k.state(len(found) > 0)
		if state == Differs {
			slices.SortFunc(found, func(a, b Finding) int {
				return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Expected, b.Expected), cmp.Compare(a.Received, b.Received))
			})
			r.Findings = append(r.Findings, found...)
		}
		r.Differs = r.Differs || state == Differs || state == Absent && !s.Lifecycle()
		r.Operations = append(r.Operations, Operation{s.ID, s.Number, state, k.requests, k.blocked})
	}
	return r
}

func (k *observed) state(differs bool) string {
	switch {
	case k.absent():
		return Absent
	case differs:
		return Differs
	case k.succeeded:
		return Agrees
	case k.requests > 0:
		return Refused
	}
	return NotSeen
}

// Requests counts the requests for operations that were passed on.
func (r Report) Requests() (n int) {
	for _, op := range r.Operations {
		n += op.Requests
	}
	return n
}
