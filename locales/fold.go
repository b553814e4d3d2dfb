package locales

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Fold makes texts comparable for a search: composed, in small letters, ё as е.
func Fold(s string) string {
	return strings.ReplaceAll(strings.ToLower(norm.NFC.String(s)), "ё", "е")
}
