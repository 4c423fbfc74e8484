import { Refusal } from '@bunting/contracts';

/** The refusal that a job ends in; a job that ends otherwise fails the test. */
export const refusalOf = (job: () => unknown): Refusal => {
  try {
    job();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
};
