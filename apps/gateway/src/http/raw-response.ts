import { refusalResponse } from '@bunting/bus';
import { type Refusal, refusal } from '@bunting/contracts';
import type { FastifyReply } from 'fastify';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { securityHeaders } from './security-headers.ts';

/** How long who still sends has to notice the answer. */
const lingerMs = 1_000;
/** What is left of a body that is not worth a new connection. */
const maxDrainedBytes = 64 * 1024;

const hasMuchToCome = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxDrainedBytes;

/**
 * Ends the connection after an answer that was given before the request had arrived whole, without reading the rest into
 * memory. What still arrives is let run off for a moment: closing at once would reset the connection, and the answer with it.
 */
export const closeAfterResponse = ({ raw, request: { raw: request } }: FastifyReply): void => {
  if (request.complete || !hasMuchToCome(request)) return;
  const { socket } = request;
  raw.shouldKeepAlive = false;
  socket.destroySoon = () => {
    socket.end();
    request.resume();
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  };
};

const statusAndRefusal = (code: string | undefined): { status: number; reason: Refusal } => {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: refusal('RequestTimeout', 'The request did not arrive in time.') };
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        reason: refusal('HeadersTooLarge', 'The address and the headers of the request are larger than is accepted.'),
      };
    default:
      return { status: 400, reason: refusal('ValidationError', 'The request is not valid HTTP.') };
  }
};

const securityHeaderLines = Object.entries(securityHeaders(false))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** Answers what is no HTTP, and so reaches no route, with the body that every error has. */
export const respondToInvalidHttp = (error: { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, reason } = statusAndRefusal(error.code);
  writeRawResponse(socket, status, reason);
};

/** Writes an answer where there is no response object to write it to, and ends the connection. */
export const writeRawResponse = (socket: Socket, status: number, reason: Refusal): void => {
  const body = JSON.stringify(refusalResponse(reason).error);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `${securityHeaderLines}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
};
