import {
  AddDependency,
  AddStrategy,
  CloneFeature,
  CreateProject,
  CreateSegment,
  DeleteSegment,
  MoveFeature,
  UpdateSegment,
  ApplyChanges,
  ArchiveFeature,
  type Caller,
  type Change,
  EnableFeature,
  ImportFeatures,
  PatchStrategy,
  PreviewChanges,
  RemoveFeatureTag,
  ReviveFeature,
  SetProtection,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

const id = '8c0f4d2e-0000-4000-8000-00000000000a';
const project = 'default';
const message = `You don't have the required permissions to perform this operation. To perform this action, you need the "SKIP_CHANGE_REQUEST" permission.`;
const refused = { kind: 'NoAccessError', message, permissions: ['SKIP_CHANGE_REQUEST'] };

const edits: Caller['grants'] = [
  { permission: 'UPDATE_FEATURE_STRATEGY' },
  { permission: 'CREATE_FEATURE_STRATEGY' },
  { permission: 'UPDATE_FEATURE_ENVIRONMENT' },
  { permission: 'UPDATE_FEATURE' },
  { permission: 'DELETE_FEATURE' },
];
const editor = callerWith(...edits);
const skipper = callerWith(...edits, { permission: 'SKIP_CHANGE_REQUEST', project, environment: 'development' });

let service: StartedFeatures;
const protect = (isProtected: boolean, version: number, environment = 'development') =>
  service.call(SetProtection, { body: { project, environment, isProtected, version } });
beforeAll(async () => {
  service = await startFeatures();
  await service.given(
    ...['x', 'y', 'z'].map((name, nth) =>
      aFeature({
        name,
        project,
        strategies: nth === 0 ? [aStrategy({ id })] : [],
        tags: [{ type: 'simple', value: 'tag' }],
      }),
    ),
  );
  await protect(true, 5);
});
afterAll(() => service.stop());

const at = (featureName: string, environment = 'development') => ({ projectId: project, featureName, environment });
let title = 0;
const patch = (caller: Caller) => {
  const body = [{ op: 'replace' as const, path: '/title', value: `title ${++title}` }];
  return service.call(PatchStrategy, { params: { ...at('x'), strategyId: id }, body }, caller);
};
const add = (caller: Caller, environment?: string) =>
  service.call(AddStrategy, { params: at('x', environment), body: { name: 'default' } }, caller);
const archive = (caller: Caller, featureName: string) =>
  service.call(ArchiveFeature, { params: { projectId: project, featureName } }, caller);

describe('a protected environment', () => {
  it('refuses every direct edit to callers who may edit', async () => {
    const emitted = await service.emittedEvents();
    await expect(patch(editor)).rejects.toMatchObject(refused);
    await expect(add(editor)).rejects.toMatchObject(refused);
    await expect(service.call(EnableFeature, { params: at('y'), query: {} }, editor)).rejects.toMatchObject(refused);
    await expect(archive(editor, 'y')).rejects.toMatchObject(refused);
    expect(await service.emittedEvents()).toEqual(emitted);
  });

  it('allows direct edits with SKIP_CHANGE_REQUEST, and to administrators', async () => {
    await patch(skipper);
    await add(mia);
    await archive(skipper, 'z');
  });

  it('marks the event of an edit that bypasses a change request', async () => {
    const before = (await service.emittedEvents()).length;
    await patch(skipper);
    await patch(mia);
    await add(mia, 'production');
    const marks = (await service.emittedEvents())
      .slice(before)
      .map(({ type, environment, data }) => [
        type,
        environment,
        (data as { bypassedChangeRequest?: true }).bypassedChangeRequest,
      ]);
    expect(marks).toEqual([
      ['feature-strategy-update', 'development', true],
      ['feature-strategy-update', 'development', true],
      ['feature-strategy-add', 'production', undefined],
    ]);
  });

  it('refuses edits of the segments of the project, and of global segments where they are used', async () => {
    const everyone = callerWith(
      ...(['CREATE_SEGMENT', 'UPDATE_SEGMENT', 'DELETE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'] as const).map(
        (permission) => ({ permission }),
      ),
    );
    const skipping = callerWith(...everyone.grants, {
      permission: 'SKIP_CHANGE_REQUEST',
      project,
      environment: 'development',
    });
    const make = (name: string, of?: string) =>
      service.call(
        CreateSegment,
        { body: { name, constraints: [], ...(of === undefined ? {} : { project: of }) } },
        mia,
      );
    const edit = (of: number, body: object, caller: Caller) =>
      service.call(UpdateSegment, { params: { id: of }, body: { name: 'renamed', constraints: [], ...body } }, caller);
    const remove = (of: number, caller: Caller) => service.call(DeleteSegment, { params: { id: of } }, caller);
    const ours = await make('ours', project);
    const global = await make('for all');
    await expect(edit(ours.id, { project }, everyone)).rejects.toMatchObject(refused);
    // Omitting the project would move the segment out of the protected project.
    await expect(edit(ours.id, {}, everyone)).rejects.toMatchObject(refused);
    await expect(edit(global.id, { project }, everyone)).rejects.toMatchObject(refused);
    await expect(remove(ours.id, everyone)).rejects.toMatchObject(refused);
    // Nothing uses the global segment yet, then a feature in an unprotected environment does, and then one that is archived.
    await edit(global.id, { name: 'for all of us' }, everyone);
    const uses = (name: string, environment: string, about = {}) =>
      aFeature({
        name,
        project,
        environments: {
          [environment]: { enabled: false, variants: [], strategies: [aStrategy({ id: name, segments: [global.id] })] },
        },
        ...about,
      });
    await service.given(
      uses('11111111-0000-4000-8000-000000000000', 'production'),
      uses('22222222-0000-4000-8000-000000000000', 'development', { archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    await edit(global.id, { name: 'for some of us' }, everyone);
    const unused = await make('unused');
    await remove(unused.id, everyone);
    await service.given(uses('33333333-0000-4000-8000-000000000000', 'development'));
    await expect(edit(global.id, { name: 'for nobody' }, everyone)).rejects.toMatchObject(refused);
    await edit(global.id, { name: 'for all' }, skipping);
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'segment-updated',
      data: { name: 'for all', bypassedChangeRequest: true },
    });
    await edit(ours.id, { project }, mia);
    await remove(ours.id, mia);
    expect((await service.emittedEvents()).slice(-2)).toMatchObject([
      { type: 'segment-updated', data: { name: 'renamed', bypassedChangeRequest: true } },
      { type: 'segment-deleted', data: { bypassedChangeRequest: true }, preData: { name: 'renamed' } },
    ]);
  });

  it('refuses that a feature with strategies is cloned or moved into its project', async () => {
    const caller = callerWith({ permission: 'CREATE_FEATURE' }, { permission: 'MOVE_FEATURE_TOGGLE' });
    const params = { projectId: project, featureName: 'x' };
    await expect(service.call(CloneFeature, { params, body: { name: 'clone' } }, caller)).rejects.toMatchObject({
      kind: 'ForbiddenError',
      message: 'Cloning not allowed. Project default has change requests enabled.',
    });
    await service.call(CreateProject, { body: { id: 'elsewhere', name: 'Elsewhere' } }, mia);
    await service.given(aFeature({ name: 'mover', project: 'elsewhere' }));
    const move = { params: { projectId: 'elsewhere', featureName: 'mover' }, body: { newProjectId: project } };
    await expect(service.call(MoveFeature, move, caller)).rejects.toMatchObject({
      kind: 'ForbiddenError',
      message: 'Changing project not allowed. Project default has change requests enabled.',
    });
    await service.call(CloneFeature, { params, body: { name: 'clone' } }, mia);
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      featureName: 'clone',
      data: { bypassedChangeRequest: true },
    });
  });

  it('turns the edits of an import into proposals, for existing and new features', async () => {
    const everything = callerWith(
      ...(['CREATE_FEATURE', 'UPDATE_FEATURE', 'CREATE_FEATURE_STRATEGY', 'UPDATE_FEATURE_ENVIRONMENT'] as const).map(
        (permission) => ({ permission }),
      ),
    );
    const imported = (name: string, strategies: readonly string[], caller: Caller) =>
      service.call(
        ImportFeatures,
        {
          body: {
            project,
            environment: 'development',
            data: {
              tagTypes: [],
              features: [{ name }],
              featureStrategies: strategies.map((of) => ({ name: of, featureName: name })),
            },
          },
        },
        caller,
      );
    const proposed = { changeRequest: { environment: 'development', changes: 1 } };
    expect(await imported('not-yet', ['default'], everything)).toMatchObject({ created: 1, ...proposed });
    expect(await imported('y', ['default'], everything)).toMatchObject(proposed);
    for (const name of ['not-yet', 'y']) {
      const { environments = [] } = await service.get(name, mia, project);
      expect(environments.find((it) => it.name === 'development')).toMatchObject({ strategies: [] });
    }
    // An edit outside of environments is not protected.
    expect(await imported('only-a-name', [], everything)).toMatchObject({ created: 1 });
    expect(await imported('brand-new', ['default'], mia)).toMatchObject({ created: 1 });
    const emitted = (await service.emittedEvents()).filter(({ featureName }) => featureName === 'brand-new');
    expect(emitted.find(({ type }) => type === 'feature-strategy-add')).toMatchObject({
      data: { bypassedChangeRequest: true },
    });
  });

  it('refuses edits of the dependencies of features in its project', async () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE_DEPENDENCY' });
    const body = { feature: 'y' };
    const request = service.call(AddDependency, { params: { projectId: project, featureName: 'x' }, body }, caller);
    await expect(request).rejects.toMatchObject(refused);
  });

  it('refuses edits of what an archived feature comes back with, and lets it be revived', async () => {
    const archivedAt = '2026-01-02T00:00:00.000Z';
    await service.given(aFeature({ name: 'gone', project, archivedAt, enabled: true, strategies: [aStrategy()] }));
    const strategy = { params: at('gone'), body: { name: 'default' } };
    await expect(service.call(AddStrategy, strategy, editor)).rejects.toMatchObject(refused);
    const caller = callerWith({ permission: 'UPDATE_FEATURE_DEPENDENCY' });
    const parent = { params: { projectId: project, featureName: 'gone' }, body: { feature: 'y' } };
    await expect(service.call(AddDependency, parent, caller)).rejects.toMatchObject(refused);
    await service.call(AddStrategy, strategy, skipper);
    await service.call(ReviveFeature, { params: { featureName: 'gone' } }, editor);
    expect(await service.get('gone', mia, project)).toMatchObject({ archived: false });
  });

  it('allows edits that protection does not cover', async () => {
    await add(editor, 'production');
    const params = { featureName: 'x', type: 'simple', value: 'tag' };
    await service.call(RemoveFeatureTag, { params }, editor);
  });

  it('allows the application of an approved change request', async () => {
    const change = { action: 'updateStrategy', feature: 'x', payload: { id, title: 'agreed' } } as Change;
    const body = { changeRequestId: 1, attempt: 1, project, environment: 'development', refuseOverwrites: false };
    const changes = [{ id: 1, change, snapshot: null }];
    expect(await service.call(ApplyChanges, { body: { ...body, changes } }, editor)).toMatchObject({
      outcome: 'applied',
    });
  });

  it('refuses a change request that reaches it from another environment without its approvals', async () => {
    const changes = [{ id: 1, change: { action: 'archiveFeature', feature: 'y' } as Change, snapshot: null }];
    const apply = (changeRequestId: number, environment: string, authorised?: readonly string[]) =>
      service.call(
        ApplyChanges,
        {
          body: {
            changeRequestId,
            attempt: 1,
            project,
            environment,
            refuseOverwrites: false,
            changes,
            ...(authorised === undefined ? {} : { authorisedEnvironments: [...authorised] }),
          },
        },
        editor,
      );
    const conflicts = [{ code: 'approvals-missing', message: expect.stringContaining('environment development') }];
    expect(await apply(2, 'production')).toMatchObject({ outcome: 'conflict', conflicts });
    expect(await apply(3, 'development', [])).toMatchObject({ outcome: 'conflict', conflicts });
    expect(await service.get('y', mia, project)).toMatchObject({ archived: false });
    expect(await apply(4, 'production', ['development'])).toMatchObject({ outcome: 'applied' });
    const { data } = (await service.emittedEvents()).findLast(({ type }) => type === 'feature-archived') ?? {};
    expect(data).toEqual({ changeRequestId: 4 });
  });

  it('refuses a change request whose segment is edited at the same time, after its approval', async () => {
    const body = { name: 'everybody-else', constraints: [], project: null };
    const { id: segment } = await service.call(CreateSegment, { body }, mia);
    const payload = { name: 'default', constraints: [], parameters: {}, segments: [segment] };
    const changes = [{ id: 1, change: { action: 'addStrategy', feature: 'x', payload } as Change, snapshot: null }];
    const request = { environment: 'production', changes };
    const previewed = await service.call(PreviewChanges, { body: { project, withStates: false, requests: [request] } });
    const approvedBases = [previewed.previews[0]!.preview.basis!];
    const session = await service.database.session();
    await session.query('begin');
    await session.query("update segment set constraints = '[null]' where id = $1", [segment]);
    const attempt = { changeRequestId: 5, attempt: 1, project, ...request, refuseOverwrites: false, approvedBases };
    const applying = service.call(ApplyChanges, { body: attempt }, editor);
    await eventually(async () =>
      expect(
        await service.database.read({
          text: "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for share%'",
        }),
      ).toHaveLength(1),
    );
    await session.query('commit');
    session.release();
    expect(await applying).toMatchObject({ outcome: 'conflict', conflicts: [{ code: 'approvals-missing' }] });
  });

  it('refuses edits until its protection ends, whatever outdated versions of the protection say', async () => {
    await protect(false, 4);
    await expect(patch(editor)).rejects.toMatchObject(refused);
    await protect(false, 6);
    await patch(editor);
    await protect(true, 5);
    await patch(editor);
  });
});
