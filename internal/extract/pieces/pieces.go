// Package pieces does an extract in pieces, on many machines. Plan cuts the query into pieces of
// bounded size, Run does one, and Commit makes the result. They work in the place of the
// result, a directory that all machines can reach.
package pieces
