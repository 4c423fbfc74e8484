import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Count, Nullable, Percent, Timestamp } from '../schemas.ts';
import { OnboardingStatus, ProjectOwner } from './overview.ts';

/**
 * The projects of the caller, the features that the caller created or marked as favourites, the owners of projects, and the
 * administrators.
 */
export const PersonalDashboard = Type.Object(
  {
    projects: Type.Array(
      Type.Object({
        id: Type.String({ description: 'the id of the project' }),
        name: Type.String({ description: 'its name' }),
        health: Percent('the share of its features that are not stale, in percent'),
        memberCount: Count('the number of its members'),
        featureCount: Count('the number of its features that are not archived'),
      }),
      { description: 'the projects in which the caller has a permission; all for an administrator' },
    ),
    flags: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the name of the feature' }),
        type: Type.String({ description: 'its type' }),
        project: Type.String({ description: 'its project' }),
      }),
      {
        description: 'at most 100 features that the caller created or that are favourites of the caller, newest first',
      },
    ),
    projectOwners: Type.Array(
      Type.Object({
        ownerType: Type.Enum(['user'], { type: 'string', description: '`user`' }),
        name: Type.String({ description: 'the name of the user' }),
        imageUrl: Type.Optional(Type.String({ description: 'a picture of the user' })),
        email: Type.Optional(Nullable(Type.String(), { description: 'the e-mail address of the user' })),
      }),
      { description: 'the owners of the projects that the caller may see, by name' },
    ),
    admins: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the user' }),
        name: Type.Optional(Type.String({ description: 'the name of the user' })),
        username: Type.Optional(Type.String({ description: 'the user name' })),
        email: Type.Optional(Type.String({ description: 'the e-mail address of the user' })),
        imageUrl: Type.Optional(Type.String({ description: 'a picture of the user' })),
      }),
      { description: 'the administrators, by name' },
    ),
  },
  { title: 'personalDashboardSchema', description: 'The dashboard of the caller.' },
);
export type PersonalDashboard = Static<typeof PersonalDashboard>;

const unknownHealth = Nullable(Percent('the average share of features that were not stale'), {
  description: 'null: Bunting does not keep earlier figures',
});

export const PersonalDashboardProject = Type.Object(
  {
    insights: Type.Object({
      avgHealthCurrentWindow: unknownHealth,
      avgHealthPastWindow: unknownHealth,
      totalFlags: Count('the number of features that are not archived'),
      activeFlags: Count('the number of those that are neither stale nor potentially stale'),
      staleFlags: Count('the number of those that are stale'),
      potentiallyStaleFlags: Count('the number of those that are not stale, but older than the lifetime of their type'),
      health: Percent('the share of features that are not stale, in percent'),
    }),
    onboardingStatus: OnboardingStatus,
    latestEvents: Type.Array(
      Type.Object({
        id: Type.Integer({ minimum: 1, description: 'the id of the event' }),
        summary: Nullable(Type.String(), { description: 'the summary of the event, in Markdown' }),
        createdBy: Type.String({ description: 'the user or token that caused it' }),
        createdByImageUrl: Type.String({ description: 'the picture of the user who caused it' }),
        createdAt: Timestamp('when it happened'),
      }),
      { description: 'the ten newest events of the project, newest first' },
    ),
    owners: Type.Array(ProjectOwner, { description: 'the owners: users, then groups, by name' }),
    roles: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the role' }),
        name: Type.String({ description: 'the name of the role' }),
        type: Type.Enum(['custom', 'project'], { type: 'string', description: 'the type of the role' }),
      }),
      { description: 'the roles of the caller in the project' },
    ),
  },
  { title: 'personalDashboardProjectDetailsSchema', description: 'One project of the dashboard of the caller.' },
);
export type PersonalDashboardProject = Static<typeof PersonalDashboardProject>;

export const GetPersonalDashboardProject = defineOperation({
  subject: 'call.features.get-personal-dashboard-project',
  operationId: 'getPersonalDashboardProjectDetails',
  summary: 'Get the dashboard of a project for the caller',
  description: 'Returns figures of a project, its newest events and the roles of the caller in it.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/personal-dashboard/:projectId' },
  permission: 'authenticated',
  reply: PersonalDashboardProject,
});

export const GetPersonalDashboard = defineOperation({
  subject: 'call.features.get-personal-dashboard',
  summary: 'Get the dashboard of the caller',
  description: 'Returns the projects and features of the caller, the owners of projects and the administrators.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/personal-dashboard' },
  permission: 'authenticated',
  reply: PersonalDashboard,
});
