package operate

// What the commands print, for the tests of what they do.
type (
	LoadedFixture = loadedFixture
	ObjectCount   = objectCount
	RestoreReport = restoreReport
)
