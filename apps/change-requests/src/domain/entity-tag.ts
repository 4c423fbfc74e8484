import { contentTag } from '@bunting/contracts/hashing';
import type { ChangeRequest } from '../requests/change-request.ts';

/** Names that the API shows are no content: they are stored for some users only, and a request that is not stored yet has more of them. */
const withoutUsernames = (key: string, value: unknown): unknown => (key === 'username' ? undefined : value);

/** Identifies one version of a request, with its reviews and comments. The uid is excluded: older requests have none. */
export const entityTagOfRequest = ({ uid: _, ...content }: ChangeRequest): string =>
  contentTag(JSON.parse(JSON.stringify(content, withoutUsernames)) as object);

/** The entity tag in the syntax of the `ETag` header. */
export const etagHeaderOf = (request: ChangeRequest): string => `"${entityTagOfRequest(request)}"`;
