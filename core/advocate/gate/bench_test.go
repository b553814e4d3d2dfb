package gate_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate/gate"
)

var sample = map[string]string{
	"english": "Every third deployment needed a weekend hotfix because nobody exercised refunds, credit notes or proration since the tax module changed. ",
	"spanish": "Ningún guion detectó el ochenta por ciento de los fallos graves; los encontró una persona explorando la aplicación durante el cierre. ",
	"russian": "Регрессия остановилась на выставлении счетов, а возвраты и частичные списания никто не проверял после смены налоговой библиотеки. ",
	"hostile": "е\u0301\u0301\u0301ﷺ½Ⅷ\u200b漢字仮名İẞ\U0001F468\u200d\U0001F469 ",
}

// The time for a text ten times as long should be about ten times as much.
func BenchmarkRead(b *testing.B) {
	for name, text := range sample {
		for _, size := range []int{10_000, 100_000, 1_000_000} {
			long := strings.Repeat(text, size/len(text)+1)
			b.Run(name+"/"+strconv.Itoa(size), func(b *testing.B) {
				b.SetBytes(int64(len(long)))
				for b.Loop() {
					var r gate.Reader
					r.Read(long)
				}
			})
		}
	}
	b.Run("one word", func(b *testing.B) {
		for _, size := range []int{10_000, 100_000, 1_000_000} {
			long := strings.Repeat("ab", size/2)
			b.Run(strconv.Itoa(size), func(b *testing.B) {
				b.SetBytes(int64(len(long)))
				for b.Loop() {
					var r gate.Reader
					r.Read(long)
				}
			})
		}
	})
}
