package importer

import (
	"fmt"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
)

// A load can add cells to records of earlier loads: see manifest.Load.Rereads. The cells are in the HFiles of these
// loads, and only the column IDs of their records show which load wrote which cell of a merged HFile. Therefore such loads are
// imported together.

// rereadBy reports whether the load again added cells to records of the load of.
func rereadBy(of, again *manifest.Load) bool {
	added := map[string]bool{}
	for i := range of.Inputs {
		if in := &of.Inputs[i]; in.Loaded > 0 {
			added[in.Path] = true
		}
	}
	for i := range again.Inputs {
		if in := &again.Inputs[i]; in.Reread != nil && added[in.Path] {
			return true
		}
	}
	return false
}

// joinedWith returns, for each load and the loads before it, the index of the last load that must be imported
// together with one of them.
func joinedWith(loads []*manifest.Load) []int {
	out := make([]int, len(loads))
	last := 0
	for i, of := range loads {
		for j := len(loads) - 1; j > max(i, last); j-- {
			if loads[j].Rereads() && rereadBy(of, loads[j]) {
				last = j
			}
		}
		last = max(last, i)
		out[i] = last
	}
	return out
}

// checkRereads returns an error if a load of todo added cells to records of a load of all that the target has already.
func (i *importer) checkRereads(all, todo []*manifest.Load) error {
	numbers := map[int]bool{}
	for _, l := range todo {
		numbers[l.Number] = true
	}
	for _, again := range todo {
		if !again.Rereads() {
			continue
		}
		for _, of := range all {
			if of.Number < again.Number && !numbers[of.Number] && rereadBy(of, again) {
				return fmt.Errorf("%w: load %d of %s added fields to records of its load %d, and %s has these records already: read the logs again into it, with bulkload --reread",
					bulkload.ErrRequest, again.Number, i.from.Info().Address, of.Number, i.to.Address)
			}
		}
	}
	return nil
}
