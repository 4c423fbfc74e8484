import { createHash } from 'node:crypto';
import { dependencyFolder, isFromRegistry, type LockedPackage, type LockFile, publishedNameOf } from './lock-file.ts';

interface Component {
  readonly type: 'library' | 'application';
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly scope?: 'required' | 'optional' | 'excluded';
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
}

/** A bill of materials: CycloneDX 1.6. */
export interface Bom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** The scopes of components: required at run time, optional, and only for development. */
const scopeOf = ({ dev, optional, devOptional }: LockedPackage): Component['scope'] =>
  dev === true || devOptional === true ? 'excluded' : optional === true ? 'optional' : 'required';

const licensesOf = (license: string): Component['licenses'] =>
  /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];

const componentOf = (folder: string, locked: LockedPackage): Component => {
  const fullName = folder === '' ? (locked.name ?? 'bunting') : publishedNameOf(folder, locked);
  const version = locked.version ?? '0.0.0';
  const [group, name] = fullName.startsWith('@') ? (fullName.split('/') as [string, string]) : [undefined, fullName];
  return {
    type: folder === '' || folder.startsWith('apps/') ? 'application' : 'library',
    'bom-ref': folder === '' ? fullName : folder,
    ...(group === undefined ? {} : { group }),
    name,
    version,
    ...(folder === '' ? {} : { scope: isFromRegistry(folder, locked) ? scopeOf(locked) : 'required' }),
    purl: purlOf(fullName, version),
    ...(locked.integrity === undefined
      ? {}
      : {
          hashes: [
            { alg: 'SHA-512', content: Buffer.from(locked.integrity.replace('sha512-', ''), 'base64').toString('hex') },
          ],
        }),
    ...(locked.license === undefined ? {} : { licenses: licensesOf(locked.license) }),
  };
};

/** The serial number, derived from the lock file: it is the same for the same lock file. */
const serialNumberOf = (lock: LockFile): string => {
  const digest = createHash('sha256').update(JSON.stringify(lock)).digest('hex');
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `a${digest.slice(17, 20)}`];
  return `urn:uuid:${[...parts, digest.slice(20, 32)].join('-')}`;
};

/** All components of the repository and their dependencies, from the lock file alone. */
export const billOfMaterials = (lock: LockFile): Bom => {
  const folders = Object.entries(lock.packages).filter(([, { link }]) => link !== true);
  const refOf = (folder: string): string => (folder === '' ? (lock.packages['']?.name ?? 'bunting') : folder);
  const dependsOn = (folder: string, locked: LockedPackage): string[] => {
    const isOwn = !isFromRegistry(folder, locked);
    const request = {
      ...locked.dependencies,
      ...locked.optionalDependencies,
      ...locked.peerDependencies,
      ...(isOwn ? locked.devDependencies : {}),
    };
    const dependencyFolders = Object.keys(request).flatMap((name) => dependencyFolder(lock, folder, name) ?? []);
    // The packages of this repository are in node_modules as links to their folders.
    return [
      ...new Set(
        dependencyFolders.map((dependency) =>
          lock.packages[dependency]?.link === true ? (lock.packages[dependency].resolved ?? dependency) : dependency,
        ),
      ),
    ].sort();
  };
  const root = lock.packages[''] ?? {};
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialNumberOf(lock),
    version: 1,
    metadata: { component: componentOf('', root) },
    components: folders.filter(([folder]) => folder !== '').map(([folder, locked]) => componentOf(folder, locked)),
    dependencies: folders.map(([folder, locked]) => ({ ref: refOf(folder), dependsOn: dependsOn(folder, locked) })),
  };
};
