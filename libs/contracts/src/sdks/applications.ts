import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { ApplicationEnvironmentPath, DescribedApplicationPath } from '../paths.ts';
import { Nullable, Timestamp } from '../schemas.ts';

const defineOperation = operationsOf('Metrics');

function text(description: string) {
  return Nullable(Type.String(), { description });
}
const appName = Type.String({ description: 'the name of the application' });
const environmentName = Type.String({ description: 'the environment' });
const sdk = text('the SDK and its version');

const usage = Type.Array(
  Type.Object({
    project: Type.String({ description: 'the project, `*` for all' }),
    environments: Type.Array(Type.String()),
  }),
  { description: 'where it uses flags: the projects and environments of its keys' },
);

const descriptiveMembers = {
  description: text('its description'),
  url: text('where people find more about it'),
  color: text('the color in which it is shown'),
  icon: text('the icon with which it is shown'),
  createdBy: text('the name of the key that named it first, or of the user who created it'),
  createdAt: Timestamp('when it was first seen'),
  updatedAt: Nullable(Timestamp('the time of the last change of its description')),
  lastSeenAt: Timestamp('when it was last seen'),
};

export const Application = Type.Object(
  {
    appName,
    sdkVersion: sdk,
    strategies: Type.Array(Type.String(), { description: 'the strategy types that it can evaluate' }),
    ...descriptiveMembers,
    project: text('the first of the projects in `usage`, as earlier versions of the API had it'),
    environment: text('the first of its environments there'),
    usage,
    instances: Type.Optional(
      Type.Integer({ description: 'how many instances have reported in the last two days, in each environment' }),
    ),
    sdks: Type.Optional(
      Type.Array(
        Type.Object({
          sdkVersion: Type.String({ description: 'the SDK and its version' }),
          instances: Type.Integer({ description: 'how many of the instances have it' }),
          isOutdated: Type.Boolean({
            description: 'whether an instance of any application has a newer major version of the SDK',
          }),
        }),
        { description: 'the SDKs of these instances, that of the most instances first' },
      ),
    ),
  },
  { title: 'applicationSchema', description: 'An application that has registered or reported.' },
);
export type Application = Static<typeof Application>;

export const Applications = Type.Object(
  {
    applications: Type.Array(Application, { description: 'a page of the applications' }),
    total: Type.Integer({ description: 'the number on all pages' }),
  },
  { title: 'applicationsSchema', description: 'A page of the applications.' },
);

const instance = {
  instanceId: Type.String({ description: 'the id of the instance' }),
  sdkVersion: sdk,
  lastSeen: Timestamp('when it was last seen'),
};

const notFound = Type.Optional(Type.Boolean({ description: 'true if no application has this name' }));

/** An application with its description and its usage. */
export const ApplicationDetails = Type.Object(
  {
    appName,
    sdkVersion: sdk,
    ...descriptiveMembers,
    strategies: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name of the strategy type' }),
        description: Type.Optional(Nullable(Type.String())),
        deprecated: Type.Optional(Type.Boolean()),
        notFound,
      }),
      { description: 'the strategy types that it can evaluate' },
    ),
    instances: Type.Array(
      Type.Object({
        appName,
        ...instance,
        environment: environmentName,
        createdAt: Timestamp('when it was first seen'),
      }),
      { description: 'its instances of the last two days, the latest first; at most 1,000' },
    ),
    seenToggles: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name of the feature' }),
        project: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
        description: Type.Optional(Nullable(Type.String())),
        stale: Type.Optional(Type.Boolean()),
        notFound,
      }),
      {
        description: 'the features that it evaluated in the last two days, unknown ones included',
      },
    ),
    usage,
    links: Type.Object({ self: Type.String({ description: 'the path of the application' }) }),
  },
  {
    title: 'applicationDetailsSchema',
    description: 'An application with its instances and the features that it uses.',
  },
);

