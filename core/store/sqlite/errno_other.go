//go:build !unix

package sqlite

func isReadOnlyFS(error) bool { return false }

func isNoSpace(error) bool { return false }
