package account

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/csvfile"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// exportMailboxes exports the mailboxes named in the request, or else all mailboxes of the domain
// or account. Named mailboxes must exist and be in the given domain.
func exportMailboxes(c *Call, r store.Reader, in *api.ExportMailboxesRequest) (*api.CSV, error) {
	filter := store.MailboxFilter{Now: c.Arrival, Within: c.within()}
	var problems []*api.Problem
	if in.Body.Domain != nil {
		switch d, err := c.findDomain(r, *in.Body.Domain); {
		case errors.Is(err, store.ErrNotFound):
			problems = append(problems, unknownDomain(*in.Body.Domain))
		case err != nil:
			return nil, err
		default:
			filter.DomainID = d.ID
		}
	}
	var named []store.Mailbox
	for i, ref := range in.Body.Mailboxes {
		m, err := c.findMailbox(r, ref)
		switch {
		case errors.Is(err, store.ErrNotFound):
			problems = append(problems, api.Invalid("the account has no mailbox %.255q", ref).InBody("mailboxes", strconv.Itoa(i)))
		case err != nil:
			return nil, err
		case filter.DomainID != "" && m.DomainID != filter.DomainID:
			problems = append(problems, api.Invalid("the mailbox %.255q is not in the domain that the request names", ref).InBody("mailboxes", strconv.Itoa(i)))
		default:
			named = append(named, m)
		}
	}
	if problems != nil {
		return nil, api.Unprocessable(problems...)
	}
	if in.Body.Mailboxes != nil {
		slices.SortFunc(named, func(a, b store.Mailbox) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
		filter.IDs = slices.Compact(objects(named, func(m store.Mailbox) string { return m.ID }))
	}
	return &api.CSV{
		Filename: "mailboxes-" + c.Arrival.Format(time.DateOnly) + ".csv",
		Write:    func(w io.Writer) error { return c.writeExport(w, filter) },
	}, nil
}

// writeExport writes the rows while it reads them.
func (c *Call) writeExport(out io.Writer, filter store.MailboxFilter) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true               // RFC 4180
	_ = w.Write(api.ExportColumns) // Flush reports the error
	err := c.eachExported(filter, func(m store.Mailbox) error {
		return w.Write(csvfile.Neutral(m.ID, m.Address(), m.FirstName, m.LastName, m.DomainName, m.State.At(c.Arrival),
			strconv.FormatInt(m.QuotaAllowed, 10), strconv.FormatInt(m.QuotaUsed, 10), m.WorkspaceName, timestamp(m.CreatedAt)))
	})
	w.Flush()
	return cmp.Or(err, w.Error())
}

// exportChunk is how many mailboxes an export holds in memory.
const exportChunk = 500

// eachExported calls fn for each mailbox in order. It runs fn outside of transactions, because a
// client may read slowly. A mailbox that existed at the beginning appears once, with its current
// values.
func (c *Call) eachExported(filter store.MailboxFilter, fn func(store.Mailbox) error) error {
	full := errors.New("the chunk is full")
	for ids := filter.IDs; ; ids = ids[len(filter.IDs):] { // ids are in order; the time of a query grows with their number
		filter.IDs = ids[:min(exportChunk, len(ids))]
		chunk, end := view(c, func(r store.Reader) (chunk []store.Mailbox, err error) { // fails after a revocation
			filter.Within = c.within()
			err = r.EachMailbox(c.Caller.AccountID, filter, func(m store.Mailbox) error {
				if chunk = append(chunk, m); len(chunk) == exportChunk {
					return full
				}
				return nil
			})
			return chunk, err
		})
		if end != nil && !errors.Is(end, full) {
			return end
		}
		for _, m := range chunk {
			if err := fn(m); err != nil {
				return err
			}
		}
		if end == nil && len(ids) <= exportChunk {
			return nil
		}
		if len(chunk) > 0 {
			filter.After = &chunk[len(chunk)-1]
		}
	}
}
