import {
  type Addon,
  asJsonObject,
  type AddonBody,
  type AddonProvider,
  type Caller,
  type EventContent,
  invalid,
  isAdministrator,
  maskedParameter,
  refusal,
  takesReviews,
} from '@bunting/contracts';
import { recipientsOf } from '../messages/batch.ts';
import { requireValidHostname } from '../messages/log-records.ts';
import { requireValidHeaders, requireValidTemplate } from '../messages/request.ts';
import { type AllowedAddresses, requireAllowedUrl } from '../sending/addresses.ts';
import { requireValidSigningKeys } from '../sending/signature.ts';
import { findProvider } from './providers.ts';

export type Parameters = Readonly<Record<string, string>>;

/** An integration with all its parameters, sensitive ones among them. */
export interface Integration extends Omit<AddonBody, 'parameters' | 'description' | 'projects' | 'environments'> {
  readonly description: string | null;
  readonly parameters: Parameters;
  readonly projects: string[];
  readonly environments: string[];
}

/** An integration as it is delivered to. */
export interface Target extends Integration {
  readonly id: number;
  /** the id of the user, or of the kind of token, by whom it was set up or edited last; null where that is not known */
  readonly setUpBy: number | null;
}

/** The maximum number of characters of a parameter. */
const maxParameterLength = 20_000;

/**
 * The parameters of a request as texts; a masked one has its stored value.
 * @throws Refusal `ValidationError` if a stored secret would be sent to another address than the one it was entered for
 */
function textsOf(
  given: Readonly<Record<string, unknown>>,
  provider: AddonProvider,
  storedParameters: () => Parameters,
): Parameters {
  const texts: Record<string, string> = {};
  const masked: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === '') continue;
    const path = `/body/parameters/${name}`;
    const definition = provider.parameters.find((one) => one.name === name);
    if (definition === undefined)
      throw invalid(`The provider ${provider.name} has no parameter \`${name.slice(0, 100)}\`.`, path.slice(0, 200));
    if (typeof value === 'object') throw invalid(`The \`${path}\` property must be text.`, path);
    const text = String(value);
    if (text.length > maxParameterLength)
      throw invalid(`The \`${path}\` property must have at most ${maxParameterLength} characters.`, path);
    if (text.includes('\0')) throw invalid(`The \`${path}\` property must not contain a null character.`, path);
    if (definition.sensitive && text === maskedParameter) masked.push(name);
    else texts[name] = text;
  }
  if (masked.length === 0) return texts;
  const stored = storedParameters();
  for (const name of masked) if (stored[name] !== undefined) texts[name] = stored[name];
  const secret = masked.find((name) => name !== 'url' && stored[name] !== undefined);
  if (secret !== undefined && originOf(texts['url']) !== originOf(stored['url']))
    throw invalid(
      `The \`/body/parameters/${secret}\` property must be entered again, because the \`url\` is of another host: what was entered for one host is sent to no other.`,
      `/body/parameters/${secret}`,
    );
  return texts;
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : (URL.parse(url)?.origin ?? url);
}

/**
 * The integration that a request describes.
 * @param storedParameters opens the parameters of the integration that it replaces, if one of the request is masked
 * @param allowed the addresses that need not be public
 * @throws Refusal `ValidationError` with Unleash's messages for an unknown provider and missing parameters
 */
export function integrationFrom(
  { provider: name, parameters, ...body }: AddonBody,
  allowed: AllowedAddresses,
  storedParameters: () => Parameters = () => ({}),
): Integration {
  const provider = findProvider(name);
  if (provider === undefined) throw invalid(`Unknown addon provider ${name}`, '/body/provider');
  const texts = textsOf(parameters, provider, storedParameters);
  const missing = provider.parameters.filter((one) => one.required && texts[one.name] === undefined);
  if (missing.length > 0)
    throw refusal('ValidationError', `Missing required parameters: ${missing.map((one) => one.name).join(',')} `, {
      details: missing.map((one) => ({
        message: `${one.displayName} is required.`,
        path: `/body/parameters/${one.name}`,
      })),
    });
  const { url, signingKeys } = texts;
  if (url !== undefined) requireAllowedUrl(url, allowed, '/body/parameters/url', name === 'syslog' ? 'tls' : 'http');
  requireValidHeaders(texts);
  requireValidHostname(texts);
  requireValidTemplate(texts);
  if (name === 'email') requireValidMail(texts);
  if (name === 'slack-app') requireValidSigningSecret(texts);
  if (name === 's3') requireValidBucket(texts, allowed);
  if (signingKeys !== undefined) requireValidSigningKeys(signingKeys, '/body/parameters/signingKeys');
  return {
    provider: name,
    description: body.description ?? null,
    enabled: body.enabled,
    parameters: texts,
    events: [...new Set(body.events)],
    projects: [...new Set(body.projects)],
    environments: [...new Set(body.environments)],
  };
}

