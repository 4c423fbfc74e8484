import * as nouns from './nouns.ts';
import type { AnyOperation } from './operation.ts';

/** Every operation of the services, including calls between services. */
export const allOperations: readonly AnyOperation[] = Object.values<unknown>(nouns).filter(isOperation);

/** The operations of the REST API. */
export const httpOperations: readonly AnyOperation[] = allOperations.filter(({ http }) => http !== undefined);

function isOperation(value: unknown): value is AnyOperation {
  return typeof value === 'object' && value !== null && 'subject' in value && 'permission' in value;
}
