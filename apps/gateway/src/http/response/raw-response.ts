import { serializeRefusal } from '@bunting/bus';
import { type Refusal, refusal } from '@bunting/contracts';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { securityHeaders } from './security-headers.ts';

const statusAndRefusal = (code: string | undefined): { status: number; reason: Refusal } => {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: refusal('RequestTimeout', 'The request did not arrive in time. Send it again.') };
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        reason: refusal(
          'HeadersTooLarge',
          'The address and the headers of the request are larger than is accepted. Send fewer or shorter headers.',
        ),
      };
    default:
      return { status: 400, reason: refusal('ValidationError', 'The request is not valid HTTP.') };
  }
};

const securityHeaderLines = Object.entries(securityHeaders(false))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** Responds to bytes that are not valid HTTP, which reach no route, with the JSON body of every error. */
export const respondToInvalidHttp = (error: { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, reason } = statusAndRefusal(error.code);
  writeRawResponse(socket, status, reason);
};

/** Writes a response to a socket that has no response object, and ends the connection. */
export const writeRawResponse = (socket: Socket, status: number, reason: Refusal): void => {
  const body = JSON.stringify(serializeRefusal(reason).error);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `${securityHeaderLines}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
};
