// Package dedicatedip has the resource mailhost_dedicated_ip, its data sources and
// its list resource, and the data source of the options that it is claimed from.
package dedicatedip
