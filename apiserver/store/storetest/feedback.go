package storetest

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"

	"gotest.tools/v3/assert"
)

// testFeedback checks only creation, because no operation reads feedback.
func testFeedback(h *harness) {
	f := store.Feedback{
		ID: h.id(), AccountID: h.account(), Title: "Title", Description: "Ünïcode", Category: "other", Status: "new",
		Attributes: []byte(`{"a":1}`), PaidProductFeature: true, CreatedAt: epoch,
	}
	h.create(&f)
	equal(h, "CreatedAt", f.CreatedAt, epoch)
	equal(h, "UpdatedAt", f.UpdatedAt, epoch)
	h.taken(f.ID, new(f))
	second := store.Feedback{ID: h.id(), AccountID: f.AccountID, CreatedAt: epoch}
	h.create(&second)
	assert.Check(h, second.CreatedAt.After(f.CreatedAt), "created at %v after %v", second.CreatedAt, f.CreatedAt)
}

func testPublicURL(h *harness) {
	before := ""
	for _, url := range []string{"https://a.example", "https://a.example", "https://b.example"} {
		h.update(func(tx store.Tx) error {
			got, err := tx.SetPublicURL(url)
			if err == nil {
				equal(h, "the URL before", got, before)
			}
			return err
		})
		before = url
	}
}
