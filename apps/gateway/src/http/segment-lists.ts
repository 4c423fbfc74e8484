import { createHash, hash, randomBytes } from 'node:crypto';
import { on } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type Bus, type CallContext, systemContext } from '@bunting/bus';
import {
  AddSegmentIds,
  DiscardSegmentIds,
  type AnyOperation,
  GetSegmentBlocks,
  invalid,
  isFinalKind,
  limitExceeded,
  maxBlocksPerCall,
  maxSegmentListBodyBytes,
  maxSegmentListBytes,
  type Permission,
  refusal,
  ReplaceSegmentList,
  type SegmentListAction,
  type SegmentListBlocks,
  type SegmentListContentType,
  segmentListContentTypes,
  segmentIdReader,
  StageSegmentIds,
  type UploadedIds,
} from '@bunting/contracts';
import { decodeIdBlock, idsOfBlock } from '@bunting/contracts/id-blocks';
import {
  paramsParser,
  parseIfMatch,
  queryAndHeadersParser,
  RequestAborted,
  requireAdminApiAccess,
  requireConditionsSupported,
  requireContentLengthWithin,
  requirePermission,
  sendRefusal,
} from '@bunting/http';
import type { FastifyInstance } from 'fastify';
import { callWithCurrentRights } from '../admission/authorisation.ts';
import { call, callIfSupported } from '../calls.ts';
import { type MountOptions, operationReplySender, parseIdempotencyKey } from './mount-operation.ts';

/** A piece is sent as one message of the bus, which has a megabyte at least. */
const maxPieceLength = 200_000;
const maxPieceIds = 10_000;

/** The content type of a body; undefined for a request without one. @throws Refusal `ContentTypeerror` */
function contentTypeOf(headers: IncomingHttpHeaders): SegmentListContentType | undefined {
  const header = headers['content-type'];
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (header === undefined && !hasBody) return undefined;
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const contentType = segmentListContentTypes.find((known) => known === type.trim());
  const isUtf8 = parameters.every((parameter) => /^(?!charset=)|^charset="?utf-8"?$/.test(parameter.trim()));
  const encoding = headers['content-encoding'];
  if (contentType === undefined || !isUtf8 || (encoding !== undefined && encoding !== 'identity'))
    throw refusal(
      'ContentTypeerror',
      `A list of ids has one of the content types ${segmentListContentTypes.join(', ')}, in UTF-8 and not compressed.`,
    );
  return contentType;
}

/** The bytes of a body as they arrive. @throws Refusal `RequestTimeout`, `PayloadTooLarge`; RequestAborted */
async function* bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  timeoutMs: number,
): AsyncGenerator<Buffer, void> {
  if (request.headers.expect !== undefined) response.writeContinue();
  if (request.complete && request.readableLength === 0) return;
  const timeout = AbortSignal.timeout(timeoutMs);
  let size = 0;
  try {
    for await (const [chunk] of on(request, 'data', {
      signal: timeout,
      close: ['end', 'close'],
      highWaterMark: 16,
    }) as AsyncIterable<[Buffer]>) {
      size += chunk.length;
      if (size > maxSegmentListBodyBytes)
        throw refusal('PayloadTooLarge', `The body of the request is larger than ${maxSegmentListBodyBytes} bytes.`);
      yield chunk;
    }
  } catch (error) {
    if (!timeout.aborted) throw error;
    response.shouldKeepAlive = false;
    throw refusal('RequestTimeout', 'The request did not arrive in time. Send it again.');
  } finally {
    request.pause();
  }
  if (!request.complete) throw new RequestAborted('The request ended before its body did.');
}

/** The text of a body in UTF-8, without a byte order mark. */
async function* textOf(body: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw invalid('The `/body` property must be in UTF-8: some of its bytes are no UTF-8.', '/body');
    }
  };
  for await (const chunk of body) yield decode(chunk);
  yield decode();
}

interface Upload {
  readonly bus: Bus;
  readonly params: { readonly id: number };
  readonly query: { readonly contextName?: string };
  readonly action: SegmentListAction;
  readonly upload: string;
  readonly context: CallContext;
}

/**
 * Stores the ids of a body in pieces, each before the next is read, so that neither this process nor a message has the whole list. What is
 * stored counts only once the operation is called.
 */
async function stageIds(
  { bus, params, query, action, upload, context }: Upload,
  contentType: SegmentListContentType,
  body: () => AsyncIterable<Buffer>,
): Promise<UploadedIds> {
  const digest = createHash('sha256');
  let [pieces, bytes, length] = [0, 0, 0];
  let ids: string[] = [];
  const stage = (piece: number, staged: string[]) =>
    call(bus, StageSegmentIds, { params, query, body: { action, upload, piece, ids: staged } }, context);
  const send = async (): Promise<void> => {
    await stage(pieces++, ids);
    [ids, length] = [[], 0];
  };
  const add = async (read: readonly string[]): Promise<void> => {
    for (const id of read) {
      const line = `${id}\n`;
      digest.update(line);
      bytes += Buffer.byteLength(line);
      if (bytes > maxSegmentListBytes)
        throw limitExceeded('bytes in the ids of the list of a segment', maxSegmentListBytes, '/body');
      ids.push(id);
      length += id.length;
      if (ids.length >= maxPieceIds || length >= maxPieceLength) await send();
    }
  };
  // Before the body is read: a request that will be refused need not be sent.
  const { contextName } = await stage(0, []);
  const reader = segmentIdReader(contentType, contextName);
  for await (const text of textOf(body())) await add(reader.read(text));
  await add(reader.end());
  if (ids.length > 0) await send();
  return { upload, pieces, received: reader.count, bytes, hash: digest.digest('hex') };
}

