import type { Endpoints, Interceptor } from '@bunting/testing';
import type { SeededRandom } from './seeded-random.ts';

/** Points at which a process can be killed: each is visible in its traffic with PostgreSQL. */
export type KillPoint =
  | 'state written, events not'
  | 'before COMMIT'
  | 'COMMIT sent, no response'
  | 'after COMMIT, before the reply'
  | 'published, not marked'
  | 'applied, not acknowledged';

/** Called at each kill point; returns `true` if the process has just been killed, and nothing that it sent may be forwarded. */
type OnKillPoint = (killPoint: KillPoint) => boolean;

interface Frame {
  /** one letter; empty for the first message of a client */
  readonly type: string;
  readonly body: Buffer;
  readonly bytes: Buffer;
}

/** Returns a function that splits a stream of the PostgreSQL protocol (version 3) into its messages. */
function frameSplitter(firstIsUntyped: boolean): (bytes: Buffer) => Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  let untyped = firstIsUntyped;
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const messages: Frame[] = [];
    for (;;) {
      const header = untyped ? 0 : 1;
      if (rest.length < header + 4) return messages;
      const size = header + rest.readInt32BE(header);
      if (rest.length < size) return messages;
      const message = rest.subarray(0, size);
      messages.push({
        type: untyped ? '' : String.fromCharCode(message[0] ?? 0),
        body: message.subarray(header + 4),
        bytes: message,
      });
      untyped = false;
      rest = rest.subarray(size);
    }
  };
}

/** The NUL-terminated text at an offset, and the offset after it. */
function textAt(body: Buffer, offset: number): { text: string; next: number } {
  const end = body.indexOf(0, offset);
  return { text: body.toString('utf8', offset, end), next: end + 1 };
}

/** Parses the traffic of a process, and forwards it until the process is killed at a kill point. */
export function postgresInterceptor(onKillPoint: OnKillPoint) {
  return ({ toClient, toServer }: Endpoints): Interceptor => {
    const statements = new Map<string, string>();
    const splitSent = frameSplitter(true);
    const splitReceived = frameSplitter(false);
    let emitsEvents = false;
    let appliesMessages = false;
    let wasKilled = false;

    /** The statement that a message executes, if any. */
    const statementIn = ({ type, body }: Frame): string | undefined => {
      if (type === 'Q') return textAt(body, 0).text;
      if (type === 'P') {
        const name = textAt(body, 0);
        statements.set(name.text, textAt(body, name.next).text);
      }
      return type === 'B' ? statements.get(textAt(body, textAt(body, 0).next).text) : undefined;
    };

    /** Reports a kill point. @returns whether the process has been killed, there or before */
    const reach = (killPoint: KillPoint): boolean => (wasKilled ||= onKillPoint(killPoint));

    /** Reports the kill point before a statement, if there is one. @returns whether the process has been killed */
    const reachBefore = (statement: string): boolean => {
      if (statement.startsWith('begin')) emitsEvents = appliesMessages = false;
      if (statement.startsWith('insert into outbox (')) {
        emitsEvents = true;
        return reach('state written, events not');
      }
      if (statement.startsWith('update consumer_checkpoint set position')) appliesMessages = true;
      if (statement.startsWith('update outbox_topic set published')) return reach('published, not marked');
      return statement === 'commit' && emitsEvents && reach('before COMMIT');
    };

    return {
      fromClient: (bytes) => {
        for (const frame of splitSent(bytes)) {
          if (wasKilled) return;
          const statement = statementIn(frame)?.trim().toLowerCase();
          if (statement !== undefined && reachBefore(statement)) return;
          toServer(frame.bytes);
          if (statement === 'commit' && emitsEvents) reach('COMMIT sent, no response');
        }
      },
      fromServer: (bytes) => {
        for (const { type, body, bytes: message } of splitReceived(bytes)) {
          if (type === 'C' && body.toString('latin1', 0, 6) === 'COMMIT') {
            if (emitsEvents) reach('after COMMIT, before the reply');
            if (appliesMessages) reach('applied, not acknowledged');
            emitsEvents = appliesMessages = false;
          }
          if (wasKilled) return;
          toClient(message);
        }
      },
    };
  };
}

/** Whether wake-ups are currently disturbed. */
export interface WakeUpDisturbance {
  isActive: boolean;
  /** number of wake-ups delayed or duplicated so far */
  count: number;
}

/** Whether a NATS protocol line starts a wake-up of a consumer. Requests and replies are not disturbed. */
function isWakeUp(line: string): boolean {
  return /^H?MSG wake\./.test(line);
}

const maxDelayMs = 250;
const duplicateProbability = 0.3;

/** Forwards the traffic of NATS; while wake-ups are disturbed, delays each randomly, and duplicates some. */
export function delayAndDuplicateWakeUps(disturbance: WakeUpDisturbance, random: SeededRandom) {
  return ({ toClient, toServer }: Endpoints): Interceptor => {
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
}
