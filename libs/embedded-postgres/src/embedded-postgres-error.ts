/** The reason why no database is available: a sentence for the operator, with what to do about it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

const diskIsFull = /No space left on device|disk full/i;

/** The error for a PostgreSQL program that failed on a folder, with its output. Names a full disk as the cause. */
export const programError = (whatFailed: string, folder: string, report: string): EmbeddedPostgresError => {
  const output = report.trim() || '(It reported nothing.)';
  return new EmbeddedPostgresError(
    diskIsFull.test(report)
      ? `${whatFailed} ${folder}, since the disk is full: free some space on it, or choose another folder.\n${output}`
      : `${whatFailed} ${folder}: fix what it reports, or choose another folder.\n${output}`,
  );
};
