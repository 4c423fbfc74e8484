import { contentTag } from '@bunting/contracts/hashing';
import type { ChangeRequest } from './change-request.ts';

/** Identifies one version of a request, with its reviews and comments. The uid is excluded: older requests have none. */
export const entityTagOfRequest = ({ uid: _, ...content }: ChangeRequest): string => contentTag(content);

/** The entity tag in the syntax of the `ETag` header. */
export const etagHeaderOf = (request: ChangeRequest): string => `"${entityTagOfRequest(request)}"`;
