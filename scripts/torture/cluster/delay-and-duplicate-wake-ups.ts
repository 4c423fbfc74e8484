import type { SeededRandom } from '../../seeded-random.ts';
import type { Endpoints, Interceptor } from './tcp-proxy.ts';

/** Whether wake-ups are currently disturbed. */
export interface WakeUpDisturbance {
  isActive: boolean;
  /** number of wake-ups delayed or duplicated so far */
  count: number;
}

/** Whether a NATS protocol line starts a wake-up of a consumer. Requests and replies are not disturbed. */
const isWakeUp = (line: string): boolean => /^H?MSG wake\./.test(line);

const maxDelayMs = 250;
const duplicateProbability = 0.3;

/** Forwards the traffic of NATS; while wake-ups are disturbed, delays each randomly, and duplicates some. */
export const delayAndDuplicateWakeUps =
  (disturbance: WakeUpDisturbance, random: SeededRandom) =>
  ({ toClient, toServer }: Endpoints): Interceptor => {
    let rest: Buffer = Buffer.alloc(0);

    const deliver = (message: Buffer): void => {
      disturbance.count++;
      for (let copies = random.chance(duplicateProbability) ? 2 : 1; copies > 0; copies--) {
        setTimeout(() => toClient(message), random.fractional(0, maxDelayMs));
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
          if (disturbance.isActive && isWakeUp(line)) deliver(Buffer.from(message));
          else toClient(message);
        }
      },
    };
  };