/** Deletes the pieces of an upload that has failed. Housekeeping deletes after an hour those for which this fails. */
async function discardUpload(bus: Bus, upload: string, timeoutMs: number): Promise<void> {
  await callIfSupported(bus, DiscardSegmentIds, { body: { upload } }, systemContext(timeoutMs)).catch(() => undefined);
}

function actionOf({ subject }: AnyOperation): SegmentListAction {
  if (subject === ReplaceSegmentList.subject) return 'replace';
  return subject === AddSegmentIds.subject ? 'add' : 'remove';
}

function asCsvField(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The lines of a list, some blocks at a time: the next ones are read when the client has taken those before. */
async function* linesOf(bus: Bus, { contextName, blocks }: SegmentListBlocks, isCsv: boolean, timeoutMs: number) {
  const lineOf = isCsv ? asCsvField : (id: string) => JSON.stringify(id);
  if (isCsv) yield `${asCsvField(contextName)}\n`;
  for (let from = 0; from < blocks.length; from += maxBlocksPerCall) {
    const hashes = blocks.slice(from, from + maxBlocksPerCall);
    const reply = await call(bus, GetSegmentBlocks, { body: { hashes } }, systemContext(timeoutMs));
    const byHash = new Map(reply.blocks.map((block) => [block.hash, block.content]));
    for (const name of hashes) {
      const content = byHash.get(name);
      if (content === undefined) throw new Error('The list was replaced more than a day ago.');
      const text = decodeIdBlock({ hash: Buffer.from(name, 'hex'), content: Buffer.from(content, 'base64') });
      yield idsOfBlock(text)
        .map((id) => `${lineOf(id)}\n`)
        .join('');
    }
  }
}

/**
 * Adds the route of an operation whose body or response is a list of ids. A request is checked as those of other operations are, and the body
 * is read after that; the response of a download is cut where it cannot be completed.
 */
export function mountSegmentList(
  app: FastifyInstance,
  operation: AnyOperation,
  http: NonNullable<AnyOperation['http']>,
  permissions: readonly Permission[],
  { bus, admit, authenticateAgain, config, limits }: MountOptions,
): void {
  const parseParams = paramsParser(operation.params);
  const parseQuery = queryAndHeadersParser(operation.query, http);
  const sendReply = operationReplySender(operation, http);
  const { method, url, idList } = http;
  const isDownload = idList === 'response';
  const timeoutMs = isDownload ? config.GATEWAY_CALL_TIMEOUT_MS : config.GATEWAY_LARGE_CALL_TIMEOUT_MS;
  app.route({
    method,
    url,
    config: { isOperation: true, contentTypes: segmentListContentTypes },
    handler: async (request, response) => {
      const principal = await admit(request, response);
      const { caller } = principal;
      request.exchange.callerId = caller.id;
      requireAdminApiAccess(principal);
      if (permissions.length > 0) requirePermission(caller, permissions, {});
      const { raw } = request;
      const params = parseParams(request) as Upload['params'];
      const query = parseQuery(request) as Upload['query'];
      const context: CallContext = {
        caller,
        requestId: request.id,
        traceparent: request.exchange.traceparent,
        timeoutMs,
        idempotencyKey: isDownload ? undefined : parseIdempotencyKey(request),
        ifMatch: isDownload ? undefined : parseIfMatch(request.headers),
      };
      const readCurrentCaller = async () => (await authenticateAgain(request)).caller;
      let body: UploadedIds | null | undefined;
      let discard = async (): Promise<void> => {};
      if (!isDownload) {
        requireConditionsSupported(request.headers, true);
        const contentType = contentTypeOf(raw.headers);
        if (contentType === undefined && idList === 'required')
          throw refusal('ContentTypeerror', 'The request must have a list of ids as its body, with its content type.');
        requireContentLengthWithin(raw, maxSegmentListBodyBytes);
        // A retry with the same key stores the same pieces again, and none beside them.
        const upload =
          context.idempotencyKey === undefined
            ? randomBytes(16).toString('hex')
            : hash('sha256', JSON.stringify([caller.id, caller.tokenId, context.idempotencyKey])).slice(0, 32);
        const { idempotencyKey: _, ifMatch: __, ...pieceContext } = context;
        const action = actionOf(operation);
        // A request with the same key may be using the pieces that this one leaves.
        if (contentType !== undefined && context.idempotencyKey === undefined)
          discard = () => discardUpload(bus, upload, timeoutMs);
        try {
          body =
            contentType === undefined
              ? null
              : await stageIds({ bus, params, query, action, upload, context: pieceContext }, contentType, () =>
                  bodyOf(raw, response.raw, config.GATEWAY_LARGE_BODY_TIMEOUT_MS),
                );
          if (response.raw.destroyed) throw new RequestAborted('The connection ended before the request was handled.');
        } catch (error) {
          void discard();
          throw error;
        }
        limits.bodyReceived(request);
      }
      const parsedRequest = { params, query, body };
      const result = await callWithCurrentRights(bus, operation, parsedRequest, { ...context, readCurrentCaller });
      if ('refusal' in result) {
        // A write whose outcome is unknown may still read them.
        if (isFinalKind(result.refusal.kind)) void discard();
        return sendRefusal(response, result.refusal);
      }
      if (!isDownload) return sendReply(request, response, parsedRequest, result.reply);
      const isCsv = request.headers.accept?.includes('text/csv') === true;
      const list = JSON.parse(result.reply.json) as SegmentListBlocks;
      return response
        .header('content-type', isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="segment-${params.id}.${isCsv ? 'csv' : 'ndjson'}"`)
        .send(Readable.from(linesOf(bus, list, isCsv, timeoutMs)));
    },
  });
}
