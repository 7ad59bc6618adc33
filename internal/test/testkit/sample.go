package testkit

// SampleBehaviours is the part of a job file that describes the records of `bulkload sample`.
const SampleBehaviours = `
user: user_id
time: {column: time, format: "2006-01-02 15:04:05"}
behaviours:
  play: {id: 1, fields: {programme: string, channel: string, seconds: int64, url: string}}
  order: {id: 2, fields: {product: string, price: double, quantity: int64, note: string}}
  visit: {id: 3, fields: {page: string, referrer: string, duration: int64}}
  login: {id: 4, fields: {device: string, ip: string, success: bool}}
`
