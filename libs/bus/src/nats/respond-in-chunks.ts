import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { chunkHeader } from './call-protocol.ts';

/** Responds to a call, in chunks of at most `chunkBytes`. */
export const respondInChunks = (
  message: Msg,
  payload: Uint8Array,
  responseHeaders: MsgHdrs | undefined,
  chunkBytes: number,
): void => {
  if (payload.length <= chunkBytes)
    return void message.respond(payload, responseHeaders === undefined ? {} : { headers: responseHeaders });
  const response = `${randomUUID()} ${Math.ceil(payload.length / chunkBytes)}`;
  for (let from = 0; from < payload.length; from += chunkBytes) {
    const chunkHeaders = headers();
    for (const [name, values] of responseHeaders ?? []) for (const value of values) chunkHeaders.append(name, value);
    chunkHeaders.set(chunkHeader, response);
    message.respond(payload.subarray(from, from + chunkBytes), { headers: chunkHeaders });
  }
};
