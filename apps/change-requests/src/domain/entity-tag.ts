import { contentTag } from '@bunting/contracts/hashing';
import type { ChangeRequest } from './change-request.ts';

/** Identifies one version of the content of a request. The uid is excluded: older requests have none. */
export const contentTagOf = ({ uid: _, ...content }: ChangeRequest): string => contentTag(content);

/** The content tag in the syntax of the `ETag` header. */
export const etagHeaderOf = (request: ChangeRequest): string => `"${contentTagOf(request)}"`;
