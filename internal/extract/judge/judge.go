// Package judge decides who is active, and which events of each user are in the result.
//
//	Candidates  find in the rolls which users may be active, and divide these
//	            users into batches
//	existence   excludes users by the rows that they have, if the rolls are not exact
//	screen      excludes users after reading only the columns that decide whether a user stays
//	filter      judges each user by the events of its trail, and removes events that are not
//	            requested
//
// Readers do the last three steps for each batch. Existence and screen only save time. The
// result does not depend on them, and it does not depend on how users are divided into batches.
//
// # Memory
//
// A batch has about 16,000 records and at most memory.Shares.Batch bytes. If the trail of one
// user is larger, it is read alone and held whole, one such trail at a time. Its bytes are
// counted before they are held. If they are more than memory.Shares.User, the extract ends with
// an error.
package judge
