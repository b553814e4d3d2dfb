package locales

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		d              time.Duration
		en, ru, ruSaid string
	}{
		{0, "0s", "0 с", "0 с назад"},
		{-time.Hour, "0s", "0 с", "0 с назад"},
		{400 * time.Microsecond, "0s", "0 с", "0 с назад"},
		{time.Millisecond, "1ms", "1 мс", "1 мс назад"},
		{999 * time.Millisecond, "999ms", "999 мс", "999 мс назад"},
		{time.Second, "1s", "1 с", "1 с назад"},
		{29*time.Minute + 5*time.Second, "29m 5s", "29 мин 5 с", "29 мин 5 с назад"},
		{time.Hour, "1h", "1 ч", "1 ч назад"},
		{time.Hour + 59*time.Second, "1h", "1 ч", "1 ч назад"},
		{22*time.Hour + 21*time.Minute + 59*time.Second, "22h 21m", "22 ч 21 мин", "22 ч 21 мин назад"},
		{11 * day, "11d", "11 д", "11 д назад"},
		{1234*day + 3*time.Hour, "1,234d 3h", "1234 д 3 ч", "1234 д 3 ч назад"},
	} {
		en, ru := New(En), New(Ru)
		for _, pair := range [][2]string{
			{en.Duration(c.d), c.en},
			{ru.Duration(c.d), c.ru},
			{en.Ago(c.d), c.en + " ago"},
			{ru.Ago(c.d), c.ruSaid},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%v: got %q, want %q", c.d, pair[0], pair[1])
			}
		}
	}
}

func TestNumbersSizesListsDates(t *testing.T) {
	t.Parallel()
	en, ru := New(En), New(Ru)
	at := time.Date(2026, 12, 1, 9, 5, 7, 0, time.FixedZone("", 3*3600))
	for _, c := range [][2]string{
		{en.Count(0), "0"},
		{en.Count(999), "999"},
		{en.Count(1234), "1,234"},
		{en.Count(-1234567), "-1,234,567"},
		{ru.Count(1234), "1234"},
		{ru.Count(-12345), "-12\u00a0345"},
		{ru.Count(1234567), "1\u00a0234\u00a0567"},
		{en.Decimal(1.25, 2), "1.25"},
		{ru.Decimal(1.25, 2), "1,25"},
		{en.Bytes(0), "0 B"},
		{en.Bytes(999), "999 B"},
		{en.Bytes(1000), "1.0 kB"},
		{en.Bytes(4_200_000), "4.2 MB"},
		{en.Bytes(9_960_000), "10 MB"},
		{en.Bytes(999_600), "1.0 MB"},
		{en.Bytes(5_000_000_000_000_000), "5000 TB"},
		{ru.Bytes(4_200), "4,2 кБ"},
		{ru.Bytes(7), "7 Б"},
		{en.Or(nil), ""},
		{en.Or([]string{"a"}), "a"},
		{en.Or([]string{"a", "b"}), "a or b"},
		{en.Or([]string{"a", "b", "c"}), "a, b or c"},
		{ru.Or([]string{"a", "b", "c"}), "a, b или c"},
		{en.And([]string{"a", "b", "c"}), "a, b and c"},
		{ru.And([]string{"a", "b"}), "a и b"},
		{en.Date(at), "1 December 2026"},
		{ru.Date(at), "1 декабря 2026"},
		{ru.DateTime(at), "1 декабря 2026, 09:05"},
		{en.DateTime(at), "1 December 2026, 09:05"},
		{en.Clock(at), "09:05:07"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
}
