import { type AnyOperation, hasBody, isObjectSchema, isPublicOperation, requireStorableText } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { maxPublicBodyBytes } from '../../admission/admission.ts';
import type { ConcurrentRequestLimits } from '../../admission/concurrent-requests.ts';
import type { GatewayConfig } from '../../config.ts';
import { parseUntrustedJson, readBody, requireContentLengthWithin } from './body.ts';
import { requireDecimalIntegers } from './decimal-integers.ts';
import { largeJsonLimits, ordinaryJsonLimits } from './json-limits.ts';
import { queryAndHeadersParser } from './request.ts';
import { requireJsonContentType } from './require-json-content-type.ts';

/** The parts of a request that the contract of an operation declares. */
export interface ParsedOperationRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

interface ReaderOptions {
  readonly config: GatewayConfig;
  readonly limits: Pick<ConcurrentRequestLimits, 'bodyReceived'>;
}

const paramsParser = (schema: TSchema): ((request: FastifyRequest) => unknown) => {
  if (!isObjectSchema(schema) || Object.keys(schema.properties).length === 0) return () => ({});
  const requireDecimal = requireDecimalIntegers(schema, '/params');
  return ({ params }) => {
    requireStorableText(params, '/params');
    const values = { ...(params as Readonly<Record<string, unknown>>) };
    requireDecimal(values);
    return parse(schema, values, '/params', 'text');
  };
};

/** The limits on the body of a request to an operation. */
const bodyLimitsOf = (operation: AnyOperation, config: GatewayConfig) => {
  if (operation.http?.largeBody === true) {
    return {
      maxBytes: config.GATEWAY_MAX_LARGE_BODY_BYTES,
      timeoutMs: config.GATEWAY_LARGE_BODY_TIMEOUT_MS,
      json: largeJsonLimits(config),
    };
  }
  return {
    maxBytes: isPublicOperation(operation) ? maxPublicBodyBytes(config) : config.GATEWAY_MAX_BODY_BYTES,
    timeoutMs: config.GATEWAY_BODY_TIMEOUT_MS,
    json: ordinaryJsonLimits(config),
  };
};

/** Reads and parses requests to an operation by its contract, in one order: content type, size, JSON, schema of body, path and query. */
export const operationRequestReader = (
  operation: AnyOperation,
  http: NonNullable<AnyOperation['http']>,
  { config, limits }: ReaderOptions,
) => {
  const bodyLimits = bodyLimitsOf(operation, config);
  const readsBody = hasBody(operation);
  const mayLackContentType = !readsBody || http.assumesJson === true;
  const requiresJson = http.method !== 'GET' && http.anyContentType !== true;
  const textChecks = {
    dropsUnusableNames: http.dropsUnusableNames === true,
    acceptsUnstorableText: operation.respondsFromMemory === true,
  };
  const parseParams = paramsParser(operation.params);
  const parseQuery = queryAndHeadersParser(operation.query, http);

  return async (request: FastifyRequest, response: FastifyReply): Promise<ParsedOperationRequest> => {
    const { raw } = request;
    if (requiresJson) requireJsonContentType(raw.headers, mayLackContentType);
    requireContentLengthWithin(raw, bodyLimits.maxBytes);
    const bodyBytes = readsBody ? await readBody(raw, response.raw, bodyLimits) : undefined;
    // Before the body is parsed: parsing counts as handling.
    limits.bodyReceived(request);
    const body =
      bodyBytes === undefined
        ? undefined
        : parse(operation.body, parseUntrustedJson(bodyBytes, bodyLimits.json, textChecks), '/body');
    return { params: parseParams(request), query: parseQuery(request), body };
  };
};
