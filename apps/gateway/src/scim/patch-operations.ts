import { isJsonObject } from '@bunting/contracts';
import { ScimError } from './scim-error.ts';

type Attributes = Record<string, unknown>;

/** The operations of the body of a PATCH (RFC 7644, 3.5.2). @throws ScimError 400 */
export const parsePatchOperations = (body: unknown): readonly Attributes[] => {
  const operations = isJsonObject(body) ? (body['Operations'] ?? body['operations']) : undefined;
  if (!Array.isArray(operations) || operations.length === 0 || !operations.every(isJsonObject))
    throw new ScimError(400, 'The body must have a list of Operations.', 'invalidSyntax');
  return operations;
};

/** The kind of an operation, whatever its case. @throws ScimError 400 */
export const patchOperationKind = ({ op }: Attributes): 'add' | 'replace' | 'remove' => {
  const kind = typeof op === 'string' ? op.toLowerCase() : '';
  if (kind !== 'add' && kind !== 'replace' && kind !== 'remove')
    throw new ScimError(400, 'op must be add, replace or remove.', 'invalidSyntax');
  return kind;
};
