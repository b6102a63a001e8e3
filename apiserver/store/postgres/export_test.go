package postgres

// WithBlockRows sets the number of rows of a new block of a list.
func (o Options) WithBlockRows(n int) Options {
	o.blockRows = n
	return o
}
