/** An object that a decision relied on was changed concurrently. The transaction is retried, as after a deadlock. */
export class SerializationFailure extends Error {
  /** SQLSTATE `serialization_failure` */
  readonly code = '40001';
}
