import { Refusal } from '@bunting/contracts';

/** The refusal that a job throws; fails the test if it throws none. */
export const refusalOf = (job: () => unknown): Refusal => {
  try {
    job();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
};
