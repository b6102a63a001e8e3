package account_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const submitFeedback = "mailhost_submit_feedback"

func TestFeedback(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		var sent, received map[string]any
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			sent, received = nil, nil
			body, err := io.ReadAll(r.Body)
			assert.Check(t, err == nil && json.Unmarshal(body, &sent) == nil, "sent %s, %v", body, err)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			acctest.Rewrite(w, r, next, func(text string) string {
				assert.Check(t, json.Unmarshal([]byte(text), &received), "received %s", text)
				return text
			})
		}))
		progress, diags := p.Invoke(submitFeedback, map[string]any{
			"title": "Aliases", "description": "Please let us add aliases.", "category": "feature_request",
			"attributes": `{"seats": 12345678901234567890, "area": {"page": "mailboxes"}}`, "paid_product_feature": true,
		})
		p.NoErrors(diags)
		id, _ := received["id"].(string)
		want := `The feedback "Aliases" was submitted. Its id is ` + id + ", its category feature_request and its status new."
		assert.Check(t, len(progress) == 1 && progress[0] == want && id != "", "progress %q, want %q", progress, want)
		attributes, _ := json.Marshal(sent["attributes"])
		assert.Check(t, sent["description"] == "Please let us add aliases." && sent["paid_product_feature"] == true && strings.Contains(string(attributes), `"page":"mailboxes"`), "sent %v", sent)

		if _, diags = p.Invoke(submitFeedback, map[string]any{"title": "T", "description": "D"}); len(diags) > 0 {
			t.Error(acctest.Render(diags))
		}
		assert.Check(t, len(sent) == 2 && received["category"] == "other" && received["paid_product_feature"] == false, "sent %v, received %v", sent, received)
	})
}