/** The projects and environments of an application, with its instances, SDKs and issues. */
export const ApplicationOverview = Type.Object(
  {
    projects: Type.Array(Type.String(), {
      description: 'the projects whose features it evaluated in the last two days',
    }),
    featureCount: Type.Integer({ description: 'the number of these features' }),
    environments: Type.Array(
      Type.Object({
        name: environmentName,
        instanceCount: Type.Integer({
          description: 'the number of its instances that reported in the environment in the last two days',
        }),
        sdks: Type.Array(Type.String(), { description: 'the SDKs of these instances' }),
        lastSeen: Nullable(Timestamp('when it last reported there'), {
          description: 'null: no report in the last two days',
        }),
        issues: Type.Object({
          missingFeatures: Type.Array(Type.String(), {
            description: 'unknown features that it evaluated',
          }),
          outdatedSdks: Type.Array(Type.String(), {
            description: 'those of its SDKs of which an instance here has a newer major version',
          }),
        }),
      }),
      { description: 'the environments of its keys' },
    ),
    issues: Type.Object({
      missingStrategies: Type.Array(Type.String(), {
        description: 'strategy types that it registered and that do not exist',
      }),
    }),
  },
  { title: 'applicationOverviewSchema', description: 'The usage of an application.' },
);
export type ApplicationOverview = Static<typeof ApplicationOverview>;

export const ApplicationInstances = Type.Object(
  {
    instances: Type.Array(Type.Object(instance), {
      description: 'the instances of the last two days, the latest first; at most 1,000',
    }),
  },
  {
    title: 'applicationEnvironmentInstancesSchema',
    description: 'The instances of an application in an environment.',
  },
);

/** The description of an application, as users write it. */
export const DescribeApplicationBody = Type.Object(
  {
    description: Type.Optional(Nullable(Type.String({ maxLength: 1_000, description: 'the description' }))),
    url: Type.Optional(Nullable(Type.String({ maxLength: 1_000, description: 'the address of further information' }))),
    color: Type.Optional(Nullable(Type.String({ maxLength: 255, description: 'the color in which it is shown' }))),
    icon: Type.Optional(Nullable(Type.String({ maxLength: 255, description: 'the icon with which it is shown' }))),
    sdkVersion: Type.Optional(Nullable(Type.String({ maxLength: 255, description: 'the SDK and its version' }))),
    strategies: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 200,
        description: 'the strategy types that it can evaluate',
      }),
    ),
  },
  { title: 'createApplicationSchema', description: 'The description of an application.' },
);

function paging(defaultLimit: number) {
  return {
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'the number of applications to skip; default: 0' }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: `the number of applications on a page; default: ${defaultLimit}`,
      }),
    ),
    sortOrder: Type.Optional(Type.Enum(['asc', 'desc'], { description: '`asc` or `desc`; default: asc' })),
  };
}

export const ApplicationsQuery = Type.Object({
  query: Type.Optional(Type.String({ maxLength: 255, description: 'text to find in the name of the application' })),
  sortBy: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'the property to sort by: `createdAt` or `lastSeenAt`; anything else sorts by appName, which is the default',
    }),
  ),
  ...paging(1_000),
});
export type ApplicationsQuery = Static<typeof ApplicationsQuery>;

export const ProjectApplicationsQuery = Type.Object({
  query: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'text to find in the name of the application, in its environments or in its SDKs',
    }),
  ),
  sortBy: Type.Optional(
    Type.String({ maxLength: 255, description: 'for clients that send one: applications are sorted by name' }),
  ),
  ...paging(50),
});
export type ProjectApplicationsQuery = Static<typeof ProjectApplicationsQuery>;

export const ProjectApplications = Type.Object(
  {
    applications: Type.Array(
      Type.Object(
        {
          name: appName,
          environments: Type.Array(Type.String(), { description: 'where it uses the project' }),
          instances: Type.Array(Type.String(), {
            description: 'its instances there in the last two days, the latest first; at most 100',
          }),
          sdks: Type.Array(
            Type.Object({
              name: Type.String({ description: 'the SDK' }),
              versions: Type.Array(Type.String(), { description: 'its versions that instances have' }),
            }),
            { description: 'the SDKs of these instances' },
          ),
        },
        { title: 'projectApplicationSchema' },
      ),
      { description: 'a page of the applications' },
    ),
    total: Type.Integer({ description: 'the number on all pages' }),
  },
  { title: 'projectApplicationsSchema', description: 'A page of the applications that use a project.' },
);

