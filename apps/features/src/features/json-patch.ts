import { invalid, type JsonPatch, maxDepth, type PatchOperation, type Refusal } from '@bunting/contracts';
import jsonPatch from 'fast-json-patch';
import { shortName } from '../refusals.ts';

const { applyOperation, JsonPatchError } = jsonPatch;

/**
 * The limits of a patch and of the patched document, whose JSON is measured in UTF-16 code units. A document that exceeded them before the
 * patch may do so afterwards, but must not grow.
 */
export const patchLimits = { operations: 100, nodes: 20_000, characters: 256 * 1024 } as const;

/** The members of a document that a patch may change. */
export interface PatchableMembers {
  /** the members of the document */
  readonly members: ReadonlySet<string>;
  /** the names of members that are maps: removing a missing member of a map is no error */
  readonly maps: ReadonlySet<string>;
}

type Json = Record<string, unknown>;
type Container = Json | unknown[];

interface Size {
  nodes: number;
  characters: number;
}

/** The target of a pointer within the document: a member of a container, which may be missing. */
interface Location {
  readonly pointer: string;
  readonly keys: readonly string[];
  readonly parent: Container;
  readonly key: string;
}

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

function patchError(pointer: string, reason: string): Refusal {
  const path = shortName(pointer);
  const where = path === '' ? 'the root' : `\`${path}\``;
  return invalid(`The patch cannot be applied at ${where}: ${reason}.`, path);
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function memberOf(container: Container, key: string): unknown {
  return (container as Json)[key];
}

function has(container: Container, key: string): boolean {
  return Array.isArray(container) ? indexOf(key) < container.length : Object.hasOwn(container, key);
}

/** The index that a key of a list denotes; NaN unless it is a decimal number without sign or leading zeros. */
function indexOf(key: string): number {
  const index = Number(key);
  return Number.isSafeInteger(index) && index >= 0 && String(index) === key ? index : Number.NaN;
}

function keysOf(pointer: string, { members }: PatchableMembers): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw patchError(pointer, 'a path begins with "/"');
  if (/~(?![01])/.test(pointer)) throw patchError(pointer, 'in a path, "~" stands before 0 or 1 only');
  const keys = pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keys.some((key) => forbiddenKeys.has(key))) throw patchError(pointer, 'that name is not allowed in a path');
  if (!members.has(keys[0] as string)) {
    throw patchError(
      pointer,
      `the root object does not allow additional properties, and has no \`${shortName(keys[0] as string)}\``,
    );
  }
  if (keys.length > maxDepth) throw patchError(pointer, `it is more than ${maxDepth} levels deep`);
  return keys;
}

/** Follows a pointer up to its last key. Every container on the way must exist. Undefined for the pointer of the document itself. */
function locate(document: Container, pointer: string, patchable: PatchableMembers): Location | undefined {
  const keys = keysOf(pointer, patchable);
  const key = keys.at(-1);
  if (key === undefined) return undefined;
  let parent = document;
  for (const step of keys.slice(0, -1)) {
    const next = has(parent, step) ? memberOf(parent, step) : undefined;
    if (!isContainer(next)) throw patchError(pointer, 'nothing is there that could have such a member');
    parent = next;
  }
  return { pointer, keys, parent, key };
}

function requirePresent({ pointer, parent, key }: Location): void {
  if (!has(parent, key)) throw patchError(pointer, 'there is no such property');
}

/** Refuses a location in a list that is not one of its indexes, nor the one after the last. */
function requireInsertable({ pointer, parent, key }: Location): void {
  if (Array.isArray(parent) && key !== '-' && !(indexOf(key) <= parent.length)) {
    throw patchError(pointer, 'the list has no such index');
  }
}

/** True when the property may be missing: a member of the document itself, or of a map in it. */
function mayBeMissing({ keys, parent }: Location, { maps }: PatchableMembers): boolean {
  return !Array.isArray(parent) && (keys.length === 1 || (keys.length === 2 && maps.has(keys[0] as string)));
}

/** Measures the size of a value, and stops as soon as it exceeds the limit. */
function sizeOf(value: unknown, limit: Size, depth: number, pointer: string): Size {
  const size: Size = { nodes: 0, characters: 0 };
  const count = (characters: number): void => {
    size.characters += characters;
    if (size.nodes > limit.nodes || size.characters > limit.characters)
      throw patchError(pointer, 'the document would be too large');
  };
  const visit = (part: unknown, level: number): void => {
    if (level > maxDepth) throw patchError(pointer, `the document would be more than ${maxDepth} levels deep`);
    size.nodes += 1;
    if (!isContainer(part)) return count((JSON.stringify(part)?.length ?? 0) + 1);
    count(3);
    if (Array.isArray(part)) {
      for (const member of part) visit(member, level + 1);
      return;
    }
    for (const key of Object.keys(part)) {
      if (key === '__proto__') throw patchError(pointer, 'the name `__proto__` is not allowed in a value');
      count(JSON.stringify(key).length + 1);
      visit(part[key], level + 1);
    }
  };
  visit(value, depth);
  return size;
}