function requireValidSigningSecret({ signingSecret }: Parameters): void {
  if (signingSecret !== undefined && !/^[A-Za-z0-9]{16,200}$/.test(signingSecret))
    throw invalid(
      'The `/body/parameters/signingSecret` property must be the signing secret of the Slack app: letters and digits.',
      '/body/parameters/signingSecret',
    );
}

const maxRecipients = 20;
/** An address without what would need quotes: it goes into commands of SMTP and into a header. */
const mailAddress = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,10}$/;

function requireValidMail(parameters: Parameters): void {
  const recipients = recipientsOf(parameters);
  if (recipients.length === 0 || recipients.length > maxRecipients || !recipients.every((one) => mailAddress.test(one)))
    throw invalid(
      `The \`/body/parameters/to\` property must be 1 to ${maxRecipients} e-mail addresses, separated by commas.`,
      '/body/parameters/to',
    );
  requireOneOf(parameters, 'digest', ['daily']);
}

function requireOneOf(parameters: Parameters, name: string, values: readonly string[]): void {
  const value = parameters[name];
  if (value !== undefined && !values.includes(value))
    throw invalid(
      `The \`/body/parameters/${name}\` property must be ${values.join(' or ')}.`,
      `/body/parameters/${name}`,
    );
}

/** What the parameters of a storage must match: they become parts of addresses and headers. */
const storageParameters: readonly (readonly [name: string, pattern: RegExp, must: string])[] = [
  [
    'bucket',
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    'the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens',
  ],
  ['region', /^[a-z0-9-]{1,60}$/, 'the name of a region'],
  [
    'prefix',
    /^[A-Za-z0-9_=.-]+(\/[A-Za-z0-9_=.-]+)*$/,
    'names of letters, digits, `_`, `=`, `.` and `-`, separated by slashes',
  ],
  ['accessKeyId', /^[\w-]{1,200}$/, 'an id of letters, digits, `_` and `-`'],
  ['retentionDays', /^[1-9]\d{0,4}$/, 'a number of days'],
];

function requireValidBucket(parameters: Parameters, allowed: AllowedAddresses): void {
  for (const [name, pattern, must] of storageParameters) {
    const value = parameters[name];
    const isDotted = value?.split('/').some((part) => /^\.+$/.test(part)) === true;
    if (value !== undefined && (isDotted || !pattern.test(value)))
      throw invalid(`The \`/body/parameters/${name}\` property must be ${must}.`, `/body/parameters/${name}`);
  }
  requireOneOf(parameters, 'addressing', ['path', 'virtual-host']);
  requireOneOf(parameters, 'retentionMode', ['GOVERNANCE', 'COMPLIANCE']);
  const { url = '', bucket = '', addressing } = parameters;
  const { protocol, host, pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '')
    throw invalid('The `/body/parameters/url` property must have no query.', '/body/parameters/url');
  if (!/^[A-Za-z0-9_=./-]*$/.test(pathname))
    throw invalid(
      'The `/body/parameters/url` property must have a path of letters, digits, `_`, `=`, `.` and `-`, which are signed as they are.',
      '/body/parameters/url',
    );
  if (addressing === 'virtual-host')
    requireAllowedUrl(`${protocol}//${bucket}.${host}`, allowed, '/body/parameters/url');
}

/** The parameters without the values of the sensitive ones. */
export function maskedParameters(providerName: string, parameters: Parameters): Parameters {
  const sensitive = findProvider(providerName)?.parameters.filter((one) => one.sensitive) ?? [];
  const isSensitive = (name: string): boolean => sensitive.some((one) => one.name === name);
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, isSensitive(name) ? maskedParameter : value]),
  );
}

type Selection = Pick<Integration, 'events' | 'projects' | 'environments'>;

/** The name that stands for all types of events, also those of later versions. */
export const allEvents = '*';

function isForAll(names: readonly string[]): boolean {
  return names.length === 0 || names[0] === '*';
}

interface SelectedEvent {
  readonly type: string;
  readonly project?: string | null;
  readonly environment?: string | null;
  readonly data?: unknown;
  readonly preData?: unknown;
}

/** Whether users have chosen that an integration is told of an event: by its type, and by its project and environment where it has them. */
export function isChosen(selection: Selection, event: SelectedEvent): boolean {
  return (selection.events[0] === allEvents || selection.events.includes(event.type)) && isInScope(selection, event);
}

