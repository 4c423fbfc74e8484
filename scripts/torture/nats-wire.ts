import type { Chance } from './chance.ts';
import type { Ends, Reader } from './wire.ts';

/** How deliveries of wake-ups are treated now. */
export interface Deliveries {
  disturbed: boolean;
  /** how many came more than once, or in another order, so far */
  count: number;
}

/** What wakes consumers; requests and replies are left alone. */
const isDelivery = (line: string): boolean => /^H?MSG wake\./.test(line);

const longestHoldMs = 250;
const doubled = 0.3;

/** Passes everything on; while deliveries are to be disturbed, each is held for a while, and many are handed over twice. */
export const natsReader =
  (deliveries: Deliveries, chance: Chance) =>
  ({ toClient, toServer }: Ends): Reader => {
    let rest: Buffer = Buffer.alloc(0);

    const deliver = (message: Buffer): void => {
      deliveries.count++;
      for (let copies = chance.happens(doubled) ? 2 : 1; copies > 0; copies--) {
        setTimeout(() => toClient(message), chance.between(0, longestHoldMs));
      }
    };

    return {
      fromClient: toServer,
      fromServer: (bytes) => {
        rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        for (;;) {
          const end = rest.indexOf('\r\n');
          if (end < 0) return;
          const line = rest.toString('latin1', 0, end);
          const hasPayload = /^H?MSG /.test(line);
          const size = end + 2 + (hasPayload ? Number(line.slice(line.lastIndexOf(' ') + 1)) + 2 : 0);
          if (rest.length < size) return;
          const message = rest.subarray(0, size);
          rest = rest.subarray(size);
          if (deliveries.disturbed && isDelivery(line)) deliver(Buffer.from(message));
          else toClient(message);
        }
      },
    };
  };
