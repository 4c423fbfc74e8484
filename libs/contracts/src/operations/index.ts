import type { AnyOperation } from '../operation.ts';
import * as exported from './all.ts';

export * from './all.ts';

const isOperation = (value: unknown): value is AnyOperation =>
  typeof value === 'object' && value !== null && 'subject' in value && 'permission' in value;

/** Every operation of the services, including calls between services. */
export const allOperations: readonly AnyOperation[] = Object.values<unknown>(exported).filter(isOperation);

/** The operations of the REST API. */
export const httpOperations: readonly AnyOperation[] = allOperations.filter(({ http }) => http !== undefined);
