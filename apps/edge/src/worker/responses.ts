import { type ErrorKind, type OfrepErrorCode, staleHeader } from '@bunting/contracts';
import { OriginError } from '../upstream/origin-error.ts';
import { digestOf } from './digest.ts';

const statuses: Readonly<Partial<Record<ErrorKind, number>>> = {
  ValidationError: 400,
  AuthenticationRequired: 401,
  NoAccessError: 403,
  NotFoundError: 404,
  PayloadTooLarge: 413,
  ServiceUnavailable: 503,
};

/** A request that is not answered, and why. */
export class Refused extends Error {
  readonly kind: ErrorKind;
  readonly code: OfrepErrorCode;
  constructor(kind: ErrorKind, message: string, code: OfrepErrorCode = 'GENERAL') {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': `${staleHeader}, ETag, Retry-After`,
};

const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers':
    'Accept, Authorization, Content-Type, If-None-Match, Unleash-AppName, Unleash-Client-Spec, Unleash-Connection-Id, Unleash-SDK, X-API-Key, *',
  'access-control-max-age': '600',
};

/** Allows every site to ask: a key for browsers is no secret. */
export function preflightResponse(): Response {
  return new Response(null, { status: 204, headers: preflightHeaders });
}

export function jsonResponse(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, {
    status,
    headers: {
      ...corsHeaders,
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      ...headers,
    },
  });
}

/** The answer to a report. */
export function acceptedResponse(): Response {
  return new Response('OK', { headers: { ...corsHeaders, 'content-type': 'text/plain; charset=utf-8' } });
}

/** Answers with JSON and its entity tag, or that the client has it already. */
export async function taggedResponse(
  request: Request,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const tag = `"${await digestOf(body)}"`;
  const tags = (request.headers.get('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (tags.includes(tag))
    return new Response(null, { status: 304, headers: { ...corsHeaders, ...headers, etag: tag } });
  return jsonResponse(200, body, { ...headers, etag: tag });
}

/** @param ofrep the members that OpenFeature expects besides; `key` where the evaluation is of one flag */
export function refusedResponse(error: unknown, ofrep: { readonly key: string | undefined } | undefined): Response {
  const { kind, message, code } =
    error instanceof Refused
      ? error
      : error instanceof OriginError
        ? new Refused(
            'ServiceUnavailable',
            'The origin cannot be asked, and there are no flags of it here. Please try again.',
          )
        : new Refused('InternalError', 'This edge has failed to answer.');
  const { key } = ofrep ?? {};
  const ofrepMembers = { ...(key === undefined ? {} : { key }), errorCode: code, errorDetails: message };
  const body = { id: crypto.randomUUID(), name: kind, message, details: [{ message }] };
  const status = statuses[kind] ?? 500;
  return jsonResponse(
    status,
    JSON.stringify(ofrep === undefined ? body : { ...body, ...ofrepMembers }),
    status === 503 ? { 'retry-after': '1' } : {},
  );
}
