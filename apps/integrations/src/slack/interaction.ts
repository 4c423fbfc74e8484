import { asJsonObject, type JsonObject, maxCommentLength } from '@bunting/contracts';
import { onOneLine } from '../messages/markdown.ts';

/** The change request that a message shows, as it was when the message was written. */
export interface ShownRequest {
  readonly id: number;
  /** which request has the number: another one may after a restored backup; undefined for one of an older version */
  readonly uid?: string;
  readonly project: string;
  readonly revision: number;
  /** undefined for changes in conflict, which have no effect */
  readonly basis?: string;
}

/** What a person has done with a message: one of its buttons, or the form for a comment. */
export interface Interaction {
  readonly kind: 'approve' | 'reject' | 'ask for a comment' | 'comment';
  /** empty for an app that is installed to a whole organisation of Enterprise Grid, whose requests name no workspace */
  readonly teamId: string;
  readonly teamName: string;
  readonly slackUserId: string;
  readonly slackUserName: string;
  readonly request: ShownRequest;
  /** where the person alone is answered; empty for nowhere */
  readonly responseUrl: string;
  /** what opens a form, within three seconds */
  readonly triggerId: string;
  /** the message; empty for a form */
  readonly channel: string;
  readonly ts: string;
  readonly comment?: string;
}

const kinds = { approve: 'approve', reject: 'reject', comment: 'ask for a comment' } as const;
export const commentForm = 'bunting-comment';
export const commentField = 'comment';

function textIn(object: JsonObject, name: string, max: number): string {
  const value = object[name];
  return typeof value === 'string' ? value.slice(0, max).toWellFormed().replaceAll('\0', '') : '';
}

function idIn(object: JsonObject, name: string): string {
  const id = textIn(object, name, 40);
  return /^[A-Z0-9]{2,30}$/.test(id) ? id : '';
}

/** The request of the value of a button, which Slack gives back as it was sent. */
function shownRequestIn(value: unknown): ShownRequest | undefined {
  const { id, uid, project, revision, basis } = asJsonObject(value);
  if (!Number.isSafeInteger(id) || typeof project !== 'string' || !Number.isSafeInteger(revision)) return undefined;
  return {
    id: id as number,
    ...(typeof uid === 'string' ? { uid } : {}),
    project,
    revision: revision as number,
    ...(typeof basis === 'string' ? { basis } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The workspace and the user of a request; undefined for a user of another workspace than the one that it comes from. */
function personIn(payload: JsonObject) {
  const [team, user] = [asJsonObject(payload['team']), asJsonObject(payload['user'])];
  const [teamId, slackUserId] = [idIn(team, 'id'), idIn(user, 'id')];
  const home = idIn(user, 'team_id');
  const isOfOrganisation = payload['team'] === null && idIn(asJsonObject(payload['enterprise']), 'id') !== '';
  if (slackUserId === '' || (teamId === '' && !isOfOrganisation)) return undefined;
  if (teamId !== '' && home !== '' && home !== teamId) return undefined;
  return {
    teamId,
    teamName: onOneLine(textIn(team, 'domain', 200)),
    slackUserId,
    slackUserName: onOneLine(textIn(user, 'username', 200) || textIn(user, 'name', 200)),
  };
}

/** What the body of a request asks for; undefined for what asks for nothing, such as a button that opens an address. */
export function interactionIn(body: string): Interaction | undefined {
  const payload = asJsonObject(parsed(new URLSearchParams(body).get('payload') ?? ''));
  const person = personIn(payload);
  if (person === undefined) return undefined;
  const common = { ...person, triggerId: textIn(payload, 'trigger_id', 200) };
  if (payload['type'] === 'block_actions') {
    const [first] = Array.isArray(payload['actions']) ? (payload['actions'] as unknown[]) : [];
    const action = asJsonObject(first);
    const kind = kinds[action['action_id'] as keyof typeof kinds] as Interaction['kind'] | undefined;
    const request = shownRequestIn(parsed(textIn(action, 'value', 2_000)));
    if (kind === undefined || request === undefined) return undefined;
    const container = asJsonObject(payload['container']);
    return {
      kind,
      ...common,
      request,
      responseUrl: textIn(payload, 'response_url', 1_000),
      channel: idIn(container, 'channel_id'),
      ts: textIn(container, 'message_ts', 40),
    };
  }
  const view = asJsonObject(payload['view']);
  if (payload['type'] !== 'view_submission' || view['callback_id'] !== commentForm) return undefined;
  const metadata = asJsonObject(parsed(textIn(view, 'private_metadata', 3_000)));
  const request = shownRequestIn(metadata['request']);
  if (request === undefined) return undefined;
  const values = asJsonObject(asJsonObject(view['state'])['values']);
  const field = asJsonObject(asJsonObject(values[commentField])[commentField]);
  return {
    kind: 'comment',
    ...common,
    request,
    responseUrl: textIn(metadata, 'responseUrl', 1_000),
    channel: '',
    ts: '',
    comment: textIn(field, 'value', maxCommentLength),
  };
}
