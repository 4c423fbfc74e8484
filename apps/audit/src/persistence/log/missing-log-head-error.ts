/** The error of a log without the row that names its last event. */
export const missingLogHeadError = (): Error =>
  new Error(
    'The table event_log_head is empty: the event log was not migrated, or its row was deleted. Restore it from a backup.',
  );
