package samplelog

// appendBad appends a line that no reader can parse as a behaviour. Each bad line is one
// record, so that counts can be compared.
func (w *writer) appendBad(dst []byte) []byte {
	user, stamp := string(w.user), string(w.stamp)
	mistyped, surplus := false, ""
	switch w.source.below(6) {
	case 0:
		return append(append(append(append(dst, user...), ','), stamp...), '\n')
	case 1:
		surplus = ",?"
	case 2:
		user = ""
	case 3:
		stamp = "2014-13-41 25:61:00"
	case 4:
		user += "\xc3\x28"
	case 5:
		mistyped = true
	}
	dst = append(append(dst, user...), ',')
	dst = append(append(dst, stamp...), ',')
	dst = w.appendRest(dst, w.kind, mistyped)
	return append(append(dst, surplus...), '\n')
}