const unlimited: Size = { nodes: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

function subtract(one: Size, other: Size): Size {
  return {
    nodes: one.nodes - other.nodes,
    characters: one.characters - other.characters,
  };
}

function add(one: Size, other: Size): Size {
  return {
    nodes: one.nodes + other.nodes,
    characters: one.characters + other.characters,
  };
}

/** The size of the name of a member. */
function nameSize({ parent, key }: Location): Size {
  return {
    nodes: 0,
    characters: Array.isArray(parent) ? 0 : JSON.stringify(key).length + 1,
  };
}

/** The size of a member with its name; 0 when it does not exist. */
function sizeAt(location: Location): Size {
  const { parent, key, keys, pointer } = location;
  if (!has(parent, key)) return { nodes: 0, characters: 0 };
  return add(nameSize(location), sizeOf(memberOf(parent, key), unlimited, keys.length, pointer));
}

/** The document while a patch is applied. It never exceeds the size limit. */
class Draft {
  #document: Container;
  #size: Size;
  readonly #limit: Size;
  readonly #patchable: PatchableMembers;

  constructor(document: Json, patchable: PatchableMembers) {
    this.#document = structuredClone(document);
    this.#patchable = patchable;
    this.#size = sizeOf(document, unlimited, 0, '');
    this.#limit = {
      nodes: Math.max(patchLimits.nodes, this.#size.nodes),
      characters: Math.max(patchLimits.characters, this.#size.characters),
    };
  }

  get document(): Json {
    return this.#document as Json;
  }

  apply(operation: PatchOperation): void {
    const location = locate(this.#document, operation.path, this.#patchable);
    switch (operation.op) {
      case 'add':
      case 'replace':
        return operation.value === undefined
          ? this.#clear(location)
          : this.#put(operation.op, location, operation.value);
      case 'remove':
        return this.#remove(location);
      case 'copy':
      case 'move':
        return this.#transfer(operation.op, this.#source(operation), location);
    }
  }

  /** Applies an operation without a value: removes the property. @throws Refusal for an element of a list, which needs a value */
  #clear(location: Location | undefined): void {
    if (location === undefined || Array.isArray(location.parent)) {
      throw patchError(location?.pointer ?? '', 'the operation needs a `value`');
    }
    if (has(location.parent, location.key)) this.#remove(location);
  }

  #put(op: 'add' | 'replace', location: Location | undefined, value: unknown): void {
    if (location === undefined) return this.#replaceAll(value);
    if (op === 'add') requireInsertable(location);
    else if (location.keys.length > 1) requirePresent(location);
    this.#requireWithinLimit(location, value, op === 'replace' || !Array.isArray(location.parent));
    this.#applyOperation({ op, path: location.pointer, value: structuredClone(value) });
  }

  #remove(location: Location | undefined): void {
    if (location === undefined) throw patchError('', 'the whole document cannot be removed');
    if (!has(location.parent, location.key) && mayBeMissing(location, this.#patchable)) return;
    requirePresent(location);
    this.#size = subtract(this.#size, sizeAt(location));
    this.#applyOperation({ op: 'remove', path: location.pointer });
  }

  #transfer(op: 'copy' | 'move', source: Location | undefined, location: Location | undefined): void {
    if (source === undefined) {
      if (op === 'move') throw patchError(location?.pointer ?? '', 'the document cannot be moved into itself');
      return location === undefined ? undefined : this.#put('add', location, this.#document);
    }
    const value = memberOf(source.parent, source.key);
    if (location === undefined) return this.#replaceAll(value);
    if (op === 'copy') return this.#put('add', location, value);

    if (location.pointer === source.pointer) return;
    if (location.pointer.startsWith(`${source.pointer}/`))
      throw patchError(location.pointer, 'a value cannot be moved into itself');
    // Removing the source of a move may shift later indexes, so the target is resolved after the removal.
    const moved = structuredClone(value);
    this.#remove(source);
    this.#put('add', locate(this.#document, location.pointer, this.#patchable), moved);
  }

  #source({ op, from, path }: PatchOperation): Location | undefined {
    if (from === undefined) throw patchError(path, `the operation \`${op}\` needs a \`from\``);
    const source = locate(this.#document, from, this.#patchable);
    if (source !== undefined) requirePresent(source);
    return source;
  }

  #replaceAll(value: unknown): void {
    if (!isContainer(value) || Array.isArray(value)) throw patchError('', 'the whole document must be an object');
    this.#size = sizeOf(value, this.#limit, 0, '');
    this.#document = structuredClone(value);
  }

  /** Refuses a value that exceeds the remaining size limit, without measuring more of it than fits. */
  #requireWithinLimit(location: Location, value: unknown, replaces: boolean): void {
    const unchanged = replaces ? subtract(this.#size, sizeAt(location)) : this.#size;
    const sizeWithoutValue = add(unchanged, nameSize(location));
    const remaining = subtract(this.#limit, sizeWithoutValue);
    this.#size = add(sizeWithoutValue, sizeOf(value, remaining, location.keys.length, location.pointer));
  }

  #applyOperation(operation: Parameters<typeof applyOperation>[1]): void {
    try {
      this.#document = applyOperation<Container>(this.#document, operation).newDocument;
    } catch (error) {
      if (error instanceof JsonPatchError || error instanceof TypeError) {
        throw patchError(operation.path, `the operation \`${operation.op}\` is not possible there`);
      }
      throw error;
    }
  }
}

/**
 * The document after a patch; neither the document nor the patch is modified. Refuses a step whose path leads nowhere or to none of the
 * patchable members, and one that would exceed a limit, with the path at fault, before the step is applied.
 */
export function applyPatch(document: Json, patch: JsonPatch, patchable: PatchableMembers): Json {
  if (patch.length > patchLimits.operations) {
    throw invalid(`The \`/body\` property must NOT have more than ${patchLimits.operations} items.`, '/body');
  }
  const draft = new Draft(document, patchable);
  for (const operation of patch) draft.apply(operation);
  return draft.document;
}
