import type { OperationRequest } from '@bunting/bus';
import type { ImportFeatures, ValidateImport } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import type { ImportAuthorship } from './import-export-of-domain-import-authorship.ts';
import { authorOf } from '../unit-of-work/author.ts';

/** A request to import or to validate an import: both have the same body. */
export type ImportRequest = OperationRequest<typeof ImportFeatures> | OperationRequest<typeof ValidateImport>;

/** The caller as the author of what the import creates, with random ids for new strategies. */
export const importAuthorshipOf = ({ caller, now }: ImportRequest): ImportAuthorship => ({
  caller,
  now: now.toISOString(),
  author: authorOf(caller),
  generateId: randomUUID,
});
