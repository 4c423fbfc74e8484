import type { Reply } from '@bunting/bus';
import { type AnyOperation, hasBody, NoReply } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { jsonContentType } from '../errors.ts';
import type { ParsedOperationRequest } from '../request/operation-request.ts';
import { entityTagSuffixOf, jsonEncodingFor } from './compression.ts';
import { entityTagOf, isNotModified, matchingClientEntityTag, requireCurrentTag } from './entity-tags.ts';
import { closeAfterEarlyResponse } from './close-after-early-response.ts';

/** `Deprecation` header (RFC 9745): the first operations were deprecated on 2024-12-01. */
const deprecatedSince = '@1733011200';

/** The URL of the created resource, for the `Location` header. */
type Location = (request: ParsedOperationRequest, reply: unknown) => string;

/** The 304 of a read whose client has the current content; its tag names the encoding in which the client has it. */
const sendNotModified = (request: FastifyRequest, response: FastifyReply, json: string, tag: string): FastifyReply => {
  const encodedTag = `${tag}${entityTagSuffixOf[jsonEncodingFor(json, request)]}`;
  return response
    .code(304)
    .header('etag', `"${matchingClientEntityTag(request.headers, tag, encodedTag)}"`)
    .send();
};

/** Sends the replies to an operation as responses: status, headers, the conditions of a read, and the text that the service produced, unparsed. */
export const operationReplySender = (operation: AnyOperation, http: NonNullable<AnyOperation['http']>) => {
  const { setsEntityTag = false, deprecated = false } = operation;
  const { method, status = 200, contentType } = http;
  const isWrite = method !== 'GET';
  const readsBody = hasBody(operation);
  const hasReply = operation.reply !== (NoReply as TSchema);
  const location = http.location as Location | undefined;

  /** @throws Refusal `PreconditionFailed` for a read whose `If-Match` does not name the current tag */
  return (
    request: FastifyRequest,
    response: FastifyReply,
    parsedRequest: ParsedOperationRequest,
    { json, headers }: Reply,
  ): FastifyReply => {
    if (!readsBody) closeAfterEarlyResponse(response);
    response.code(status).headers(headers);
    if (!isWrite) {
      const tag = setsEntityTag ? (headers['ETag'] ?? '').slice(1, -1) : entityTagOf(json, headers['ETag']);
      response.header('etag', `"${tag}"`);
      requireCurrentTag(request.headers, tag);
      if (isNotModified(request.headers, tag)) return sendNotModified(request, response, json, tag);
    }
    if (deprecated) response.header('deprecation', deprecatedSince);
    if (location !== undefined) response.header('location', location(parsedRequest, JSON.parse(json)));
    if (!hasReply) return response.send();
    if (contentType === undefined) return response.header('content-type', jsonContentType).send(json);
    return response.header('content-type', `${contentType}; charset=utf-8`).send(JSON.parse(json) as string);
  };
};
