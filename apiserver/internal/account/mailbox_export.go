package account

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// exportColumns are the columns of the CSV export, in order.
var exportColumns = []string{
	"id", "primary_email", "first_name", "last_name", "domain_name", "status",
	"quota_allowed", "quota_used", "workspace_name", "created_at",
}

// Export is a file that is written as it is read.
type Export struct {
	ContentType, ContentDisposition string
	// Write writes the file.
	Write func(io.Writer) error
}

// ExportMailboxes returns the mailboxes of a request as CSV.
func ExportMailboxes(c *Call, in *api.ExportMailboxesRequest) (*Export, error) {
	filter, err := view(c, func(r store.Reader) (*store.MailboxFilter, error) { return c.exportFilter(r, in.Body) })
	if err != nil {
		return nil, err
	}
	return &Export{
		ContentType:        "text/csv; charset=utf-8",
		ContentDisposition: fmt.Sprintf(`attachment; filename="mailboxes-%s.csv"`, c.at.Format("2006-01-02")),
		Write:              func(w io.Writer) error { return c.writeExport(w, *filter) },
	}, nil
}

// exportFilter selects what a request asks for: each mailbox that it names must
// exist, and lie in the domain that it names.
func (c *Call) exportFilter(r store.Reader, body api.ExportMailboxesBody) (*store.MailboxFilter, error) {
	filter := &store.MailboxFilter{Now: c.at, Within: c.caller.Within(c.spec.Capability)}
	var unknown []*api.Problem
	if body.Domain != nil {
		switch d, err := c.findDomain(r, *body.Domain); {
		case errors.Is(err, store.ErrNotFound):
			unknown = append(unknown, unknownDomain(*body.Domain))
		case err != nil:
			return nil, err
		default:
			filter.DomainID = d.ID
		}
	}
	if body.Mailboxes != nil {
		filter.IDs = []string{}
	}
	for i, ref := range body.Mailboxes {
		if len(unknown) > api.MaxProblems {
			break
		}
		m, err := c.findMailbox(r, ref)
		switch {
		case errors.Is(err, store.ErrNotFound):
			unknown = append(unknown, api.Invalid("the account has no mailbox %.255q", ref).InBody("mailboxes", strconv.Itoa(i)))
		case err != nil:
			return nil, err
		case filter.DomainID != "" && m.DomainID != filter.DomainID:
			unknown = append(unknown, api.Invalid("the mailbox %.255q is not in the domain that the request names", ref).InBody("mailboxes", strconv.Itoa(i)))
		default:
			filter.IDs = append(filter.IDs, m.ID)
		}
	}
	if unknown != nil {
		return nil, api.Unprocessable(unknown...)
	}
	return filter, nil
}

// writeExport writes the rows as they are read.
func (c *Call) writeExport(out io.Writer, filter store.MailboxFilter) error {
	w := newRowWriter(out)
	_ = w.write(exportColumns)
	err := c.eachExported(filter, func(m store.Mailbox) error { return w.write(c.exportRow(m)) })
	if flushErr := w.out.Flush(); err == nil {
		err = flushErr
	}
	return err
}

// exportChunk is how many mailboxes an export holds in memory.
const exportChunk = 500

// eachExported calls fn for each mailbox in order, outside of any transaction: a
// client that reads slowly keeps nobody else from reading. What existed when the
// export began is there once, as it is when its turn comes.
func (c *Call) eachExported(filter store.MailboxFilter, fn func(store.Mailbox) error) error {
	for {
		chunk := make([]store.Mailbox, 0, exportChunk)
		full := errors.New("the chunk is full")
		err := c.rules.store.View(c.ctx, func(r store.Reader) error {
			r.HideUnpaid(LastUnpaid(c.at))
			return r.EachMailbox(c.caller.AccountID, filter, func(m store.Mailbox) error {
				if chunk = append(chunk, m); len(chunk) == exportChunk {
					return full
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, full) {
			return err
		}
		for _, m := range chunk {
			if err := fn(m); err != nil {
				return err
			}
		}
		if err == nil {
			return nil
		}
		filter.After = chunk[len(chunk)-1].Position()
	}
}

// rowWriter writes rows that end in CRLF (RFC 4180). The csv package would do so
// too, but it then changes the line breaks within a cell and drops a single CR.
type rowWriter struct {
	out *bufio.Writer
	row bytes.Buffer
	csv *csv.Writer
}

func newRowWriter(out io.Writer) *rowWriter {
	w := &rowWriter{out: bufio.NewWriter(out)}
	w.csv = csv.NewWriter(&w.row)
	return w
}

func (w *rowWriter) write(cells []string) error {
	w.row.Reset()
	_ = w.csv.Write(cells) // into memory
	w.csv.Flush()
	w.row.Truncate(w.row.Len() - len("\n"))
	w.row.WriteString("\r\n")
	_, err := w.row.WriteTo(w.out)
	return err
}

func (c *Call) exportRow(m store.Mailbox) []string {
	row := []string{
		m.ID, m.Address(), m.FirstName, m.LastName, m.DomainName, m.State.At(c.at),
		strconv.FormatInt(m.QuotaAllowed, 10), strconv.FormatInt(m.QuotaUsed, 10), m.WorkspaceName, timestamp(m.CreatedAt),
	}
	for i, cell := range row {
		row[i] = neutral(cell)
	}
	return row
}
