import { asJsonObject, type JsonObject } from '@bunting/contracts';
import { type Send, SendingError } from '../sending/http-client.ts';

/** The address of Slack in messages. The setting INTEGRATIONS_SLACK_URL replaces it where they are sent. */
const slackAddress = 'https://slack.com';

/** The reply of a method of the Web API; one without a response has its reason as the error. */
export interface SlackReply {
  readonly ok: boolean;
  readonly error: string;
  readonly status: number | null;
  readonly retryAfter: string | undefined;
  readonly body: JsonObject;
}

/** Sends what is for Slack to where Slack is: GovSlack has addresses of its own. */
export function withSlackAt(send: Send, address: string): Send {
  const base = address.replace(/\/+$/, '');
  return (request) =>
    send(
      request.url.startsWith(`${slackAddress}/`)
        ? { ...request, url: `${base}${request.url.slice(slackAddress.length)}` }
        : request,
    );
}

/** Whether an address is one to which Slack lets apps answer a person: others get nothing, whatever a request says. */
function isResponseUrl(text: string, address: string): boolean {
  const [url, base] = [URL.parse(text), URL.parse(address)];
  return (
    url !== null &&
    base !== null &&
    url.protocol === base.protocol &&
    [base.host, `hooks.${base.host}`].includes(url.host)
  );
}

const jsonType = 'application/json; charset=utf-8';

async function post(
  send: Send,
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<SlackReply> {
  try {
    const response = await send({
      url,
      headers: { 'user-agent': 'Bunting', 'content-type': jsonType, ...headers },
      body,
      timeoutMs,
    });
    const { status, retryAfter } = response;
    let parsed: JsonObject = {};
    try {
      parsed = asJsonObject(JSON.parse(response.body));
    } catch {
      // A response that is no JSON says nothing more than its status.
    }
    const isAccepted = status !== null && status >= 200 && status < 300;
    const error = typeof parsed['error'] === 'string' ? parsed['error'] : `status ${status}`;
    return { ok: isAccepted && parsed['ok'] !== false, error, status, retryAfter, body: parsed };
  } catch (error) {
    if (!(error instanceof SendingError)) throw error;
    return { ok: false, error: error.message, status: null, retryAfter: undefined, body: {} };
  }
}

/** Calls methods of Slack's Web API, and answers people, each within `timeoutMs`. It never throws for what Slack is to blame for. */
export function slackApi(send: Send, address: string) {
  return {
    call: (token: string, method: string, body: object, timeoutMs: number): Promise<SlackReply> =>
      post(
        send,
        `${slackAddress}/api/${method}`,
        { authorization: `Bearer ${token}` },
        JSON.stringify(body),
        timeoutMs,
      ),
    /** Methods that read take no JSON. */
    read: (
      token: string,
      method: string,
      args: Readonly<Record<string, string>>,
      timeoutMs: number,
    ): Promise<SlackReply> =>
      post(
        send,
        `${slackAddress}/api/${method}`,
        { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
        new URLSearchParams(args).toString(),
        timeoutMs,
      ),
    /** Shows a text to the person alone. */
    answer: async (responseUrl: string, text: string, timeoutMs: number): Promise<SlackReply> =>
      isResponseUrl(responseUrl, address)
        ? post(
            send,
            responseUrl,
            {},
            JSON.stringify({ response_type: 'ephemeral', replace_original: false, text }),
            timeoutMs,
          )
        : { ok: true, error: '', status: null, retryAfter: undefined, body: {} },
  };
}
export type SlackApi = ReturnType<typeof slackApi>;
