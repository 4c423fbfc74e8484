import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The entry of a package in the lock file. */
interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
  readonly workspaces?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly lockfileVersion: number;
  /** by the folder of the package; the key of the repository itself is empty */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const modulesFolder = 'node_modules/';

export function readLockFile(repository: string): LockFile {
  return JSON.parse(readFileSync(path.join(repository, 'package-lock.json'), 'utf8')) as LockFile;
}

/** The name that the package was published under, which need not be that of its folder. */
function publishedNameOf(folder: string, { name }: LockedPackage): string {
  return name ?? folder.slice(folder.lastIndexOf(modulesFolder) + modulesFolder.length);
}

/** Whether the package comes from a registry, and not from this repository. */
function isFromRegistry(folder: string, { link }: LockedPackage): boolean {
  return folder.includes(modulesFolder) && link !== true;
}

/** Where Node.js finds a dependency of the package in a folder. */
function dependencyFolder({ packages }: LockFile, startFolder: string, name: string): string | undefined {
  for (
    let parent = startFolder;
    ;
    parent = parent.includes(`/${modulesFolder}`) ? parent.slice(0, parent.lastIndexOf(`/${modulesFolder}`)) : ''
  ) {
    const folder = parent === '' ? `${modulesFolder}${name}` : `${parent}/${modulesFolder}${name}`;
    if (packages[folder] !== undefined) return folder;
    if (parent === '') return undefined;
  }
}

const exactVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/;
const sha512 = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** The entries with which an installed package could differ from the reviewed one; empty when there are none. */
export function lockFileFaults({ lockfileVersion, packages }: LockFile): string[] {
  const faults = lockfileVersion >= 3 ? [] : [`The lock file has version ${lockfileVersion}, not 3.`];
  for (const [folder, locked] of Object.entries(packages)) {
    const { version, resolved, integrity, dependencies, devDependencies, optionalDependencies } = locked;
    if (!isFromRegistry(folder, locked)) {
      const request = { ...dependencies, ...devDependencies, ...optionalDependencies };
      for (const [name, range] of Object.entries(request)) {
        if (!exactVersion.test(range))
          faults.push(`${folder || 'The repository'} asks for ${name} ${range}, not for one version.`);
      }
      continue;
    }
    if (integrity === undefined || !sha512.test(integrity)) faults.push(`${folder} has no checksum.`);
    if (version === undefined || !exactVersion.test(version)) faults.push(`${folder} is of no one version.`);
    // Without a URL the package can be fetched from any mirror: the checksum proves that it is the same.
    if (resolved !== undefined) faults.push(`${folder} names where it is fetched from.`);
  }
  return faults;
}

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

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The scopes of components: required at run time, optional, and only for development. */
function scopeOf({ dev, optional, devOptional }: LockedPackage): Component['scope'] {
  return dev === true || devOptional === true ? 'excluded' : optional === true ? 'optional' : 'required';
}

function licensesOf(license: string): Component['licenses'] {
  return /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

function componentOf(folder: string, locked: LockedPackage): Component {
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
}

/** The serial number, derived from the lock file: it is the same for the same lock file. */
function serialNumberOf(lock: LockFile): string {
  const digest = createHash('sha256').update(JSON.stringify(lock)).digest('hex');
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `a${digest.slice(17, 20)}`];
  return `urn:uuid:${[...parts, digest.slice(20, 32)].join('-')}`;
}

/** All components of the repository and their dependencies, from the lock file alone. */
export function billOfMaterials(lock: LockFile): Bom {
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
}
