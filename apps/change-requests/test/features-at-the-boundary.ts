import { type Bus, endpoints, implement, serve, type Subscription } from '@bunting/bus';
import {
  type Change,
  CheckChanges,
  type CheckedChange,
  GetProjectEnvironments,
  invalid,
  isSegmentChange,
  notFound,
} from '@bunting/contracts';

const environmentsOf: Readonly<Record<string, readonly string[]>> = {
  shop: ['production', 'development', 'staging'],
  garage: ['production'],
};
const projectOf: Readonly<Record<string, string>> = { checkout: 'shop', banner: 'shop', engine: 'garage' };
const strategies = [
  { id: 'in-production', feature: 'checkout', environment: 'production' },
  { id: 'in-development', feature: 'checkout', environment: 'development' },
];
const segments = [
  { id: 4, name: 'beta users', project: 'shop' },
  { id: 5, name: 'mechanics', project: 'garage' },
];

const environmentsOfProject = (project: string): readonly string[] => {
  const environments = environmentsOf[project];
  if (environments === undefined) throw notFound(`Could not find project with id ${project}`);
  return environments;
};

interface Asked {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly Change[];
  readonly earlier: readonly Change[];
}

const checked = (change: Change, { project, environment }: Asked): CheckedChange => {
  const { action, payload } = change;
  if (isSegmentChange(change)) {
    const segment = segments.find(({ id }) => id === change.payload.id);
    if (segment === undefined) throw notFound(`Could not find segment with id ${change.payload.id}`);
    if (segment.project !== project) {
      throw invalid(`The \`payload/id\` property names a segment of another project: ${segment.id}.`);
    }
    const { id, name } = segment;
    return { action, feature: null, segment: { id, name }, payload, snapshot: { id, name, constraints: [] } };
  }
  const { feature } = change;
  if (projectOf[feature] !== project) throw notFound(`Could not find feature ${feature} in project ${project}`);
  const named = action === 'updateStrategy' || action === 'deleteStrategy' ? change.payload.id : undefined;
  const strategy = strategies.find(
    (known) => known.id === named && known.feature === feature && known.environment === environment,
  );
  if (named !== undefined && strategy === undefined) throw notFound(`Could not find strategy with id ${named}`);
  const snapshot = strategy === undefined ? null : { id: strategy.id, name: 'default', title: 'as it was' };
  return { action, feature, segment: null, payload, snapshot };
};

export interface FeaturesAtTheBoundary {
  /** what CheckChanges was asked, oldest first */
  readonly asked: readonly Asked[];
  /** Done once, while the next CheckChanges is answered. */
  meanwhile(job: () => Promise<unknown>): void;
  link(project: string, environments: readonly string[]): void;
  forget(): void;
  stop(): Promise<void>;
}

/**
 * Answers the two calls that change requests make of the features service, about two small projects. What changes mean is
 * tested where the features service itself answers: at the platform's front door.
 */
export const featuresAtTheBoundary = async (bus: Bus): Promise<FeaturesAtTheBoundary> => {
  const asked: Asked[] = [];
  const jobs: (() => Promise<unknown>)[] = [];
  const linked = new Map<string, readonly string[]>();
  const environmentsNow = (project: string) => linked.get(project) ?? environmentsOfProject(project);

  const served: Subscription = await serve(
    bus,
    endpoints(
      implement(CheckChanges, async ({ body }) => {
        asked.push(body);
        await jobs.shift()?.();
        if (!environmentsNow(body.project).includes(body.environment)) {
          throw notFound(`Could not find environment ${body.environment} for project ${body.project}`);
        }
        return { changes: body.changes.map((change) => checked(change, body)) };
      }),
      implement(GetProjectEnvironments, async ({ params }) => ({
        environments: environmentsNow(params.projectId).map((name, sortOrder) => ({
          name,
          type: name,
          sortOrder,
          enabled: true,
        })),
      })),
    ),
    { checkReplies: true },
  );
  return {
    asked,
    meanwhile: (job) => void jobs.push(job),
    link: (project, environments) => void linked.set(project, environments),
    forget: () => {
      asked.length = 0;
      linked.clear();
    },
    stop: () => served.stop(),
  };
};
