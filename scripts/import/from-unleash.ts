import type { ApiTokens, ImportReport } from '@bunting/contracts';
import { type BatchSize, type Export, parseExport, type SendRequest, splitExport } from './import-batches.ts';
import { moveProjectSettings } from './project-settings.ts';
import type { Refusals } from './refusals.ts';

type Properties = Readonly<Record<string, unknown>>;

/** Things that features need, as the list of a server has them, and how a missing one is created. */
interface Catalogue {
  readonly what: string;
  readonly path: string;
  /** the member of the reply with the list; the reply itself is the list if left out */
  readonly member?: string;
  readonly key: 'id' | 'name';
  readonly properties: readonly string[];
}

/** In the order in which they need each other. */
const catalogues: readonly Catalogue[] = [
  {
    what: 'environment',
    path: '/api/admin/environments',
    member: 'environments',
    key: 'name',
    properties: ['type', 'enabled', 'sortOrder'],
  },
  {
    what: 'project',
    path: '/api/admin/projects',
    member: 'projects',
    key: 'id',
    properties: ['name', 'description', 'mode', 'environments', 'defaultStickiness'],
  },
  {
    what: 'tag type',
    path: '/api/admin/tag-types',
    member: 'tagTypes',
    key: 'name',
    properties: ['description', 'icon', 'color'],
  },
  {
    what: 'context field',
    path: '/api/admin/context',
    key: 'name',
    properties: ['description', 'stickiness', 'sortOrder', 'legalValues'],
  },
  {
    what: 'strategy type',
    path: '/api/admin/strategies',
    member: 'strategies',
    key: 'name',
    properties: ['title', 'description', 'parameters'],
  },
  {
    what: 'segment',
    path: '/api/admin/segments',
    member: 'segments',
    key: 'name',
    properties: ['description', 'project', 'constraints'],
  },
];

/** How many names a line has at most. */
const maxNamesLeft = 50;

interface Listed extends Properties {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly constraints?: readonly { readonly contextName: string }[];
}

async function listOf(server: SendRequest, { path, member }: Catalogue): Promise<readonly Listed[]> {
  const reply = await server<unknown>('GET', path);
  return (member === undefined ? reply : (reply as Properties)[member]) as readonly Listed[];
}

interface ProjectOverview {
  readonly defaultStickiness?: string;
  readonly environments: readonly { readonly environment: string }[];
}

function overviewOf(server: SendRequest, project: string): Promise<ProjectOverview> {
  return server<ProjectOverview>('GET', `/api/admin/projects/${encodeURIComponent(project)}/overview`);
}

/** A project as it is created: its list lacks its environments and its stickiness. */
async function completedProject(source: SendRequest, project: Listed): Promise<Listed> {
  const { environments, defaultStickiness } = await overviewOf(source, String(project.id));
  return { ...project, defaultStickiness, environments: environments.map(({ environment }) => environment) };
}

/** Names the features of a project that the target alone has: they may have been archived at the source since they were moved. */
async function nameFeaturesLeft(
  project: string,
  { source, target, log }: Pick<MoveOptions, 'source' | 'target' | 'log'>,
) {
  const path = `/api/admin/projects/${encodeURIComponent(project)}/features`;
  const namesOf = async (server: SendRequest): Promise<string[]> =>
    (await server<{ readonly features: readonly { readonly name: string }[] }>('GET', path)).features.map(
      ({ name }) => name,
    );
  const moved = new Set(await namesOf(source));
  const left = (await namesOf(target)).filter((name) => !moved.has(name));
  if (left.length === 0) return;
  const more = left.length > maxNamesLeft ? ` and ${left.length - maxNamesLeft} more` : '';
  log(`${project}: not in the Unleash, and left as they are: ${left.slice(0, maxNamesLeft).join(', ')}${more}`);
}

/** What a move does. */
export interface MoveOptions {
  readonly source: SendRequest;
  readonly target: SendRequest;
  /** takes what the target refuses */
  readonly refusals: Refusals;
  readonly size: BatchSize;
  /** Tells what was done. */
  readonly log: (line: string) => void;
  /** Imports the features of one project in one environment. */
  readonly importFeatures: (
    features: Export,
    into: { readonly project: string; readonly environment: string },
  ) => Promise<readonly ImportReport[]>;
}

/**
 * Moves everything that decides about flags from a server with Unleash's API: environments, projects with their environments, tag types,
 * context fields, strategy types and segments, each unless there is one of its name, and the features of every project in each of its
 * environments, and the settings of projects. What is equal already stays: after an interruption it is run again.
 * @returns a report of each import
 */
