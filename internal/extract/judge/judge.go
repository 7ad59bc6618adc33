// Package judge decides who is active, and which events of each user are in the result.
//
//	Candidates  decide by the rolls, as far as they tell, who may be active, and divide these
//	            users into batches
//	existence   excludes users by the rows that they have, if the rolls do not tell
//	screen      excludes users by the few columns that judging a user needs
//	filter      judges each user by the events of its trail, and removes events that are not
//	            requested
//
// Readers do the last three steps for each batch. Existence and screen only save time: the
// result does not depend on them, nor on how users are divided into batches.
//
// # Memory
//
// A batch has about 16,000 records and at most memory.Shares.Batch bytes. The trail of a user
// with more is held whole, one such user at a time. Its bytes are counted before they are held,
// and a user with more than memory.Shares.User ends the extract with an error.
package judge
