/**
 * Thrown where an object that a decision relied on was changed concurrently, also if PostgreSQL reported that as a violated unique or
 * foreign key. It has the code of PostgreSQL's own serialization failures, so that the transaction is retried, as after a deadlock.
 */
export class SerializationFailure extends Error {
  /** SQLSTATE `serialization_failure` */
  readonly code = '40001';
}
