package account

import (
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// A caller that can change forwarding rules must not be able to flood anybody with
// verification messages. Each account and each recipient has a token bucket:
// messageBurst at once, and one more per messageInterval. They are in the store,
// written in the transaction that causes the message, so that neither a restart nor
// another replica nor deleting the rule refills them. Rules that need no message
// are not limited.
const (
	messageBurst    = 20
	messageInterval = time.Minute
)

// takeMessage takes a token for a message of a rule out of both buckets, or returns
// a 429 with the time until there is one.
func (c *Call) takeMessage(tx store.Tx, rule store.Forwarding) error {
	if err := tx.ForgetMessageLimits(c.at); err != nil {
		return err
	}
	for _, limit := range []struct{ bucket, who string }{
		{"account " + rule.AccountID, "the account"}, {"recipient " + rule.TargetEmail, rule.TargetEmail},
	} {
		full := messageBurst * messageInterval // how long an empty bucket takes
		fullAt, err := tx.MessageLimit(limit.bucket)
		if err != nil {
			return err
		}
		// How long the bucket is not full: at most as if it were empty, even if the
		// clock went back.
		filling := min(max(fullAt.Sub(c.at), 0), full)
		if wait := filling + messageInterval - full; wait > 0 {
			seconds := int((wait + time.Second - 1) / time.Second)
			return api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
				"too many verification messages for %s: %d at once are allowed, and one in %.0f s after that; nothing was changed, try again in %d s",
				limit.who, messageBurst, messageInterval.Seconds(), seconds).At("body", "target_email").RetryAfter(seconds)
		}
		if err := tx.SetMessageLimit(limit.bucket, c.at.Add(filling+messageInterval)); err != nil {
			return err
		}
	}
	return nil
}
