package locales

// The keys of a Russian layout and those of the Latin one under them, in the same order.
const (
	russianKeys = "йцукенгшщзхъфывапролджэячсмитьбю.ёЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,Ё"
	latinKeys   = "qwertyuiop[]asdfghjkl;'zxcvbnm,./`QWERTYUIOP{}ASDFGHJKL:\"ZXCVBNM<>?~"
)

var latin = func() map[rune]rune {
	to := []rune(latinKeys)
	m := make(map[rune]rune, len(to))
	for i, r := range []rune(russianKeys) {
		m[r] = to[i]
	}
	return m
}()

// LatinKey returns what the same key gives on a Latin layout when r was typed on a Russian one, and
// r itself otherwise: shortcuts work whichever layout is on. The full stop and the comma count as
// the slash and the question mark, whose place they have there.
func LatinKey(r rune) rune {
	if l, ok := latin[r]; ok {
		return l
	}
	return r
}
