import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

/** A button of a message. */
interface Button {
  readonly action_id: string;
  readonly value?: string;
  readonly url?: string;
  readonly text: { readonly text: string };
}

/** A message in a channel. */
export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  text: string;
  blocks: readonly Json[];
  /** how often it was updated */
  updates: number;
}

/** A person at Slack who presses buttons. */
export interface SlackPerson {
  readonly id: string;
  readonly name: string;
  /** default: the name at example.org */
  readonly email?: string;
}

/** How the double sends an interaction, where that is not as Slack does. */
export interface InteractionFaults {
  readonly secret?: string;
  /** seconds by which the timestamp is off */
  readonly skew?: number;
  readonly teamId?: string;
  readonly userTeamId?: string;
  /** the organisation of Enterprise Grid to which the app is installed: such requests name no workspace */
  readonly organisation?: string;
}

const maxBlocks = 50;
const maxSectionText = 3_000;
const maxButtonText = 75;
const maxValue = 2_000;
const maxMetadata = 3_000;
const triggerLivesMs = 3_000;
const maxResponses = 5;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Every object in a value that has a member. */
function objectsWith(value: unknown, member: string): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((one) => objectsWith(one, member));
  return member in value ? [value as Json, ...inner] : inner;
}

/** Why Slack refuses blocks; undefined if it takes them. */
function faultOfBlocks(blocks: unknown): string | undefined {
  if (!Array.isArray(blocks) || blocks.length > maxBlocks) return 'invalid_blocks';
  const textLimits: Readonly<Record<string, number>> = { button: maxButtonText };
  for (const block of blocks as Json[]) {
    if (typeof block['type'] !== 'string') return 'invalid_blocks';
    const ids = objectsWith(block, 'action_id').map((element) => element['action_id']);
    if (new Set(ids).size !== ids.length) return 'invalid_blocks';
    if (block['type'] === 'context' && (block['elements'] as unknown[]).length > 10) return 'invalid_blocks';
    if (block['type'] === 'actions' && (block['elements'] as unknown[]).length > 25) return 'invalid_blocks';
  }
  for (const element of objectsWith(blocks, 'text')) {
    const text = element['text'];
    const length = typeof text === 'string' ? text.length : 0;
    if (typeof text === 'string' && (length === 0 || length > maxSectionText)) return 'invalid_blocks';
    const isButton = element['type'] === 'button';
    const label = (text as { text?: string } | undefined)?.text ?? '';
    if (isButton && label.length > (textLimits['button'] ?? 0)) return 'invalid_blocks';
  }
  if (objectsWith(blocks, 'value').some(({ value }) => typeof value === 'string' && value.length > maxValue))
    return 'invalid_blocks';
  const blockIds = (blocks as Json[]).flatMap((block) => block['block_id'] ?? []);
  return new Set(blockIds).size === blockIds.length ? undefined : 'invalid_blocks';
}

/**
 * A workspace of Slack with an app: it takes the methods of the Web API that Bunting calls, checks what Slack checks, and sends the interactions of
 * people, signed, to the Request URL.
 */
