package userimport

// ImportBulk is the size of a request, for the test of a smaller one.
const ImportBulk = importBulk
