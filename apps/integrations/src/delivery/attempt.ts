import type { Event } from '@bunting/contracts';
import type { Target } from '../addons/addon.ts';
import { type Batch, batchMessage } from '../messages/batch.ts';
import { type Message, messagesFor } from '../messages/request.ts';
import { signForAws } from '../sending/aws-signature.ts';
import { type DestinationResponse, type Send, SendingError } from '../sending/http-client.ts';
import { headSignature, signatureHeaders } from '../sending/signature.ts';
import { TemplateError } from '../messages/template.ts';
import { type Outcome, retryAfterMs, webhookId } from './retry.ts';

/** An event of the log; its JSON text is that of the event. */
interface EventToSend {
  readonly uid: string;
  readonly event: Event;
  readonly text?: string;
  /** milliseconds in which the attempt must end, where that is less than for every attempt */
  readonly timeoutMs?: number;
}

/** Sends an event to a destination once. It never throws for what the destination, its address or its template is to blame for. */
export interface Attempt {
  readonly event: (target: Target, entry: EventToSend) => Promise<Outcome>;
  /** the same for events that are sent together; the uid is that of the last one */
  readonly batch: (target: Target, uid: string, batch: Batch) => Promise<Outcome>;
}

type SentMessage = { readonly message: Message } & (
  | { readonly response: DestinationResponse; readonly fault: string | undefined }
  | { readonly response: undefined; readonly fault: string }
);

const maxShownResponse = 300;

/** Why a response means that the event was not accepted; undefined if it was. */
function faultOf(provider: string, { status, body }: DestinationResponse): string | undefined {
  const text = body.trim().slice(0, maxShownResponse).toWellFormed().replaceAll('\0', '');
  if (status === null) return undefined;
  if (status < 200 || status > 299) return `The destination responded ${status}${text === '' ? '.' : `: ${text}`}`;
  // A connector of Office 365 responds 200 to what Teams refuses, also to messages too many.
  if (provider === 'teams' && body.includes('returned HTTP error')) return `Teams refused the message: ${text}`;
  // Slack responds 200 to what it refuses.
  if (provider === 'slack-app' && !/"ok"\s*:\s*true/.test(body)) return `Slack refused the message: ${text}`;
  // OTLP responds 200 to records that it refuses, and says how many.
  if (provider === 'otlp' && /"rejectedLogRecords"\s*:\s*"?[1-9]/.test(body))
    return `The collector refused the event: ${text}`;
  return undefined;
}

/** Sends the messages for events at the same time, and says what came of each. */
export function messageSender(send: Send, publicUrl: string, now: () => Date) {
  const sendOne = async (
    target: Target,
    uid: string,
    message: Message,
    covered: string,
    timeoutMs?: number,
  ): Promise<SentMessage> => {
    const signed = await signedMessage(target, message, uid, covered, now());
    try {
      const response = await send(timeoutMs === undefined ? signed : { ...signed, timeoutMs });
      return { message: signed, response, fault: faultOf(target.provider, response) };
    } catch (error) {
      if (!(error instanceof SendingError)) throw error;
      return { message: signed, response: undefined, fault: `The event could not be sent: ${error.message}.` };
    }
  };
  return {
    event: (target: Target, { uid, event, text, timeoutMs }: EventToSend): Promise<SentMessage[]> =>
      Promise.all(
        messagesFor(target, event, webhookId(uid), publicUrl, text).map((message) =>
          sendOne(target, uid, message, webhookId(uid), timeoutMs),
        ),
      ),
    batch: (target: Target, uid: string, batch: Batch): Promise<SentMessage> =>
      sendOne(
        target,
        uid,
        batchMessage(target, batch, publicUrl, now()),
        `${batch.from}-${batch.to}.${webhookId(uid)}`,
      ),
  };
}

/**
 * The message with what proves to its destination from whom it is, and what is the same for each of its attempts.
 * @param covered the events that a mail is about: receivers drop a second one with the same Message-ID
 */
async function signedMessage(
  { id: integrationId, provider, parameters }: Target,
  message: Message,
  uid: string,
  covered: string,
  now: Date,
): Promise<Message> {
  const { signingKeys } = parameters;
  const id = webhookId(uid);
  if (provider === 'email')
    return { ...message, headers: { ...message.headers, 'message-id': `${integrationId}.${covered}` } };
  if (provider === 's3') {
    if (signingKeys === undefined) return signForAws(message, parameters, now);
    const signature = { 'x-amz-meta-bunting-signature': headSignature(signingKeys, message) };
    return signForAws({ ...message, headers: { ...message.headers, ...signature } }, parameters, now);
  }
  const timestamp = Math.floor(now.getTime() / 1_000);
  const headers = {
    'user-agent': 'Bunting',
    ...message.headers,
    ...(provider === 'webhook' ? { 'webhook-id': id, 'webhook-timestamp': String(timestamp) } : {}),
    ...(provider === 'webhook' && signingKeys !== undefined
      ? signatureHeaders(signingKeys, { id, timestamp, body: message.body })
      : {}),
  };
  return { ...message, headers };
}

/** @param now the clock, which the timestamps of webhooks are of */
export function attemptBy(send: Send, publicUrl: string, now: () => Date): Attempt {
  const sender = messageSender(send, publicUrl, now);
  const outcomeOf = (sent: readonly SentMessage[]): Outcome => {
    const failed = sent.filter(({ fault }) => fault !== undefined);
    const reasons = failed.map(({ fault }) => fault).join(' ');
    const decisive = failed[0] ?? sent[0];
    const status = decisive?.response?.status ?? null;
    if (failed.length === 0) {
      const shortfall = decisive?.response?.shortfall;
      // Those that have it would get it again.
      if (shortfall !== undefined) return { state: 'successWithErrors', status, reason: shortfall };
      const reason =
        decisive === undefined
          ? 'There is no channel for the event.'
          : status === null
            ? 'The destination has read the event.'
            : `The destination responded ${status}.`;
      return { state: 'success', status, reason };
    }
    // What some channels have would be repeated there, so the others do without.
    if (failed.length < sent.length) return { state: 'successWithErrors', status, reason: reasons };
    const waitMs = retryAfterMs(decisive?.response?.retryAfter, now());
    return { state: 'failed', status, reason: reasons, waitMs };
  };
  return {
    event: async (target, entry) => {
      try {
        return outcomeOf(await sender.event(target, entry));
      } catch (error) {
        if (error instanceof TemplateError) return { state: 'failed', status: null, reason: `${error.message}.` };
        throw error;
      }
    },
    batch: async (target, uid, batch) => outcomeOf([await sender.batch(target, uid, batch)]),
  };
}
