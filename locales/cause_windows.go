package locales

import "golang.org/x/sys/windows"

// systemCauses returns what Windows reports in its own numbers.
func systemCauses() []cause {
	return []cause{
		{windows.ERROR_DISK_FULL, M("cause.disk-full")},
		{windows.ERROR_HANDLE_DISK_FULL, M("cause.disk-full")},
		{windows.ERROR_WRITE_PROTECT, M("cause.read-only")},
		{windows.ERROR_SHARING_VIOLATION, M("cause.in-use")},
		{windows.ERROR_LOCK_VIOLATION, M("cause.in-use")},
		{windows.ERROR_DIRECTORY, M("cause.no-folder")},
		{windows.ERROR_BROKEN_PIPE, M("cause.closed")},
		{windows.ERROR_NO_DATA, M("cause.closed")},
	}
}
