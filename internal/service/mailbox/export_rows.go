package mailbox

// rowCounter counts what is written to it: bytes, and the rows of a CSV text,
// which end at the line breaks outside of quotes (RFC 4180). Unlike a reader of
// CSV it keeps nothing of the text, whatever that is.
type rowCounter struct {
	// tell is called whenever there are this many mailboxes more.
	each int
	tell func(*rowCounter)

	rows, bytes int
	// quoted is whether the text is within quotes by now, begun whether it is
	// within a row.
	quoted, begun bool
}

// Write implements io.Writer.
func (c *rowCounter) Write(p []byte) (int, error) {
	for _, b := range p {
		c.bytes++
		if b == '"' {
			c.quoted = !c.quoted
		}
		c.begun = b != '\n' || c.quoted
		if !c.begun {
			c.end()
		}
	}
	return len(p), nil
}

func (c *rowCounter) end() {
	c.rows++
	if n := c.mailboxes(); n > 0 && n%c.each == 0 {
		c.tell(c)
	}
}

// mailboxes is how many rows there are besides the header.
func (c *rowCounter) mailboxes() int {
	if c.begun { // the last row needs no line break
		return c.rows
	}
	return max(c.rows-1, 0)
}
