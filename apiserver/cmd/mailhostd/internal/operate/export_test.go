package operate

// RestoreReport is what restore prints.
type RestoreReport = restoreReport
