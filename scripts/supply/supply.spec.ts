import { afterAll, describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { lockFileFaults, type LockFile, readLockFile, type Bom } from './bill-of-materials.ts';

const repository = path.join(import.meta.dirname, '..', '..');
const lock = readLockFile(repository);
function read(file: string): string {
  return readFileSync(path.join(repository, file), 'utf8');
}

describe('the lock file', () => {
  it('pins every package to one version and one checksum, and names no server', () => {
    expect(lockFileFaults(lock)).toEqual([]);
    expect(Object.keys(lock.packages).length).toBeGreaterThan(300);
  });

  it.each<[string, Partial<LockFile['packages'][string]>, string]>([
    ['without a checksum', { integrity: undefined as never }, 'has no checksum'],
    ['with a weak checksum', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'has no checksum'],
    ['from a server of its own', { resolved: 'https://example.org/fastify.tgz' }, 'names where it is fetched from'],
    ['from a repository', { version: 'git+ssh://git@example.org/fastify.git#main' }, 'is of no one version'],
  ])('is reported as unsound with a package %s', (_what, change, fault) => {
    const name = 'node_modules/fastify';
    const changed = { ...lock, packages: { ...lock.packages, [name]: { ...lock.packages[name], ...change } } };
    expect(lockFileFaults(changed)).toEqual([`${name} ${fault}.`]);
  });

  it.each(['^5.0.0', '~5.0.0', '*', 'latest', 'github:fastify/fastify', 'https://example.org/fastify.tgz'])(
    'is reported as unsound when a workspace package requires %s',
    (range) => {
      const gateway = { ...lock.packages['apps/gateway'], dependencies: { fastify: range } };
      const faults = lockFileFaults({ ...lock, packages: { ...lock.packages, 'apps/gateway': gateway } });
      expect(faults).toEqual([`apps/gateway asks for fastify ${range}, not for one version.`]);
    },
  );
});

/** Whether a range of versions, as packages write those of Node, has a version `major.minor`. */
function accepts(range: string, [major, minor]: readonly [number, number]): boolean {
  return range.split('||').some((alternative) =>
    [...alternative.matchAll(/(>=|>|<=|<|\^|~)?\s*v?(\d+|\*|x)(?:\.(\d+|\*|x))?[\w.*-]*/g)].every(
      ([, operator = '', one = '', two]) => {
        if (!/^\d/.test(one)) return true;
        const from = Number(one) * 1_000 + (Number(two) || 0);
        const wanted = major * 1_000 + minor;
        if (operator.startsWith('<')) return wanted < from;
        return wanted >= from && (operator.startsWith('>') || major === Number(one));
      },
    ),
  );
}

describe('an installation', () => {
  it('is one of packages that all accept the oldest Node that is asked for, so that npm warns of none', () => {
    const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(lock.packages['']?.engines?.node ?? '') ?? [];
    const oldest = [Number(major), Number(minor)] as const;
    const refusing = Object.entries(lock.packages).filter(([, { engines }]) => !accepts(engines?.node ?? '*', oldest));
    expect(refusing.map(([at, { engines }]) => `${at} wants ${engines?.node}`)).toEqual([]);
    expect(accepts('^20.19.0 || >=22.12.0', [20, 18])).toBe(false);
    expect(accepts('^22.17.0 || >=24.0.0', [23, 0])).toBe(false);
    expect(accepts('>=18 <23', [24, 0])).toBe(false);
    expect(accepts('20 || >=22', [20, 19])).toBe(true);
  });

  it('runs no script of any package', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> };
    expect(Object.values(allowScripts).filter((allowed) => allowed)).toEqual([]);
  });
});

describe('the bill of materials', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-sbom-'));
  const make = (name: string): string => {
    const file = path.join(folder, name);
    execFileSync(process.execPath, [path.join(repository, 'scripts', 'sbom.ts'), '--out', file], { stdio: 'ignore' });
    return readFileSync(file, 'utf8');
  };

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is CycloneDX 1.6, has every package of the lock file with its checksum, and is the same each time', () => {
    const text = make('first.json');
    expect(make('second.json')).toBe(text);
    const bom = JSON.parse(text) as Bom;
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    const locked = Object.entries(lock.packages).filter(([at, { link }]) => at !== '' && link !== true);
    expect(bom.components.map((component) => component['bom-ref']).sort()).toEqual(locked.map(([at]) => at).sort());
    const fastify = bom.components.find(({ name }) => name === 'fastify');
    expect(fastify).toMatchObject({
      type: 'library',
      version: lock.packages['node_modules/fastify']?.version,
      scope: 'required',
      licenses: [{ license: { id: 'MIT' } }],
    });
    expect(fastify?.purl).toBe(`pkg:npm/fastify@${fastify?.version}`);
    expect(fastify?.hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
    expect(bom.components.find(({ name }) => name === 'eslint')?.scope).toBe('excluded');
    expect(bom.components.find(({ group, name }) => group === '@fastify' && name === 'static')?.purl).toMatch(
      /^pkg:npm\/%40fastify\/static@/,
    );
    expect(text).not.toMatch(/https?:/);
  });

  it('lists dependencies between its own components only', () => {
    const bom = JSON.parse(make('graph.json')) as Bom;
    const refs = new Set([bom.metadata.component['bom-ref'], ...bom.components.map((one) => one['bom-ref'])]);
    expect(bom.dependencies.map(({ ref }) => ref).filter((ref) => !refs.has(ref))).toEqual([]);
    expect(bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
    const gateway = bom.dependencies.find(({ ref }) => ref === 'apps/gateway');
    expect(gateway?.dependsOn).toEqual(expect.arrayContaining(['libs/bus', 'node_modules/fastify']));
  });
});
