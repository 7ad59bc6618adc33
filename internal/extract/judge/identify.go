package judge

import "usertrail/internal/format/layout"

// identify sets the IDs of the users with events in the result. A part holds these IDs until it is
// written. They are not parts of the keys, so that a part does not hold the keys, too.
func identify(l layout.Layout, s *Batch) error {
	size := 0
	for i := range s.Users {
		if u := &s.Users[i]; u.To > u.From {
			size += len(u.Key)
		}
	}
	ids := make([]byte, 0, size)
	for i := range s.Users {
		u := &s.Users[i]
		if u.To == u.From {
			continue
		}
		at := len(ids)
		var err error
		if ids, err = l.AppendUser(ids, u.Key); err != nil {
			return err
		}
		u.ID = ids[at:len(ids):len(ids)]
	}
	return nil
}
