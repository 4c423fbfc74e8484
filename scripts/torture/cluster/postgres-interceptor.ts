import type { Endpoints, Interceptor } from './tcp-proxy.ts';

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
const frameSplitter = (firstIsUntyped: boolean): ((bytes: Buffer) => Frame[]) => {
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
};

/** The NUL-terminated text at an offset, and the offset after it. */
const textAt = (body: Buffer, offset: number): { text: string; next: number } => {
  const end = body.indexOf(0, offset);
  return { text: body.toString('utf8', offset, end), next: end + 1 };
};

/** Parses the traffic of a process, and forwards it until the process is killed at a kill point. */
export const postgresInterceptor =
  (onKillPoint: OnKillPoint) =>
  ({ toClient, toServer }: Endpoints): Interceptor => {
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
