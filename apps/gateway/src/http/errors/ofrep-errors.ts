import type { ErrorBody, OfrepErrorCode } from '@bunting/contracts';
import type { FastifyRequest } from 'fastify';
import { isPathBelow } from '../request/is-path-below.ts';

export const isOfrepRequest = ({ raw: { url = '' } }: FastifyRequest): boolean => isPathBelow('/ofrep', url);

const codeOf = (status: number, { details: [detail] = [] }: ErrorBody, key: string | undefined): OfrepErrorCode => {
  if (status === 404 && key !== undefined) return 'FLAG_NOT_FOUND';
  if (status !== 400 || detail?.path?.startsWith('/body') !== true) return 'GENERAL';
  return detail.path.startsWith('/body/context') ? 'INVALID_CONTEXT' : 'PARSE_ERROR';
};

/** An error with the members of the OpenFeature Remote Evaluation Protocol besides its own. */
export const ofrepErrorOf = (
  { params }: FastifyRequest,
  status: number,
  error: ErrorBody,
  code?: OfrepErrorCode,
): ErrorBody & { readonly key?: string; readonly errorCode: OfrepErrorCode; readonly errorDetails: string } => {
  const { key } = (params ?? {}) as { readonly key?: string };
  return {
    ...error,
    ...(key === undefined ? {} : { key }),
    errorCode: code ?? codeOf(status, error, key),
    errorDetails: error.message,
  };
};
