//go:build race || invariants

package invariants

// Enabled reports whether this build makes the checks.
const Enabled = true
