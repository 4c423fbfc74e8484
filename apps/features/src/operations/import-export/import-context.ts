import type { OperationRequest } from '@bunting/bus';
import type { ImportFeatures, ValidateImport } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import type { ImportContext } from '../../domain/import-export/import-destination.ts';
import { authorOf } from '../author.ts';

/** A request to import or to validate an import: both have the same body. */
export type ImportRequest = OperationRequest<typeof ImportFeatures> | OperationRequest<typeof ValidateImport>;

/** The context of an import, with random ids for new strategies. */
export const importContextOf = ({ caller, now }: ImportRequest): ImportContext => ({
  caller,
  now: now.toISOString(),
  author: authorOf(caller),
  generateStrategyId: randomUUID,
});