export async function moveFromUnleash({
  source,
  target,
  refusals,
  size,
  log,
  importFeatures,
}: MoveOptions): Promise<readonly ImportReport[]> {
  const fields = new Set<unknown>();
  /** Creates the context fields that constraints name and no list has: Unleash does not ask for them. */
  const createFieldsIn = async (owners: readonly Pick<Listed, 'constraints'>[]): Promise<void> => {
    const named = new Set(owners.flatMap(({ constraints = [] }) => constraints.map(({ contextName }) => contextName)));
    for (const name of named) {
      if (fields.has(name)) continue;
      fields.add(name);
      const create = () => target('POST', '/api/admin/context', { name });
      if (await refusals.collectFrom(`context field ${name}`, create))
        log(`context field ${name}: created, since constraints name it, although the Unleash does not list it`);
    }
  };
  const lists = new Map<string, readonly Listed[]>();
  for (const catalogue of catalogues) {
    const { what, path, key, properties } = catalogue;
    const listed = await listOf(source, catalogue);
    lists.set(what, listed);
    const existing = new Set((await listOf(target, catalogue)).map((item) => item[key]));
    const missing = listed.filter((item) => !existing.has(item[key]));
    if (what === 'context field')
      for (const name of [...existing, ...missing.map((item) => item.name)]) fields.add(name);
    if (what === 'segment') await createFieldsIn(missing);
    let created = 0;
    for (const item of missing) {
      const complete = what === 'project' ? await completedProject(source, item) : item;
      const given = [key, ...properties].filter((name) => complete[name] !== undefined && complete[name] !== null);
      const body = Object.fromEntries(given.map((name) => [name, complete[name]]));
      if (await refusals.collectFrom(`${what} ${item[key]}`, () => target('POST', path, body))) created++;
    }
    log(`${what}s: ${listed.length}, of which created: ${created}`);
  }
  const segments = (lists.get('segment') ?? []) as readonly { readonly id: number; readonly name: string }[];
  const reports: ImportReport[] = [];
  for (const { id } of lists.get('project') ?? []) {
    const project = String(id);
    const environments = (await overviewOf(source, project)).environments.map(({ environment }) => environment);
    for (const environment of environments) {
      await refusals.collectFrom(`${project} in ${environment}`, async () => {
        const existing = (await overviewOf(target, project)).environments;
        if (!existing.some((connected) => connected.environment === environment))
          await target('POST', `/api/admin/projects/${encodeURIComponent(project)}/environments`, { environment });
        const json = await source<unknown>('POST', '/api/admin/features-batch/export', { project, environment });
        const origin = `The export of ${project} in ${environment}`;
        const exported = parseExport(origin, json);
        await createFieldsIn(exported.featureStrategies);
        const features = splitExport(origin, exported, size, segments);
        reports.push(...(await importFeatures(features, { project, environment })));
        log(`${project} in ${environment}: ${features.features} features`);
      });
    }
    await nameFeaturesLeft(project, { source, target, log });
  }
  const projects = (lists.get('project') ?? []).map(({ id }) => String(id));
  await moveProjectSettings({ source, target, refusals, log }, projects, segments);
  return reports;
}

/** The tokens of SDKs that a first start can be given, and those that it cannot, with the reason. */
export interface MovedTokens {
  readonly client: readonly string[];
  readonly frontend: readonly string[];
  readonly left: readonly { readonly name: string; readonly reason: string }[];
}

/** Reads the tokens of SDKs of a server with Unleash's API, whose list has their secrets. */
export async function readSdkTokens(source: SendRequest): Promise<MovedTokens> {
  const { tokens } = await source<ApiTokens>('GET', '/api/admin/api-tokens');
  const client: string[] = [];
  const frontend: string[] = [];
  const left: { name: string; reason: string }[] = [];
  for (const { type, secret, tokenName, projects, expiresAt } of tokens) {
    if (type === 'admin') continue;
    const reason = !/^[^\s,:]+:[^\s,:.]+\.[^\s,.]+$/.test(secret)
      ? 'its secret is shortened, or of an older form'
      : secret.startsWith('[]')
        ? `it is for several projects (${projects.join(', ')})`
        : typeof expiresAt === 'string'
          ? `it expires at ${expiresAt}`
          : undefined;
    if (reason === undefined) (type === 'frontend' ? frontend : client).push(secret);
    else left.push({ name: tokenName, reason });
  }
  return { client, frontend, left };
}
