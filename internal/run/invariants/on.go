//go:build race || invariants

package invariants

// Enabled says whether this build makes the checks.
const Enabled = true