/** Whether an integration gets an event: one that is chosen, or by which it updates its messages about change requests. */
export function selects(
  integration: Selection & Pick<AddonBody, 'provider' | 'parameters'>,
  event: SelectedEvent,
): boolean {
  if (isChosen(integration, event)) return true;
  return takesReviews(integration) && reviewedRequestOf(event) !== undefined && isInScope(integration, event);
}

/** Whether something is of a project and an environment that an integration is for. */
export function isInScope(
  { projects, environments }: Selection,
  { project, environment }: Pick<SelectedEvent, 'project' | 'environment'>,
): boolean {
  return (
    (project == null || isForAll(projects) || projects.includes(project)) &&
    (environment == null || isForAll(environments) || environments.includes(environment))
  );
}

const contentTypes = ['change-added', 'change-edited', 'change-discarded'];

/** The change request that an event is about; undefined for one of a draft, which nobody but its author sees. */
export function reviewedRequestOf({ type, data, preData }: SelectedEvent): number | undefined {
  const isContent = contentTypes.includes(type);
  if (!isContent && !type.startsWith('change-request-')) return undefined;
  const { changeRequestId, payload } = asJsonObject(data);
  if (!Number.isInteger(changeRequestId)) return undefined;
  if (type === 'change-request-created' || type === 'change-request-discarded') return undefined;
  // Events of drafts have no payloads.
  if (isContent && payload === undefined && asJsonObject(preData)['payload'] === undefined) return undefined;
  return changeRequestId as number;
}

/**
 * Refuses the reviews of an integration to all but administrators: whoever knows the secret that signs them can review as everybody who has linked a
 * Slack account.
 * @throws Refusal `NoAccessError`
 */
export function requireMayTakeReviews(caller: Caller, integration: Pick<AddonBody, 'provider' | 'parameters'>): void {
  if (takesReviews(integration) && !isAdministrator(caller))
    throw refusal('NoAccessError', 'Only administrators may create and edit an integration with a signing secret.');
}

/**
 * The integration as the caller sees it: without the names of hidden projects.
 * @returns undefined if it is for hidden projects alone
 */
export function visibleTo(caller: Caller, addon: Addon): Addon | undefined {
  const { hiddenProjects = [] } = caller;
  if (hiddenProjects.length === 0 || addon.projects.length === 0) return addon;
  const projects = addon.projects.filter((project) => !hiddenProjects.includes(project));
  return projects.length === 0 ? undefined : { ...addon, projects };
}

/** What of an integration a caller may not direct, because it would be sent to an address that the caller chooses. */
function undirectable(
  caller: Caller,
  { provider, events, projects }: Integration | Addon,
): { readonly message: string; readonly path: string } | undefined {
  if (isAdministrator(caller)) return undefined;
  const { hiddenProjects = [] } = caller;
  const offered = findProvider(provider)?.events ?? [];
  const denied = events.find((type) => type === allEvents || !offered.includes(type));
  if (denied !== undefined)
    return {
      message: `Only administrators may direct events of the type ${denied.slice(0, 100)}.`,
      path: '/body/events',
    };
  if (hiddenProjects.length > 0 && isForAll(projects))
    return { message: 'You may not direct the events of all projects: list projects.', path: '/body/projects' };
  const hidden = projects.find((project) => hiddenProjects.includes(project));
  return hidden === undefined
    ? undefined
    : { message: `You may not direct the events of the project ${hidden}.`, path: '/body/projects' };
}

/**
 * Refuses to let a caller direct events to an address that the caller may not read: those of hidden projects, and those that only
 * administrators see, because they are about no project.
 */
export function requireMayDirect(caller: Caller, integration: Integration): void {
  const denied = undirectable(caller, integration);
  if (denied !== undefined) throw refusal('NoAccessError', denied.message, { details: [denied] });
}

/** Refuses the edit of an integration that sends what the caller may not read. It does not tell whether there are hidden projects. */
export function requireMayEdit(caller: Caller, addon: Addon): void {
  if (undirectable(caller, addon) !== undefined)
    throw refusal('NoAccessError', 'You may not edit this integration: an administrator has to.');
}

type AddonChange = {
  readonly before?: Omit<Addon, 'parameters'> | undefined;
  readonly after?: Omit<Addon, 'parameters'> | undefined;
};

/** The event of a created, updated or deleted integration. It has no parameters, which may be secrets. */
export function addonEvent({ before, after }: AddonChange): EventContent {
  const withoutParameters = (addon: Omit<Addon, 'parameters'> | undefined) => {
    if (addon === undefined) return null;
    const { id, provider, description, enabled, events, projects, environments } = addon;
    return { id, provider, description, enabled, events, projects, environments };
  };
  const kind = before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
  return { type: `addon-config-${kind}`, data: withoutParameters(after), preData: withoutParameters(before) };
}