export async function startSlack({ teamId = 'T0SHOP', token = 'xoxb-test', port = 0 } = {}) {
  const signingSecret = randomBytes(16).toString('hex');
  const messages: SlackMessage[] = [];
  /** what single persons were shown, newest last */
  const answers: string[] = [];
  const views: Json[] = [];
  const calls: string[] = [];
  const triggers = new Map<string, number>();
  /** those who have pressed a button, by id */
  const people = new Map<string, SlackPerson>();
  const responseUrls = new Map<string, number>();
  /** refuses the next calls of a method */
  const refusals = new Map<string, { error: string; times: number; channel: string | undefined }>();
  let loses: string | undefined;
  /** what the next call of a method waits for, and what it says once it has come */
  const holds = new Map<string, { readonly arrive: () => void; readonly released: Promise<void> }>();
  let made = 0;
  let requestUrl = '';

  const methods: Readonly<Record<string, (body: Json) => Json>> = {
    'users.info': ({ user }) => {
      const person = people.get(String(user));
      if (person === undefined) return { ok: false, error: 'user_not_found' };
      const { id, name, email = `${name}@example.org` } = person;
      return { ok: true, user: { id, name, is_email_confirmed: true, profile: { email } } };
    },
    'auth.test': () => ({ ok: true, team_id: teamId, team: 'Shop', user_id: 'UBOT' }),
    'chat.postMessage': ({ channel, text, blocks }) => {
      const fault = faultOfBlocks(blocks ?? []);
      if (fault !== undefined) return { ok: false, error: fault };
      if (typeof channel !== 'string' || channel.startsWith('#missing'))
        return { ok: false, error: 'channel_not_found' };
      const message = {
        channel: `C${channel.replace(/\W/g, '').toUpperCase().padEnd(9, '0')}`,
        ts: `1700000000.${String(++made).padStart(6, '0')}`,
        text: String(text),
        blocks: blocks as Json[],
        updates: 0,
      };
      messages.push(message);
      return { ok: true, channel: message.channel, ts: message.ts, message: { team: teamId } };
    },
    'chat.update': ({ channel, ts, text, blocks }) => {
      const fault = faultOfBlocks(blocks ?? []);
      if (fault !== undefined) return { ok: false, error: fault };
      const message = messages.find((one) => one.channel === channel && one.ts === ts);
      if (message === undefined) return { ok: false, error: 'message_not_found' };
      message.text = String(text);
      message.blocks = blocks as Json[];
      message.updates++;
      return { ok: true, channel, ts };
    },
    'views.open': ({ trigger_id: trigger, view }) => {
      const since = triggers.get(String(trigger));
      triggers.delete(String(trigger));
      if (since === undefined || performance.now() - since > triggerLivesMs)
        return { ok: false, error: 'expired_trigger_id' };
      const { private_metadata: metadata = '', blocks } = view as Json;
      if (String(metadata).length > maxMetadata || faultOfBlocks(blocks) !== undefined)
        return { ok: false, error: 'invalid_arguments' };
      views.push(view as Json);
      return { ok: true, view: { id: `V${++made}` } };
    },
  };

  const respond = (response: ServerResponse, status: number, body: Json): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    const path = request.url ?? '';
    if (path.startsWith('/actions/')) {
      const used = responseUrls.get(path);
      if (used === undefined || used >= maxResponses)
        return respond(response, 404, { ok: false, error: 'expired_url' });
      responseUrls.set(path, used + 1);
      answers.push(String((JSON.parse(text) as Json)['text']));
      return respond(response, 200, { ok: true });
    }
    const method = path.replace(/^\/api\//, '');
    calls.push(method);
    const implementation = methods[method];
    const hold = holds.get(method);
    holds.delete(method);
    hold?.arrive();
    await hold?.released;
    if (request.headers.authorization !== `Bearer ${token}`)
      return respond(response, 200, { ok: false, error: 'invalid_auth' });
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
    // As at Slack, methods that read take no JSON.
    if (method === 'users.info' && !isForm) return respond(response, 200, { ok: false, error: 'invalid_arguments' });
    const args = (isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text)) as Json;
    const refusal = refusals.get(method);
    if (
      refusal !== undefined &&
      (refusal.channel === undefined || refusal.channel === args['channel']) &&
      refusal.times-- > 0
    )
      return refusal.error === 'ratelimited'
        ? void response.writeHead(429, { 'retry-after': '1' }).end()
        : respond(response, 200, { ok: false, error: refusal.error });
    const result = implementation?.(args) ?? { ok: false, error: 'unknown_method' };
    // The method has its effect, and the caller never learns of it.
    if (loses === method) {
      loses = undefined;
      return void request.socket.destroy();
    }
    respond(response, 200, result);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** The request that tells an app of an interaction, as Slack signs it. */
  const signed = (payload: Json, { secret = signingSecret, skew = 0 }: InteractionFaults = {}) => {
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const timestamp = String(Math.floor(Date.now() / 1_000) + skew);
    const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
    return {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-signature': signature,
        'x-slack-request-timestamp': timestamp,
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      },
      body,
    };
  };
  const commonOf = (person: SlackPerson, faults: InteractionFaults = {}) => {
    const { id, name } = person;
    people.set(id, person);
    const team = faults.teamId ?? teamId;
    const trigger = `trigger.${++made}`;
    triggers.set(trigger, performance.now());
    return {
      user: { id, username: name, name, team_id: faults.userTeamId ?? team },
      team: faults.organisation === undefined ? { id: team, domain: 'shop' } : null,
      enterprise: faults.organisation === undefined ? null : { id: faults.organisation, name: 'Shop' },
      is_enterprise_install: faults.organisation !== undefined,
      api_app_id: 'A0APP',
      trigger_id: trigger,
    };
  };
  const buttonsOf = (message: SlackMessage): Button[] =>
    objectsWith(message.blocks, 'action_id').filter(({ type }) => type === 'button') as unknown as Button[];
  const pressOf = (message: SlackMessage, action: string, person: SlackPerson, faults: InteractionFaults = {}) => {
    const button = buttonsOf(message).find((one) => one.action_id === action);
    if (button === undefined) throw new Error(`The message has no button ${action}.`);
    const path = `/actions/${teamId}/${++made}`;
    responseUrls.set(path, 0);
    const payload = {
      type: 'block_actions',
      ...commonOf(person, faults),
      container: { type: 'message', message_ts: message.ts, channel_id: message.channel, is_ephemeral: false },
      channel: { id: message.channel, name: 'flags' },
      message: { ts: message.ts, text: message.text, blocks: message.blocks },
      response_url: `${url}${path}`,
      actions: [{ ...button, type: 'button', action_ts: '1700000000.000001' }],
    };
    return signed(payload, faults);
  };

  return {
    /** what takes the place of https://slack.com */
    url,
    token,
    teamId,
    signingSecret,
    messages,
    answers,
    views,
    calls,
    /** Where interactions are sent. */
    setRequestUrl: (address: string): void => void (requestUrl = address),
    /** the action ids of the buttons of a message */
    buttonsOf: (message: SlackMessage): readonly string[] => buttonsOf(message).map((one) => one.action_id),
    /** The request of a press, which is not sent. */
    pressOf,
    /** Presses a button. @returns the status of the app's response, which Slack waits for at most three seconds */
    press: async (message: SlackMessage, action: string, person: SlackPerson, faults?: InteractionFaults) => {
      const response = await fetch(requestUrl, {
        ...pressOf(message, action, person, faults),
        signal: AbortSignal.timeout(triggerLivesMs),
      });
      return response.status;
    },
    /** Submits the form that was opened last. */
    submit: async (value: string, person: SlackPerson): Promise<number> => {
      const view = views.at(-1) ?? {};
      const state = { values: { comment: { comment: { type: 'plain_text_input', value } } } };
      const payload = { type: 'view_submission', ...commonOf(person), view: { ...view, state } };
      return (await fetch(requestUrl, { ...signed(payload), signal: AbortSignal.timeout(triggerLivesMs) })).status;
    },
    signed,
    /** Refuses the next calls of a method, or those for a channel. */
    refuse: (method: string, error: string, times = 1, channel?: string): void =>
      void refusals.set(method, { error, times, channel }),
    /** Keeps the next call of a method from being executed until it is released. */
    hold: (method: string) => {
      const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      holds.set(method, { arrive: arrived.resolve, released: released.promise });
      return { arrived: arrived.promise, release: released.resolve };
    },
    /** Executes the next call of a method, and closes the connection without a response. */
    loseResponseOf: (method: string): void => void (loses = method),
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type SlackDouble = Awaited<ReturnType<typeof startSlack>>;
