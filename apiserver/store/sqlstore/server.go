package sqlstore

func (t *tx) SetPublicURL(url string) (string, error) {
	before, err := only(column[string](&t.reader, `SELECT public_url FROM server`))
	if err != nil || before == url {
		return before, err
	}
	return before, t.change(`UPDATE server SET public_url = $1`, url)
}
