package replay

// A line without marks does not show whether its place was changed, or whether its text is corrected. Earlier releases wrote such
// lines. If the delivered file still has the loaded bytes, a comparison with it shows whether a line begins at the offset and has the
// number that the quarantine file names. It also shows whether the text differs from the delivered text. It does not show that the place
// was changed to the place of another bad record.

// compare compares the lines of one record that have no marks with the delivered file. It sets edited of texts that differ. It returns an
// error if the place of a line was changed. If the delivered file cannot be read, compare accepts the lines as they are.
func (w *wholeTexts) compare(texts []correction) error {
	var unmarked []*correction
	var raws [][]byte
	for i := range texts {
		x := &texts[i]
		if x.clip != entire {
			return nil // the record is read from the delivered file
		}
		if !x.marked {
			unmarked, raws = append(unmarked, x), append(raws, x.raw)
		}
	}
	if len(unmarked) == 0 || w.open() != nil {
		return nil
	}
	line, same, err := w.reader.Match(unmarked[0].offset, raws)
	if err != nil {
		return nil //nolint:nilerr // as if the file was gone
	}
	for i, x := range unmarked {
		if x.line != line {
			return w.file.from.moved(x.at)
		}
		x.edited = !same[i]
	}
	return nil
}
