import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/refusal-of.ts';
import { newProject, type NewProjectContext, proposedProjectId } from './project.ts';

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
