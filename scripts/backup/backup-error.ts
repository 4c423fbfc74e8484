/** A reason for which a backup is not made, used or restored, with the next step. */
export class BackupError extends Error {}
