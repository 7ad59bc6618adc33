package manifest

// A Selection says how a job selects and reads the records of a file.
type Selection struct {
	TextsBy string // see Input.TextsBy
	Skip    string // the skip condition, or ""
	CutBy   string // see Input.CutBy
	// ReadBy returns the value of Input.ReadBy for behaviours of the job, or "" if the job lacks one.
	ReadBy func(behaviours []string) string
}

// An Except is a part of a file without the records for which a skip condition holds.
type Except struct {
	Part *Part  `json:"part,omitempty"`
	Skip string `json:"skip"`
}

// A LeftOutKind says which records of its part a load left out, as another job sees the same file.
type LeftOutKind int

// The kinds.
const (
	LeftOutNone LeftOutKind = iota // none, or those that the job leaves out, too
	LeftOutAll                     // all: the table has no record of the file
	LeftOutSome                    // those for which SkippedBy holds
	// In the other cases the job cannot tell which records of its behaviours and dates the load left out.
	UnknownBySkip  // those for which SkippedBy holds, which the job cannot evaluate
	UnknownByTexts // those whose texts named no behaviour: the job finds the texts in another way
	UnknownByRead  // those without a user, or of other dates: the job reads users or times in another way
)

// Again reports whether a load of the job has to read the file again.
func (k LeftOutKind) Again() bool { return k == LeftOutAll || k == LeftOutSome }

// LeftOut compares in, a file of a load, with a part of the same file that a job asks for.
func (in *Input) LeftOut(asked *Part, by Selection) LeftOutKind {
	kind := LeftOutNone
	switch meets := in.Part.Meets(asked); {
	case in.Read == 0:
	case !in.loadedAll(by.Skip, by.CutBy):
		kind = LeftOutSome
		if meets && in.CutBy != by.CutBy {
			kind = UnknownBySkip
		}
	case meets && in.TextsBy != by.TextsBy && in.Skips.Unknown > 0:
		kind = UnknownByTexts
	case in.readOtherwise(by) && (in.Skips.WithoutUser > 0 || in.Dates == nil && in.Skips.OutsideDates > 0):
		kind = UnknownByRead
	}
	if kind != LeftOutNone && in.BroughtNone() {
		return LeftOutAll
	}
	return kind
}

// readOtherwise reports whether the job of in read users or times in another way. If a job lacks a behaviour of in,
// or the ledger is of an older version, this is not known.
func (in *Input) readOtherwise(by Selection) bool {
	if in.ReadBy == "" {
		return false
	}
	now := by.ReadBy(in.behaviours())
	return now != "" && now != in.ReadBy
}

// behaviours returns the behaviours of the records that the load was asked for.
func (in *Input) behaviours() []string {
	if in.Behaviour != "" || in.Part == nil {
		return []string{in.Behaviour}
	}
	return in.Part.Behaviours
}
