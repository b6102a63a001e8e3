package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// FillRandomly adds accounts to a store, with something in every table and random text. A store can
// be filled several times, with different seeds below 90.
func FillRandomly(t *testing.T, s store.Store, seed int) {
	t.Helper()
	h := &harness{T: t, store: s, ids: seed * 1_000_000}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range 1 + random.IntN(3) {
		name := fmt.Sprintf("f%d-%d.example", seed, h.ids)
		tenant := h.full(name)
		for i := range random.IntN(300) {
			m := h.newMailbox(tenant, fmt.Sprintf("m%d", i))
			m.FirstName, m.LastName = randomText(random), randomText(random)
			m.Aliases = make([]store.MailboxAlias, random.IntN(3))
			for j := range m.Aliases {
				m.Aliases[j] = store.MailboxAlias{Alias: fmt.Sprintf("m%d-alias%d@%s", i, j, name)}
			}
			h.create(&m)
			if random.IntN(5) == 0 {
				h.update(func(tx store.Tx) error { return tx.DeleteMailbox(tenant.account, m.ID, at(1)) })
			}
		}
	}
}

// randomText returns characters of one to four bytes, without NUL.
func randomText(random *rand.Rand) string {
	alphabet := []rune("aZ '\"\\%_\u00a0éßЖ中\u2028😀\U0010ffff\x01\x7f")
	chars := make([]rune, random.IntN(20))
	for i := range chars {
		chars[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(chars)
}
