import { Fault, type Provider, type ReceivedRequest } from './http-destination.ts';

type Json = Readonly<Record<string, unknown>>;

/** The JSON object that a request has; `refuse` makes the refusal of one that has none. */
export function jsonOf({ method, headers, body }: ReceivedRequest, refuse: (why: string) => Fault): Json {
  if (method !== 'POST') throw refuse('the method is not POST');
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) throw refuse('the content type is not JSON');
  try {
    const json = JSON.parse(body) as unknown;
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Json;
  } catch {
    // It is refused like one that is no object.
  }
  throw refuse('the body is no JSON object');
}

export function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

const maxSlackText = 40_000;
const slackTooMany = { status: 429, headers: { 'retry-after': '30' } };

/** Why Slack refuses blocks (Block Kit's reference: at most 50 blocks, 3,000 characters a section, 75 a button, 25 elements of actions). */
function faultOfBlocks(blocks: unknown): string | undefined {
  if (blocks === undefined) return undefined;
  if (!Array.isArray(blocks) || blocks.length > 50) return 'blocks are at most 50';
  for (const block of blocks as Json[]) {
    if (block['type'] === 'section') {
      const { type, text } = (block['text'] ?? {}) as Json;
      if (!['mrkdwn', 'plain_text'].includes(String(type))) return 'a section has no text';
      if (lengthOf(text) === 0 || lengthOf(text) > 3_000) return 'the text of a section has 1 to 3000 characters';
    } else if (block['type'] === 'actions') {
      const elements = (block['elements'] ?? []) as Json[];
      if (elements.length === 0 || elements.length > 25) return 'actions have 1 to 25 elements';
      for (const { type, url, text } of elements) {
        if (type !== 'button' || (text as Json)['type'] !== 'plain_text') return 'a button has a plain text';
        if (lengthOf((text as Json)['text']) > 75 || lengthOf(url) > 3_000) return 'a button is too long';
      }
    } else return `there is no block ${String(block['type'])}`;
  }
  return undefined;
}

/** An incoming webhook of Slack: text responses, 400 for what it cannot read, 404 for channels that it does not know. */
export function slackWebhook({ channels }: { readonly channels: readonly string[] }): Provider {
  const refused = (status: number, body: string) => (why: string) => new Fault(why, { status, body });
  return {
    accept: (request) => {
      const { text, channel, blocks } = jsonOf(request, refused(400, 'invalid_payload'));
      if (lengthOf(text) === 0) throw refused(400, 'no_text')('there is no text');
      if (lengthOf(text) > maxSlackText) throw refused(400, 'msg_too_long')('the text is too long');
      const fault = faultOfBlocks(blocks);
      if (fault !== undefined) throw refused(400, 'invalid_blocks')(fault);
      if (typeof channel === 'string' && !channels.includes(channel.replace('#', '')))
        throw refused(404, 'channel_not_found')(`there is no channel ${channel}`);
      return { status: 200, body: 'ok' };
    },
    tooMany: slackTooMany,
  };
}

/** `chat.postMessage` of Slack, which responds 200 to what it refuses. */
export function slackApi({
  token,
  channels,
}: {
  readonly token: string;
  readonly channels: readonly string[];
}): Provider {
  const refused = (error: string) => (why: string) =>
    new Fault(why, { status: 200, body: JSON.stringify({ ok: false, error }) });
  return {
    accept: (request) => {
      const json = jsonOf(request, refused('invalid_form_data'));
      if (request.path !== '/api/chat.postMessage') throw refused('unknown_method')(`there is no ${request.path}`);
      if (request.headers.authorization === undefined) throw refused('not_authed')('there is no token');
      if (request.headers.authorization !== `Bearer ${token}`)
        throw refused('invalid_auth')('the token is another one');
      const { channel, text, blocks } = json;
      if (typeof channel !== 'string' || !channels.includes(channel.replace('#', '')))
        throw refused('channel_not_found')(`there is no channel ${String(channel)}`);
      if (lengthOf(text) === 0) throw refused('no_text')('there is no text');
      if (lengthOf(text) > maxSlackText) throw refused('msg_too_long')('the text is too long');
      const fault = faultOfBlocks(blocks);
      if (fault !== undefined) throw refused('invalid_blocks')(fault);
      // Slack has no documented limit of all blocks, and refuses some 13,000 characters of them.
      if (lengthOf(JSON.stringify(blocks ?? [])) > 13_000)
        throw refused('msg_blocks_too_long')('the blocks are too long');
      return { status: 200, body: JSON.stringify({ ok: true, channel, ts: '1795852800.000100' }) };
    },
    tooMany: { ...slackTooMany, body: JSON.stringify({ ok: false, error: 'ratelimited' }) },
  };
}

const maxTeamsBytes = 28 * 1024;

/** The trigger "When a Teams webhook request is received" of a workflow, which accepts adaptive cards up to version 1.5. */
export function teamsWorkflow(): Provider {
  const refused = (status: number) => (why: string) =>
    new Fault(why, { status, body: JSON.stringify({ error: { code: 'TriggerInputSchemaMismatch', message: why } }) });
  return {
    accept: (request) => {
      if (Buffer.byteLength(request.body) > maxTeamsBytes) throw refused(413)('the message has more than 28 kB');
      const { type, attachments } = jsonOf(request, refused(400));
      if (type !== 'message' || !Array.isArray(attachments) || attachments.length === 0)
        throw refused(400)('a message has attachments');
      for (const { contentType, content } of attachments as { contentType: string; content: Json }[]) {
        if (contentType !== 'application/vnd.microsoft.card.adaptive') throw refused(400)('an attachment is no card');
        const version = Number(content['version']);
        if (content['type'] !== 'AdaptiveCard' || !(version <= 1.5))
          throw refused(400)('it is no card that Teams shows');
        for (const element of content['body'] as Json[]) {
          const facts = (element['facts'] ?? []) as Json[];
          const isText = element['type'] === 'TextBlock' && typeof element['text'] === 'string';
          const isFacts =
            element['type'] === 'FactSet' &&
            facts.every(({ title, value }) => typeof title === 'string' && typeof value === 'string');
          if (!isText && !isFacts) throw refused(400)('an element of the card is not valid');
        }
      }
      return { status: 202 };
    },
    tooMany: { status: 429, headers: { 'retry-after': '17' } },
  };
}

/** A connector of Office 365, which responds 200 also where Teams has refused the message, and says so in the text. */
export function teamsConnector(): Provider {
  const failure = (status: number): string =>
    `Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error ${status} with ContextId tcid=0.`;
  const refused = (status: number, body: string) => (why: string) => new Fault(why, { status, body });
  return {
    accept: (request) => {
      const card = jsonOf(request, refused(400, 'Bad payload received by generic incoming webhook.'));
      if (lengthOf(card['summary']) === 0 && lengthOf(card['text']) === 0)
        throw refused(400, 'Summary or Text is required.')('there is neither summary nor text');
      if (Buffer.byteLength(request.body) > maxTeamsBytes)
        throw refused(200, failure(413))('the message has more than 28 kB');
      if (((card['sections'] as unknown[] | undefined)?.length ?? 0) > 10)
        throw refused(400, 'Too many sections')('too many');
      return { status: 200, body: '1' };
    },
    tooMany: { status: 200, body: failure(429) },
  };
}
