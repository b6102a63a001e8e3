package store

// ServerWriter writes what the servers of a database share.
type ServerWriter interface {
	// SetPublicURL stores the URL under which a server is reached, and returns the one
	// before: "" on a new database.
	SetPublicURL(url string) (before string, err error)
}
