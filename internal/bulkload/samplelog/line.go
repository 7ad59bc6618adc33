package samplelog

import "strconv"

// Shares of fields that are empty or need quotes.
const (
	nullSeconds  = 0.005
	nullChannel  = 0.01
	nullReferrer = 0.35
	specialTitle = 0.02
	longNote     = 0.02
	badPassword  = 0.03
)

// notNumber is the value of the typed field in a bad line.
const notNumber = "n/a"

// appendRest appends the part of a line after user and time, without its newline. If mistyped
// is set, a typed field has a value of another type.
func (w *writer) appendRest(dst []byte, kind int, mistyped bool) []byte {
	switch kind {
	case play:
		return w.appendPlay(dst, mistyped)
	case order:
		return w.appendOrder(dst, mistyped)
	case visit:
		return w.appendVisit(dst, mistyped)
	default:
		return w.appendLogin(dst, mistyped)
	}
}

func (w *writer) appendPlay(dst []byte, mistyped bool) []byte {
	d := w.source
	title := d.skewed(len(titleBegins) * len(titleEnds))
	episode := 1 + d.skewed(60)
	if d.chance(specialTitle) {
		dst = append(dst, specials[title%len(specials)]...)
	} else {
		dst = append(dst, titleBegins[title%len(titleBegins)]...)
		dst = append(dst, titleEnds[title/len(titleBegins)]...)
		dst = append(dst, " 第"...)
		dst = strconv.AppendInt(dst, int64(episode), 10)
		dst = append(dst, "集"...)
	}
	dst = append(dst, ',')
	if !d.chance(nullChannel) {
		dst = append(dst, channels[d.skewed(len(channels))]...)
	}
	dst = append(dst, ',')
	switch {
	case mistyped:
		dst = append(dst, notNumber...)
	case !d.chance(nullSeconds):
		dst = strconv.AppendInt(dst, int64(5+d.skewed(7200)), 10)
	}
	dst = append(dst, ",http://vod"...)
	dst = append(dst, byte('1'+d.below(8)))
	dst = append(dst, ".stb.example.cn/series/"...)
	dst = strconv.AppendInt(dst, int64(10_000+title), 10)
	dst = append(dst, "/e"...)
	dst = strconv.AppendInt(dst, int64(episode), 10)
	dst = append(dst, ".m3u8?sid="...)
	dst = appendHex(dst, d.Uint64(), 16)
	dst = append(dst, "&node="...)
	dst = appendHex(dst, d.Uint64(), 12)
	return w.appendToken(dst)
}

func (w *writer) appendOrder(dst []byte, mistyped bool) []byte {
	d := w.source
	dst = append(dst, products[d.skewed(len(products))]...)
	dst = append(dst, ',')
	if mistyped {
		dst = append(dst, notNumber...)
	} else {
		dst = append(dst, prices[d.below(len(prices))]...)
	}
	dst = append(dst, ',')
	dst = strconv.AppendInt(dst, int64(1+d.skewed(4)), 10)
	dst = append(dst, ',')
	if d.chance(longNote) {
		return append(dst, longNotes[d.below(len(longNotes))]...)
	}
	return append(dst, notes[d.below(len(notes))]...)
}

func (w *writer) appendVisit(dst []byte, mistyped bool) []byte {
	d := w.source
	dst = w.appendPage(dst)
	dst = w.appendToken(dst)
	dst = append(dst, ',')
	if !d.chance(nullReferrer) {
		dst = w.appendPage(dst)
	}
	dst = append(dst, ',')
	if mistyped {
		return append(dst, notNumber...)
	}
	return strconv.AppendInt(dst, int64(d.skewed(600)), 10)
}

func (w *writer) appendPage(dst []byte) []byte {
	dst = append(dst, "http://epg.stb.example.cn/"...)
	dst = append(dst, pages[w.source.skewed(len(pages))]...)
	dst = append(dst, "?item="...)
	dst = strconv.AppendInt(dst, int64(100_000+w.source.skewed(900_000)), 10)
	dst = append(dst, "&from="...)
	dst = append(dst, pages[w.source.skewed(len(pages))]...)
	dst = append(dst, "&page="...)
	return appendHex(dst, w.source.Uint64(), 14)
}

func (w *writer) appendLogin(dst []byte, mistyped bool) []byte {
	d := w.source
	dst = append(dst, devices[d.skewed(len(devices))]...)
	dst = append(dst, "/build"...)
	dst = strconv.AppendInt(dst, int64(20_120_000+d.skewed(20_000)), 10)
	ip := d.Uint64()
	dst = append(dst, ",10."...)
	for shift := 0; shift < 24; shift += 8 {
		dst = strconv.AppendUint(dst, ip>>shift&0xff, 10)
		dst = append(dst, '.')
	}
	dst[len(dst)-1] = ','
	switch {
	case mistyped:
		return append(dst, notNumber...)
	case d.chance(badPassword):
		return append(dst, "false"...)
	default:
		return append(dst, "true"...)
	}
}

// appendToken appends an address as long as the addresses of real logs with wide lines.
func (w *writer) appendToken(dst []byte) []byte {
	if !w.wide {
		return dst
	}
	dst = append(dst, "&token="...)
	for range 4 {
		dst = appendHex(dst, w.source.Uint64(), 16)
	}
	return dst
}
