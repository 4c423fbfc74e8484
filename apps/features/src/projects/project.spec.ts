import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/builders.ts';
import { possibleReferencesIn } from './project-context-store.ts';
import {
  archiveProject,
  deleteProject,
  newProject,
  type NewProjectContext,
  normalizeNaming,
  proposedProjectId,
  type StoredProject,
  updateProject,
  updateProjectSettings,
} from './project.ts';

const shop: StoredProject = {
  id: 'shop',
  name: 'Shop',
  description: 'sells',
  mode: 'open',
  defaultStickiness: 'default',
  featureLimit: null,
  featureNaming: null,
} as const;

describe('a project', () => {
  it('keeps omitted properties, and emits nothing without a change', () => {
    expect(updateProject(shop, { name: 'Shop' })).toEqual({ project: shop, events: [] });
    const { project, events } = updateProject(shop, { name: ' Store ', mode: 'protected' });
    expect(project).toEqual({ ...shop, name: 'Store', mode: 'protected' });
    expect(events).toEqual([{ type: 'project-updated', project: 'shop', data: project, preData: shop }]);
    expect(refusalOf(() => updateProject(shop, { name: ' ' })).message).toContain('`/body/name`');
  });

  it.each([
    ['its settings', updateProjectSettings],
    ['its name', (project: StoredProject, settings: object) => updateProject(project, { name: 'Shop', ...settings })],
  ])('gets and loses its limit of features also with an update of %s', (_what, update) => {
    const { project } = update(shop, { featureLimit: 3 });
    expect(project).toEqual({ ...shop, featureLimit: 3 });
    expect(update(project, { mode: 'open' }).project).toEqual(project);
    expect(update(project, { featureLimit: null }).project).toEqual(shop);
  });
});

describe('a naming pattern', () => {
  it('is stored with its example, and removed by an empty pattern', () => {
    const naming = { pattern: '[a-z]+', example: 'abc', description: 'small letters' };
    expect(normalizeNaming(naming)).toEqual(naming);
    expect(normalizeNaming({ pattern: '', example: null })).toBeNull();
  });

  it.each([
    [{ pattern: '(?=a)b' }, 'pattern'],
    [{ pattern: '(a)\\1' }, 'pattern'],
    [{ pattern: '(' }, 'pattern'],
    [{ pattern: 'a b' }, 'pattern'],
    [{ pattern: 'a\\sb' }, 'pattern'],
    [{ pattern: '[a-z]+', example: 'A' }, 'example'],
    [{ pattern: null, example: 'a' }, 'example'],
    [{ pattern: null, description: 'a' }, 'description'],
  ])('%j is refused', (naming, member) => {
    const refusal = refusalOf(() => normalizeNaming(naming));
    expect(refusal.kind).toBe('PatternError');
    expect(refusal.details).toMatchObject([{ path: `/body/featureNaming/${member}` }]);
  });

  it('is matched in linear time', () => {
    expect(normalizeNaming({ pattern: '(a+)+', example: 'a'.repeat(100) })).not.toBeNull();
    expect(refusalOf(() => normalizeNaming({ pattern: '(a+)+', example: `${'a'.repeat(99)}!` })).kind).toBe(
      'PatternError',
    );
  });
});

describe('a project with active features', () => {
  const inUse = { project: shop, activeFeatures: 1 };

  it('can be neither archived nor deleted', () => {
    for (const action of [archiveProject, deleteProject]) {
      expect(refusalOf(() => action(inUse)).kind).toBe('InvalidOperationError');
    }
  });
});

it('a project without active features is archived or deleted with an event', () => {
  const unused = { project: shop, activeFeatures: 0 };
  expect(archiveProject(unused)).toEqual({ type: 'project-archived', project: 'shop' });
  expect(deleteProject(unused)).toEqual({ type: 'project-deleted', project: 'shop' });
});

it('the project default cannot be deleted', () => {
  const refused = refusalOf(() => deleteProject({ project: { ...shop, id: 'default' }, activeFeatures: 0 }));
  expect(refused.message).toBe('You can not delete the default project!');
});

