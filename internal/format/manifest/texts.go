package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A TextList has the distinct Texts of the parts in a JSON file. A job has the same texts for all
// delivered files, so a list usually has one entry. Its maps never change.
type TextList []map[string]string

// Refer replaces parts by copies that refer to their Texts by TextsAt. It adds missing Texts to l.
func (l *TextList) Refer(parts []**Part) {
	place := l.finder()
	for _, p := range parts {
		if *p != nil && (*p).Texts != nil {
			short := **p
			short.Texts, short.TextsAt = nil, place(short.Texts)
			*p = &short
		}
	}
}

// Restore sets the Texts of parts that were written after Refer. The parts share the maps of l.
func (l TextList) Restore(parts []**Part) error {
	for _, p := range parts {
		if *p == nil || (*p).TextsAt == nil {
			continue
		}
		at := *(*p).TextsAt
		if at < 0 || at >= len(l) || l[at] == nil {
			return fmt.Errorf("the texts_at of a part is %d, and texts has %d entries", at, len(l))
		}
		(*p).Texts, (*p).TextsAt = l[at], nil
	}
	return nil
}

// Share replaces the Texts of a ledger's parts by equal maps of l. It adds missing Texts to l.
func (l *TextList) Share(ledger *Load) {
	place := l.finder()
	_, parts := ledger.places()
	for _, p := range parts {
		if *p != nil && (*p).Texts != nil {
			(*p).Texts = (*l)[*place((*p).Texts)]
		}
	}
}

// finder returns a function that returns the place of texts in l. The function adds missing texts. It
// compares the content of each map only once.
func (l *TextList) finder() func(texts map[string]string) *int {
	known := map[uintptr]*int{} // by the address of a map
	return func(texts map[string]string) *int {
		address := reflect.ValueOf(texts).Pointer()
		if known[address] == nil {
			at := slices.IndexFunc(*l, func(have map[string]string) bool { return maps.Equal(have, texts) })
			if at < 0 {
				at = len(*l)
				*l = append(*l, texts)
			}
			known[address] = &at
		}
		return known[address]
	}
}

// InputParts returns the places of the parts of a load's files.
func InputParts(all []Input) []**Part {
	out := make([]**Part, len(all))
	for i := range all {
		out[i] = &all[i].Part
	}
	return out
}

func leftOutParts(all []LeftOut) []**Part {
	out := make([]**Part, len(all))
	for i := range all {
		out[i] = &all[i].Part
	}
	return out
}

// A referrer is a file in which parts refer to their Texts.
type referrer interface {
	// copied returns a copy whose parts can be replaced.
	copied() referrer
	// places returns its list of Texts and the places of its parts.
	places() (*TextList, []**Part)
}

// referring returns a copy of f for writing.
func referring(f referrer) any {
	out := f.copied()
	texts, parts := out.places()
	texts.Refer(parts)
	return out
}

// restore reverts referring after a file was read.
func restore(f referrer) error {
	texts, parts := f.places()
	err := texts.Restore(parts)
	*texts = nil
	return err
}

func (l *Load) copied() referrer {
	out := *l
	out.Inputs, out.LeftOut = slices.Clone(l.Inputs), slices.Clone(l.LeftOut)
	return &out
}

func (l *Load) places() (*TextList, []**Part) {
	return &l.Texts, append(InputParts(l.Inputs), leftOutParts(l.LeftOut)...)
}

func (h *Handover) copied() referrer {
	out := *h
	out.Load = h.Load.copied().(*Load)
	return &out
}

func (h *Handover) places() (*TextList, []**Part) { return h.Load.places() }

func (b *Begun) copied() referrer {
	out := *b
	out.Inputs = slices.Clone(b.Inputs)
	return &out
}

func (b *Begun) places() (*TextList, []**Part) { return &b.Texts, InputParts(b.Inputs) }

func (p *Plan) copied() referrer {
	out := *p
	out.Inputs, out.LeftOut = slices.Clone(p.Inputs), slices.Clone(p.LeftOut)
	return &out
}

func (p *Plan) places() (*TextList, []**Part) {
	parts := leftOutParts(p.LeftOut)
	for i := range p.Inputs {
		parts = append(parts, &p.Inputs[i].Part)
	}
	return &p.Texts, parts
}

func (r *Report) copied() referrer {
	out := *r
	out.Inputs = slices.Clone(r.Inputs)
	return &out
}

func (r *Report) places() (*TextList, []**Part) {
	parts := make([]**Part, len(r.Inputs))
	for i := range r.Inputs {
		parts[i] = &r.Inputs[i].Part
	}
	return &r.Texts, parts
}
