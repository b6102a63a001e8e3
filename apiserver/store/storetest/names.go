package storetest

import (
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// testNameSearch checks that the three lists with names find an internationalised name by
// any part of it, in Unicode and ASCII.
func testNameSearch(h *harness) {
	t := h.tenant("xn--bcher-kva.example")
	h.domain(t.account, t.workspace, "else.test")
	address := []string{h.mailbox(t, "one")}
	target := []string{h.forwarding(t.account, "one@xn--bcher-kva.example", accountScope(t))}
	h.forwarding(t.account, "one@else.test", accountScope(t))
	name := []string{t.domain}
	check := func(term string, name, address, target []string) {
		lists(h, "domains by "+term, domains(t.account, store.DomainFilter{Search: term}), name...)
		lists(h, "mailboxes by "+term, mailboxes(t.account, store.MailboxFilter{Search: term}), address...)
		f := store.ForwardingFilter{ScopedFilter: store.ScopedFilter{Search: term}}
		lists(h, "rules by "+term, forwardingRules(t.account, f), target...)
	}
	for _, term := range []string{"bücher.example", "BÜCHER", "ücher", "bu\u0308cher", "r.exam", "xn--bcher", "XN--BCHER-KVA.example"} {
		check(term, name, address, target)
	}
	for _, term := range []string{"one@bücher.example", "ONE@BÜCHER.", "one@bu\u0308cher", "@büch", "e@xn--"} {
		check(term, nil, address, target)
	}
	for _, term := range []string{"küche", "bücher.net", ".BÜCHER", "bücher@", "one@@bücher", "%ü", "ü_", "\x00@bücher", strings.Repeat("ü", 10_000)} {
		check(term, nil, nil, nil)
	}
}
