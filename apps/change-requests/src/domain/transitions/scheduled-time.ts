import { invalid } from '@bunting/contracts';

const path = '/body/scheduledAt';

/** The requested time of a schedule, in ISO 8601. */
export const parseScheduledAt = (text: string | undefined): string => {
  if (text === undefined) {
    throw invalid(`The \`${path}\` property is required. It was not present on the data you sent.`, path);
  }
  const scheduledAt = new Date(text);
  if (Number.isNaN(scheduledAt.getTime()))
    throw invalid(`The \`${path}\` property must be a date and time that exists.`, path);
  return scheduledAt.toISOString();
};

export const requireFuture = (scheduledAt: string, now: Date): void => {
  if (Date.parse(scheduledAt) > now.getTime()) return;
  throw invalid(`The \`${path}\` property must be in the future. You provided "${scheduledAt}".`, path);
};
