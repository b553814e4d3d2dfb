package main

// writable reports true: on Windows only an attempt would tell.
func writable(string) bool { return true }
