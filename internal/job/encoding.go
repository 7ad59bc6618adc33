package job

import (
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// commonEncodings are the ones that a misspelt name is compared with.
var commonEncodings = []string{"utf-8", "gb18030", "gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-8859-1", "windows-1252", "utf-16", "utf-16le", "utf-16be"}

// knownEncoding says whether golang.org/x/text can read an encoding.
func knownEncoding(name string) bool {
	if _, err := htmlindex.Get(name); err == nil {
		return true
	}
	e, err := ianaindex.IANA.Encoding(name)
	return err == nil && e != nil
}

func isUTF8(name string) bool {
	return strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8")
}