const existing: NewProjectContext = {
  isTaken: false,
  isReserved: false,
  environments: [
    { name: 'development', type: 'development', sortOrder: 1, enabled: true },
    { name: 'retired', type: 'test', sortOrder: 2, enabled: false },
  ],
};

describe('the id of a new project', () => {
  it.each([
    [{ name: 'Ünder the Sea!' }, 'under-the-sea'],
    [{ name: ' Web_shop - Oslo ' }, 'web-shop-oslo'],
    [{ name: '日本' }, 'project'],
    [{ name: 'Shop', id: '  ' }, 'shop'],
  ])('is made from the name of %j', (body, id) => {
    expect(proposedProjectId(body)).toEqual({ id, isRequested: false });
  });

  it('can be requested, and must then need no escape in a URL', () => {
    expect(proposedProjectId({ name: 'Shop', id: ' web ' })).toEqual({ id: 'web', isRequested: true });
    expect(refusalOf(() => proposedProjectId({ name: 'Shop', id: 'a b' })).message).toContain('`/body/id`');
  });

  it('that is made from the name gets a suffix if another project has or had it', () => {
    const proposed = proposedProjectId({ name: 'Shop' });
    const idOf = (context: NewProjectContext) => newProject({ name: 'Shop' }, proposed, context, 'c0ffee').project.id;
    expect(idOf(existing)).toBe('shop');
    expect(idOf({ ...existing, isTaken: true })).toBe('shop-c0ffee');
    expect(idOf({ ...existing, isReserved: true })).toBe('shop-c0ffee');
  });

  it('that is requested and taken is refused', () => {
    const body = { name: 'Shop', id: 'shop' };
    const refused = refusalOf(() =>
      newProject(body, proposedProjectId(body), { ...existing, isTaken: true }, 'c0ffee'),
    );
    expect(refused.kind).toBe('NameExistsError');
  });
});

describe('a new project', () => {
  const created = (body: Parameters<typeof newProject>[0]) =>
    newProject(body, proposedProjectId(body), existing, '').project;

  it('has defaults, and every enabled environment', () => {
    expect(created({ name: ' Shop ' })).toEqual({
      id: 'shop',
      name: 'Shop',
      description: null,
      mode: 'open',
      defaultStickiness: 'default',
      environments: ['development'],
      featureLimit: null,
    });
  });

  it('has the requested environments, enabled or not', () => {
    expect(created({ name: 'Shop', environments: ['retired'] }).environments).toEqual(['retired']);
    expect(created({ name: 'Shop', environments: [] }).environments).toEqual([]);
    expect(refusalOf(() => created({ name: 'Shop', environments: ['moon'] })).message).toContain(
      '`/body/environments/0`',
    );
  });

  it('is emitted with all of its properties', () => {
    const body = { name: 'Shop' };
    const { project, events } = newProject(body, proposedProjectId(body), existing, '');
    expect(events).toEqual([{ type: 'project-created', project: 'shop', data: project }]);
  });

  it('needs a name', () => {
    expect(refusalOf(() => created({ name: ' ' })).message).toContain('`/body/name`');
  });
});

it('collects all texts and integers of a request, at any depth and without duplicates', () => {
  const request = [
    { op: 'add', path: '/segments/-', value: 7 },
    { value: { constraints: [{ contextName: 'userId' }] } },
    7,
  ];
  expect(new Set(possibleReferencesIn(request).texts)).toEqual(new Set(['add', '/segments/-', 'userId']));
  expect(possibleReferencesIn(request).numbers).toEqual([7]);
});

it('leaves out texts and numbers that cannot be names or ids', () => {
  expect(possibleReferencesIn(['x'.repeat(256), 1.5, 2 ** 31, -(2 ** 40), null, true])).toEqual({
    texts: [],
    numbers: [],
  });
});

it('collects references from long and deeply nested requests', () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(possibleReferencesIn([Array.from({ length: 500_000 }, () => 1), deep])).toEqual({
    texts: ['bottom'],
    numbers: [1],
  });
});
