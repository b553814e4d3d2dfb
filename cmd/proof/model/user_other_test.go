//go:build !unix

package model

func dropPrivileges() {}
