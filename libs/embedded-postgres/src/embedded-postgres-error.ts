/** Why there is no database: a sentence for whoever started the program, with what to do about it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
