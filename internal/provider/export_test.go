package provider

// Constructors of what the provider offers before it is guarded, which shows what
// package each is of.
var (
	ResourceConstructors   = resources
	DataSourceConstructors = dataSources
)
