import type { PatchableMembers } from '../src/features/json-patch.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Step {
  readonly op: 'add' | 'remove' | 'replace' | 'copy' | 'move';
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

class Everything extends Set<string> {
  override has(): boolean {
    return true;
  }
}

/** Allows any members. */
export const anyDocument: PatchableMembers = { members: new Everything(), maps: new Set() };

const no = (why: string): never => {
  throw new Error(why);
};

const keysOf = (pointer: string): string[] => {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~([^01]|$)/.test(pointer)) no('no pointer');
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
};

const indexIn = (list: readonly Json[], key: string, max: number): number =>
  /^(0|[1-9]\d*)$/.test(key) && Number(key) <= max ? Number(key) : no(`no index of ${list.length}`);

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const at = (value: Json, keys: readonly string[]): Json => {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (Array.isArray(value)) return at((value as readonly Json[])[indexIn(value, key, value.length - 1)] as Json, rest);
  if (isObject(value) && Object.hasOwn(value, key)) return at(value[key] as Json, rest);
  return no('nothing there');
};

/** A copy of the value in which `change` is applied to the container of the part at `keys`. */
const changed = (value: Json, keys: readonly string[], change: (container: Json, key: string) => Json): Json => {
  const [key = '', ...rest] = keys;
  if (rest.length === 0) return change(value, key);
  const inner = changed(at(value, [key]), rest, change);
  if (Array.isArray(value)) return (value as readonly Json[]).with(Number(key), inner);
  return { ...(value as { readonly [name: string]: Json }), [key]: inner };
};

const without = (container: Json, key: string): Json => {
  if (Array.isArray(container))
    return (container as readonly Json[]).toSpliced(indexIn(container, key, container.length - 1), 1);
  if (!isObject(container) || !Object.hasOwn(container, key)) return no('nothing to remove');
  const { [key]: _, ...rest } = container;
  return rest;
};

const added =
  (value: Json) =>
  (container: Json, key: string): Json => {
    if (Array.isArray(container)) {
      const index = key === '-' ? container.length : indexIn(container, key, container.length);
      return (container as readonly Json[]).toSpliced(index, 0, value);
    }
    return isObject(container) ? { ...container, [key]: value } : no('no container');
  };

const replaced =
  (value: Json) =>
  (container: Json, key: string): Json => {
    if (Array.isArray(container))
      return (container as readonly Json[]).with(indexIn(container, key, container.length - 1), value);
    return isObject(container) && Object.hasOwn(container, key)
      ? { ...container, [key]: value }
      : no('nothing to replace');
  };

const has = (document: Json, keys: readonly string[]): boolean => {
  try {
    at(document, keys);
    return true;
  } catch {
    return false;
  }
};

const stepped = (document: Json, { op, path, from, value }: Step): Json => {
  const keys = keysOf(path);
  // Two exceptions to RFC 6902 (docs/behaviour.md, JSON Patch): a member of the document itself may be missing, and a step without
  // value removes its property.
  const isMember = keys.length === 1;
  switch (op) {
    case 'add':
    case 'replace': {
      if (value === undefined) {
        const container = keys.length === 0 ? no('no value') : at(document, keys.slice(0, -1));
        if (!isObject(container)) return no('no value');
        return has(document, keys) ? changed(document, keys, without) : document;
      }
      if (keys.length === 0) return isObject(value) ? value : no('no object');
      return changed(document, keys, op === 'add' || isMember ? added(value) : replaced(value));
    }
    case 'remove':
      if (keys.length === 0) return no('the whole');
      return isMember && !has(document, keys) ? document : changed(document, keys, without);
    case 'copy':
    case 'move': {
      const source = keysOf(from ?? no('no from'));
      const moved = at(document, source);
      if (op === 'copy') {
        if (keys.length === 0) return isObject(moved) ? moved : no('no object');
        return changed(document, keys, added(moved));
      }
      if (source.length === 0) return no('the whole cannot be moved');
      if (keys.length === 0) return isObject(moved) ? moved : no('no object');
      if (path === from) return document;
      if (path.startsWith(`${from}/`)) return no('into itself');
      return changed(changed(document, source, without), keys, added(moved));
    }
  }
};

/** A second implementation of JSON Patch, written from RFC 6902 alone, to compare with. */
export const strictlyPatched = (document: Json, patch: readonly Step[]): Json => patch.reduce(stepped, document);
