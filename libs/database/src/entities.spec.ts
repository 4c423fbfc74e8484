import { freshDatabase } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineEntity, p } from '@mikro-orm/postgresql';
import { type Database, openDatabase } from './database.ts';
import { entitySql, missingMigrationStatements, persistDifference, TextArray, TimestampColumn } from './entities.ts';
import type { SchemaMigration } from './schema-version.ts';

const Author = defineEntity({
  name: 'Author',
  embeddable: true,
  properties: { id: p.integer().nullable(), name: p.text().nullable() },
});
const Note = defineEntity({
  name: 'Note',
  tableName: 'note',
  properties: {
    id: p.integer().primary().autoincrement(false),
    shortText: p.text(),
    writtenBy: p.embedded(Author).prefix('written_by_').nullable(),
    writtenAt: p.type(TimestampColumn),
    secret: p.text().nullable().hidden(),
  },
  indexes: [{ name: 'note_by_text', properties: ['shortText'], where: 'secret is null' }],
});
const columns = `id int primary key, short_text text not null, written_by_id int, written_by_name text,
  written_at timestamptz not null, secret text`;
const index = 'create index note_by_text on note (short_text) where secret is null';
const stepOf = (...statements: string[]): SchemaMigration[] => [{ name: '1-initial', statements }];

const writtenAt = '2026-11-22T10:00:00.123Z';
const notes = {
  anonymous: { id: 1, shortText: 'one', writtenBy: null, writtenAt },
  mine: { id: 2, shortText: 'two', writtenBy: { id: 7, name: 'mia' }, writtenAt },
};
const sql = entitySql([Note]);

describe('rows of an entity', () => {
  let database: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const fresh = await freshDatabase('entities');
    drop = () => fresh.drop();
    const migrations = stepOf(`create table note (${columns})`, index);
    database = await openDatabase({ url: fresh.url, name: 'spec', migrations, entities: [Note] });
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });
  afterEach(() => database.transaction(({ query }) => query('truncate note')));
  const stored = () => database.read({ text: `select ${sql.jsonOf(Note, 'note')} as note from note order by id` });
  const save = (before: readonly object[], after: readonly object[]) =>
    database.transaction(async ({ em }) => {
      persistDifference(em, Note, { before, after }, (note) => note as typeof notes.mine);
      const sent = database.statements;
      await em.flush();
      return database.statements - sent;
    });

  it('are inserted, updated and deleted by one statement of each kind, however many they are', async () => {
    const { anonymous, mine } = notes;
    const more = (text: string) =>
      Array.from({ length: 400 }, (_, nth) => ({ ...anonymous, id: nth + 10, shortText: text }));
    const first = more('first');
    expect(await save([], [anonymous, mine, ...first])).toBe(1);
    expect(await stored()).toHaveLength(402);
    expect(await save([anonymous, mine, ...first], [mine, { ...anonymous, id: 3 }, ...more('second')])).toBe(3);
    const texts = (await stored()).map((row) => (row as { note: typeof mine }).note.shortText);
    expect(texts).toEqual(['two', 'one', ...more('second').map(({ shortText }) => shortText)]);
    expect(await save([...first, mine], [])).toBe(1);
    expect(await stored()).toEqual([{ note: { ...anonymous, id: 3 } }]);
    expect(await save([{ ...anonymous, id: 3 }], [])).toBe(1);
  });

  it('are read as JSON with their embedded objects and without what is hidden, as they were stored', async () => {
    await save([], Object.values(notes));
    expect(await stored()).toEqual(Object.values(notes).map((note) => ({ note })));
    expect(await save(Object.values(notes), Object.values(structuredClone(notes)))).toBe(0);
  });
});

it('the columns of an entity include those of its embedded objects', () => {
  expect(sql.columnsOf(Note)).toEqual(['id', 'short_text', 'written_by_id', 'written_by_name', 'written_at', 'secret']);
  expect(sql.rowOf(Note, notes.mine)).toEqual({
    id: 2,
    short_text: 'two',
    written_by_id: 7,
    written_by_name: 'mia',
    written_at: writtenAt,
    secret: null,
  });
});

it('columns and JSON members are derived from properties, and a property without a column is refused', () => {
  expect(sql.columnsOf(Note, ['shortText', 'id'])).toEqual(['short_text', 'id']);
  expect(sql.jsonPairsOf(Note, 'note', ['id', 'shortText'])).toBe("'id', note.id, 'shortText', note.short_text");
  expect(() => sql.columnsOf(Note, ['writtenBy'])).toThrow('The entity Note has no column for writtenBy.');
});

describe('a schema that differs from its entities', () => {
  const differencesOf = async (...statements: string[]): Promise<readonly string[]> => {
    const { url, drop } = await freshDatabase('schema');
    await (await openDatabase({ url, name: 'spec', migrations: stepOf(...statements) })).close();
    const differences = await missingMigrationStatements(url, [Note]);
    await drop();
    return differences;
  };

  it('is described by the statements of the missing migration', async () => {
    const table = `create table note (${columns})`;
    expect(await differencesOf(table, index)).toEqual([]);
    expect(await differencesOf(table)).toEqual([expect.stringContaining('create index "note_by_text"')]);
    expect(
      await differencesOf(table.replace(', secret text', ''), index.replace('secret is null', 'true')),
    ).toContainEqual('alter table "note" add "secret" text null;');
    expect(await differencesOf(table.replace('short_text text not null', 'short_text text'), index)).toEqual([
      'alter table "note" alter column "short_text" set not null;',
    ]);
    expect(await differencesOf(table, index, 'create table leftover (id int)')).toEqual([
      expect.stringContaining('drop table if exists "leftover"'),
    ]);
  });
});

it('arrays of arbitrary texts are stored and read unchanged', async () => {
  const List = defineEntity({
    name: 'List',
    tableName: 'list',
    properties: { id: p.integer().primary().autoincrement(false), texts: p.type(TextArray) },
  });
  const fresh = await freshDatabase('text-arrays');
  const migrations = stepOf('create table list (id int primary key, texts text[] not null)');
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations, entities: [List] });
  const texts = ['', ' ', 'null', 'NULL', 'a,b', '{c}', '"d"', String.raw`e\f`, 'g\nh', '’ü'];
  await database.transaction(async ({ em }) => {
    em.create(List, { id: 1, texts });
    em.create(List, { id: 2, texts: [] });
    await em.flush();
  });
  const read = await database.transaction(({ em }) => em.findAll(List, { orderBy: { id: 'asc' } }));
  expect(read.map((list) => list.texts)).toEqual([texts, []]);
  expect(await database.read({ text: 'select texts from list order by id' })).toEqual([{ texts }, { texts: [] }]);
  await database.close();
  await fresh.drop();
});
