import { beforeAll, expect, it } from 'vitest';
import {
  type AnyOperation,
  CreateEnvironment,
  CreateProject,
  CreateSegment,
  CreateTagType,
  GetEnvironment,
  GetFeature,
  GetDeprecatedProjectOverview,
  GetProjectHealth,
  GetProjectOverview,
  GetSegment,
  GetTagType,
  ListEnvironments,
  ListEnvironmentsOfProject,
  ListFeatures,
  ListProjects,
  ListSegments,
  ListTagTypes,
  UpdateEnvironment,
} from '@bunting/contracts';
import type { CallRequest } from '@bunting/bus';
import { useFeatures } from './started-features.ts';

const params = { projectId: 'shop' };

const features = useFeatures();
beforeAll(async () => {
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
  await features.call(CreateTagType, { body: { name: 'team' } });
  await features.call(CreateSegment, { body: { name: 'beta', constraints: [] } });
  await features.create('lamp');
});

/** The paths of all members in a reply. */
const pathsOf = (value: unknown, path = ''): string[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [
        path,
        ...Object.entries(value).flatMap(([key, inner]) =>
          pathsOf(inner, `${path}.${Array.isArray(value) ? '*' : key}`),
        ),
      ];
const membersOf = async <O extends AnyOperation>(operation: O, request: CallRequest<O> = {}) =>
  pathsOf(await features.call(operation, request));

it('omits members that a project does not have', async () => {
  const body = { id: 'bare', name: 'Bare' };
  expect(await membersOf(CreateProject, { body })).not.toContain('.description');
  expect(await membersOf(ListProjects)).toContain('.projects.*.archivedAt');
  const { projects } = await features.call(ListProjects, {});
  expect(projects.find(({ id }) => id === 'bare')).not.toHaveProperty('description');
  for (const operation of [GetDeprecatedProjectOverview, GetProjectHealth, GetProjectOverview]) {
    const members = await membersOf(operation, { params });
    for (const absent of ['.description', '.archivedAt', '.environments.*.defaultStrategy']) {
      expect(members).not.toContain(absent);
    }
    expect(await features.call(operation, { params })).toMatchObject({ updatedAt: expect.any(String) });
  }
});

it('omits required approvals and default strategies that are not set', async () => {
  const body = { name: 'staging', type: 'test' };
  expect(await membersOf(CreateEnvironment, { body })).not.toContain('.requiredApprovals');
  const at = { params: { name: 'staging' } };
  expect(await membersOf(UpdateEnvironment, { ...at, body: { sortOrder: 9 } })).not.toContain('.requiredApprovals');
  expect(await membersOf(GetEnvironment, at)).not.toContain('.requiredApprovals');
  expect(await membersOf(ListEnvironments)).not.toContain('.environments.*.requiredApprovals');
  const ofProject = await membersOf(ListEnvironmentsOfProject, { params });
  for (const absent of ['requiredApprovals', 'defaultStrategy']) {
    expect(ofProject).not.toContain(`.environments.*.${absent}`);
  }
  await features.call(UpdateEnvironment, { ...at, body: { requiredApprovals: 2 } });
  expect(await features.call(GetEnvironment, at)).toMatchObject({ requiredApprovals: 2 });
});

it('omits the project of a global segment, and the colour of a tag type without one', async () => {
  expect(await membersOf(CreateSegment, { body: { name: 'staff', constraints: [] } })).not.toContain('.project');
  const { segments } = await features.call(ListSegments, {});
  expect(segments.map((segment) => 'project' in segment)).toEqual([false, false]);
  const id = segments[0]?.id ?? 0;
  expect(await features.call(GetSegment, { params: { id } })).toMatchObject({ description: null });
  expect(await membersOf(GetSegment, { params: { id } })).not.toContain('.project');
  const own = { name: 'own', project: 'shop', constraints: [] };
  expect(await features.call(CreateSegment, { body: own })).toMatchObject({ project: 'shop' });

  expect(await features.call(CreateTagType, { body: { name: 'area' } })).toEqual({ name: 'area' });
  expect(await membersOf(ListTagTypes)).not.toContain('.tagTypes.*.color');
  const { tagType } = await features.call(GetTagType, { params: { name: 'area' } });
  expect(tagType).toEqual({ name: 'area', description: null, icon: null });
});

it('omits archivedAt in the list of active features, and has it in a single one', async () => {
  const at = { params: { projectId: 'default', featureName: 'lamp' } };
  expect(await features.call(GetFeature, at)).toMatchObject({ archivedAt: null });
  expect(await membersOf(ListFeatures, { params: { projectId: 'default' } })).not.toContain('.features.*.archivedAt');
});
