import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { ApiResponse } from './api.ts';
import type { Platform } from './platform.ts';

/**
 * Sends a body above the size limit and returns the response, which may arrive before the end of the body. Without `declared` the
 * request has no Content-Length.
 */
export const sendLarge = (
  { url, token }: Platform,
  method: string,
  path: string,
  body: Uint8Array,
  { declared }: { readonly declared: boolean },
): Promise<ApiResponse> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = {
      authorization: token,
      'content-type': 'application/json',
      ...(declared && { 'content-length': body.length }),
    };
    let hasResponse = false;
    const receive = (response: IncomingMessage): void => {
      hasResponse = true;
      const ms = performance.now() - startedAt;
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('error', () => undefined);
      response.once('close', () => {
        const received = new Headers(response.headers as Record<string, string>);
        resolve({ status: response.statusCode ?? 0, headers: received, body: JSON.parse(text) as unknown, text, ms });
      });
    };
    const outgoing: ClientRequest = request(`${url}${path}`, { method, headers, agent: false }, receive);
    outgoing.on('error', (error) => hasResponse || reject(error));
    const half = Math.floor(body.length / 2);
    outgoing.write(body.subarray(0, half));
    outgoing.end(body.subarray(half));
  });
