import type { Ends, Reader } from './wire.ts';

/** Moments in the work of a service that show on its wire to PostgreSQL. */
export const moments = [
  'state written, events not',
  'before COMMIT',
  'COMMIT sent, not answered',
  'after COMMIT, before the answer',
  'published, not marked',
  'applied, not acknowledged',
] as const;
export type Moment = (typeof moments)[number];

/** Asked at each moment: `true` when the process has just been killed, and nothing of it may go on. */
export type AtMoment = (moment: Moment) => boolean;

interface Frame {
  /** one letter; none on the first message of a client */
  readonly type: string;
  readonly body: Buffer;
  readonly bytes: Buffer;
}

/** Cuts a stream of the PostgreSQL protocol (version 3) into its messages. */
const frames = (firstIsUntyped: boolean): ((bytes: Buffer) => Frame[]) => {
  let rest: Buffer = Buffer.alloc(0);
  let untyped = firstIsUntyped;
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const found: Frame[] = [];
    for (;;) {
      const header = untyped ? 0 : 1;
      if (rest.length < header + 4) return found;
      const size = header + rest.readInt32BE(header);
      if (rest.length < size) return found;
      const whole = rest.subarray(0, size);
      found.push({
        type: untyped ? '' : String.fromCharCode(whole[0] ?? 0),
        body: whole.subarray(header + 4),
        bytes: whole,
      });
      untyped = false;
      rest = rest.subarray(size);
    }
  };
};

const textAt = (body: Buffer, at: number): { text: string; next: number } => {
  const end = body.indexOf(0, at);
  return { text: body.toString('utf8', at, end), next: end + 1 };
};

/** Reads along, and passes everything on unless a moment says that its process is no more. */
export const postgresReader =
  (atMoment: AtMoment) =>
  ({ toClient, toServer }: Ends): Reader => {
    const texts = new Map<string, string>();
    const sent = frames(true);
    const answered = frames(false);
    let tells = false;
    let applies = false;
    let over = false;

    /** The statement that a message executes, if it does. */
    const statementIn = ({ type, body }: Frame): string | undefined => {
      if (type === 'Q') return textAt(body, 0).text;
      if (type === 'P') {
        const name = textAt(body, 0);
        texts.set(name.text, textAt(body, name.next).text);
      }
      return type === 'B' ? texts.get(textAt(body, textAt(body, 0).next).text) : undefined;
    };

    const isLast = (moment: Moment): boolean => (over ||= atMoment(moment));

    const killedBefore = (statement: string): boolean => {
      if (statement.startsWith('begin')) tells = applies = false;
      if (statement.startsWith('insert into outbox (')) {
        tells = true;
        return isLast('state written, events not');
      }
      if (statement.startsWith('update inbox set position')) applies = true;
      if (statement.startsWith('update outbox_topic set published')) return isLast('published, not marked');
      return statement === 'commit' && tells && isLast('before COMMIT');
    };

    return {
      fromClient: (bytes) => {
        for (const frame of sent(bytes)) {
          if (over) return;
          const statement = statementIn(frame)?.trim().toLowerCase();
          if (statement !== undefined && killedBefore(statement)) return;
          toServer(frame.bytes);
          if (statement === 'commit' && tells) isLast('COMMIT sent, not answered');
        }
      },
      fromServer: (bytes) => {
        for (const { type, body, bytes: whole } of answered(bytes)) {
          if (type === 'C' && body.toString('latin1', 0, 6) === 'COMMIT') {
            if (tells) isLast('after COMMIT, before the answer');
            if (applies) isLast('applied, not acknowledged');
            tells = applies = false;
          }
          if (over) return;
          toClient(whole);
        }
      },
    };
  };
