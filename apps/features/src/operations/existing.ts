import { Refusal } from '@bunting/contracts';

/** What a read finds; undefined where it is not found. */
export const existing = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'NotFoundError') return undefined;
    throw error;
  }
};
