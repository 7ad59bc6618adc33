package job

import "strings"

// readPattern reads the paths of the logs.
func (b *builder) readPattern() {
	v := b.logs.get("path")
	if !v.given() {
		return
	}
	p := &Pattern{}
	for _, k := range b.job.Behaviours {
		p.paths = append(p.paths, k.Path)
	}
	var statics []string
	for _, item := range v.items() {
		s, ok := item.word()
		if !ok {
			continue
		}
		g, static, err := compile(b.doc.folder(), s, p.paths)
		if err != nil {
			item.wrong("%v", err)
			continue
		}
		b.checkPathNames(item, g)
		b.checkSlashes(item, g)
		if b.logs.get("behaviour").given() {
			g.kind = -1 // even if the job has only one behaviour
		}
		p.globs, statics = append(p.globs, g), append(statics, static)
	}
	if len(p.globs) == 0 {
		return
	}
	if err := p.setRoot(b.doc.folder(), statics); err != nil {
		v.wrong("%v", err)
	}
	b.job.Pattern = p
	b.checkRequired(p)
	b.checkLeast()
}

// checkSlashes reports a behaviour whose name cannot be a part of a path, if paths name behaviours.
func (b *builder) checkSlashes(v value, g glob) {
	if !g.kinded {
		return
	}
	for i, k := range b.job.Behaviours {
		if name := b.job.Schema.Kinds[i].Name; k.Path == name && strings.Contains(name, "/") {
			v.wrong("{behaviour} is a part of a name without a slash, and the behaviour %q has one: give the behaviour the key path", name)
		}
	}
}

// checkLeast reports a behaviour with a minimum of records if files hold records of several
// behaviours.
func (b *builder) checkLeast() {
	if !b.logs.get("behaviour").given() {
		return
	}
	for _, k := range b.kinds {
		if k.least.given() {
			k.least.wrong("a file has records of several behaviours, and min_records counts those of a file: write it under logs")
		}
	}
}

// checkRequired reports a required behaviour if the paths cannot show that its file is missing.
func (b *builder) checkRequired(p *Pattern) {
	if p.Dated() {
		return
	}
	for _, k := range b.kinds {
		if k.settings.Required {
			k.required.wrong("a missing file is noticed only if the path names the day: put {date} in logs.path")
		}
	}
}

// checkPathNames reports a path that lacks a name that nothing else has, and a path with a name
// that something else has too.
func (b *builder) checkPathNames(v value, g glob) {
	byColumn := b.logs.get("behaviour").given()
	switch {
	case byColumn && g.kinded:
		v.wrong("{behaviour} in the path, but logs.behaviour says that a column tells: remove one of them")
	case !byColumn && !g.kinded && len(b.kinds) > 1:
		v.wrong("nothing tells which behaviour is in a file: put {behaviour} in the path, or name its column in logs.behaviour")
	}
	if !g.dated {
		for _, format := range b.noYear {
			format.wrong("names no year, and neither does the path: put {date} in logs.path, or give a time its year, such as year: 2014")
		}
	}
}
