package locales

import (
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Lang{
		"ru": Ru, "RU": Ru, "ru-RU": Ru, "ru_RU": Ru, "ru_RU.UTF-8": Ru, "ru_RU.KOI8-R": Ru,
		"ru@euro": Ru, "ru_RU.UTF-8@x": Ru, "ru:en": Ru, "de:ru:en": Ru, "Russian_Russia.1251": Ru,
		"en": En, "en_GB.UTF-8": En, "en:ru": En, "C": En, "C.UTF-8": En, "POSIX": En, "c:ru": En,
	} {
		if got, ok := Parse(value); !ok || got != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", ":", ".", "@", "_", "de_DE.UTF-8", "rubbish", "\x1b[31m", "ру"} {
		if got, ok := Parse(value); ok || got != En {
			t.Errorf("Parse(%q) = %v, %v; want unknown", value, got, ok)
		}
	}
}

func TestDetectOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, flag string
		env        map[string]string
		want       Lang
		err        error
	}{
		{"nothing set", "", nil, En, nil},
		{"flag beats all", "en", map[string]string{"QA_ORCH_LANG": "ru", "LC_ALL": "ru"}, En, nil},
		{"own variable beats the system's", "", map[string]string{"QA_ORCH_LANG": "ru", "LC_ALL": "en_US.UTF-8"}, Ru, nil},
		{"LC_ALL beats LC_MESSAGES", "", map[string]string{"LC_ALL": "ru_RU.UTF-8", "LC_MESSAGES": "C"}, Ru, nil},
		{"LC_MESSAGES beats LANG", "", map[string]string{"LC_MESSAGES": "C", "LANG": "ru_RU.UTF-8"}, En, nil},
		{"LANG alone", "", map[string]string{"LANG": "ru_RU.KOI8-R"}, Ru, nil},
		{"empties are ignored", "", map[string]string{"QA_ORCH_LANG": "", "LC_ALL": " ", "LC_MESSAGES": "", "LANG": "ru"}, Ru, nil},
		{"another language is English", "", map[string]string{"LC_ALL": "de_DE.UTF-8", "LANG": "ru_RU.UTF-8"}, En, nil},
		{"nonsense is English", "", map[string]string{"QA_ORCH_LANG": "!?"}, En, nil},
		{"an unknown flag is an error, said in the environment's language", "de", map[string]string{"LANG": "ru"}, Ru, ErrUnknownLang},
	} {
		got, err := Detect(c.flag, func(name string) string { return c.env[name] })
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, %v; want %v, %v", c.name, got, err, c.want, c.err)
		}
	}
}
