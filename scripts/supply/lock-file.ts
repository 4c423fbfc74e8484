import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The entry of a package in the lock file. */
export interface LockedPackage {
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

export const readLockFile = (repository: string): LockFile =>
  JSON.parse(readFileSync(path.join(repository, 'package-lock.json'), 'utf8')) as LockFile;

/** The name that the package was published under, which need not be that of its folder. */
export const publishedNameOf = (folder: string, { name }: LockedPackage): string =>
  name ?? folder.slice(folder.lastIndexOf(modulesFolder) + modulesFolder.length);

/** Whether the package comes from a registry, and not from this repository. */
export const isFromRegistry = (folder: string, { link }: LockedPackage): boolean =>
  folder.includes(modulesFolder) && link !== true;

/** Where Node.js finds a dependency of the package in a folder. */
export const dependencyFolder = ({ packages }: LockFile, startFolder: string, name: string): string | undefined => {
  for (
    let parent = startFolder;
    ;
    parent = parent.includes(`/${modulesFolder}`) ? parent.slice(0, parent.lastIndexOf(`/${modulesFolder}`)) : ''
  ) {
    const folder = parent === '' ? `${modulesFolder}${name}` : `${parent}/${modulesFolder}${name}`;
    if (packages[folder] !== undefined) return folder;
    if (parent === '') return undefined;
  }
};

const exactVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/;
const sha512 = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** The entries with which an installed package could differ from the reviewed one; empty when there are none. */
export const lockFileFaults = ({ lockfileVersion, packages }: LockFile): string[] => {
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
};
