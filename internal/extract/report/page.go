package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"

	"usertrail/internal/run/quantity"
	"usertrail/internal/run/visible"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	styleText string

	page = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page").Funcs(words).Parse(pageText))
	})
)

// words are the functions that the page calls to format numbers.
var words = template.FuncMap{
	"count":    count,
	"size":     size,
	"share":    share,
	"plural":   quantity.Of[int64],
	"bar":      bar,
	"heat":     heat,
	"seconds":  lasting,
	"times":    timesText,
	"lengths":  lengthsText,
	"active":   activeText,
	"per":      per,
	"visible":  visible.Text,
	"next":     func(i int) int { return i + 1 },
	"previous": func(i int) int { return i - 1 },
}

// view is the data of the page's template: a report, and how it is loaded.
type view struct {
	*Report
	Style  template.CSS
	Policy string
}

// pageBegins is the beginning of every page, by which a page is recognized.
const pageBegins = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src &#39;sha256-"

// IsPage reports whether the file that r reads begins like a file that HTML wrote.
func IsPage(r io.Reader) (bool, error) {
	b := make([]byte, len(pageBegins))
	n, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return string(b[:n]) == pageBegins, err
}

// HTML writes r as one page that loads nothing. The page's policy allows only its own style.
func (r *Report) HTML(w io.Writer) error {
	sum := sha256.Sum256([]byte(styleText))
	policy := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
	if err := page().Execute(w, view{r, template.CSS(styleText), policy}); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}