export const OutdatedSdks = Type.Object(
  {
    sdks: Type.Array(
      Type.Object({
        sdkVersion: Type.String({ description: 'the SDK and its version' }),
        applications: Type.Array(Type.String(), { description: 'the applications that use it' }),
      }),
      { description: 'the SDKs of which an instance here has a newer major version' },
    ),
  },
  { title: 'outdatedSdksSchema', description: 'SDKs that are outdated, and the applications that use them.' },
);

export const DeleteApplication = defineOperation({
  subject: 'call.features.delete-application',
  summary: 'Remove an application from the list',
  description: 'Removes the application with its instances. It is listed again when it reports again.',
  http: { method: 'DELETE', url: '/api/admin/metrics/applications/:appName', anyContentType: true },
  permission: 'UPDATE_APPLICATION',
});

/** Emits `application-created` the first time. */
export const DescribeApplication = defineOperation({
  subject: 'call.features.describe-application',
  operationId: 'createApplication',
  summary: 'Create or update an application',
  description: 'Creates the application, or updates its description. Omitted properties do not change.',
  http: { method: 'POST', url: '/api/admin/metrics/applications/:appName', status: 202 },
  permission: 'UPDATE_APPLICATION',
  params: DescribedApplicationPath,
  body: DescribeApplicationBody,
  errors: ['ValidationError', 'ExceedsLimitError'],
});

export const GetApplicationOverview = defineOperation({
  subject: 'call.features.get-application-overview',
  summary: 'Get the usage of an application',
  description:
    'Returns the projects and environments of an application, its instances and SDKs there, and their issues.',
  http: { method: 'GET', url: '/api/admin/metrics/applications/:appName/overview' },
  permission: 'authenticated',
  reply: ApplicationOverview,
});

export const GetApplication = defineOperation({
  subject: 'call.features.get-application',
  summary: 'Get an application',
  description: 'Returns one application, with its instances and the features that it uses.',
  http: { method: 'GET', url: '/api/admin/metrics/applications/:appName' },
  permission: 'authenticated',
  reply: ApplicationDetails,
});

export const ListApplicationInstances = defineOperation({
  subject: 'call.features.list-application-instances',
  operationId: 'getApplicationEnvironmentInstances',
  summary: 'List the instances of an application in an environment',
  description: 'Returns the instances that have reported in the last two days.',
  http: { method: 'GET', url: '/api/admin/metrics/instances/:appName/environment/:environment' },
  permission: 'authenticated',
  params: ApplicationEnvironmentPath,
  reply: ApplicationInstances,
});

export const ListApplications = defineOperation({
  subject: 'call.features.list-applications',
  operationId: 'getApplications',
  summary: 'List the applications',
  description: 'Returns a page of the applications that have registered or reported.',
  http: { method: 'GET', url: '/api/admin/metrics/applications' },
  permission: 'authenticated',
  query: ApplicationsQuery,
  reply: Applications,
  errors: ['ValidationError'],
});

export const ListOutdatedSdks = defineOperation({
  subject: 'call.features.list-outdated-sdks',
  operationId: 'getOutdatedProjectSdks',
  summary: 'List outdated SDKs of a project',
  description:
    'Returns the SDKs of applications that use the project, of which an instance here has a newer major version.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/sdks/outdated' },
  permission: 'authenticated',
  reply: OutdatedSdks,
});

export const ListProjectApplications = defineOperation({
  subject: 'call.features.list-project-applications',
  operationId: 'getProjectApplications',
  summary: 'List the applications that use a project',
  description:
    'Returns a page of the applications that have a key for the project, or evaluated a feature of it in the last two days.',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/applications' },
  permission: 'authenticated',
  query: ProjectApplicationsQuery,
  reply: ProjectApplications,
  errors: ['ValidationError', 'NotFoundError'],
});
