import { describe, expect, it } from 'vitest';
import { allMigrations } from '../databases/service-databases.ts';
import { migrationFaults, type MigrationRule, migrationRules } from './migration-faults.ts';

const initial = { name: '1-initial', statements: ['create table flag (id int primary key, name text)'] };

async function brokenBy(
  statements: readonly string[],
  concurrently = false,
  name = '2-contract-next',
): Promise<MigrationRule[]> {
  const faults = await migrationFaults([initial, { name, statements, concurrently }]);
  return faults.map(({ rule }) => rule);
}

/** For each rule statements that break it, and statements for the same purpose that do not. */
const cases: Readonly<
  Record<
    Exclude<MigrationRule, 'phase' | 'new-constraint'>,
    { readonly breaking: readonly string[]; readonly safe: readonly string[] }
  >
> = {
  drop: {
    breaking: [
      'drop table flag',
      'alter table flag drop column name',
      'alter table flag drop constraint flag_pkey',
      'alter table flag alter name drop default',
      'truncate flag',
      'drop function f',
      'drop index flag_name',
      'drop view v',
    ],
    safe: ['create table t (id int); drop table t', 'alter table flag alter name drop not null'],
  },
  rename: {
    breaking: [
      'alter table flag rename to feature',
      'alter table flag rename column name to title',
      'alter index i rename to j',
      'alter table flag set schema other',
    ],
    safe: ['alter table flag add column title text', 'create table t (id int); alter table t rename to u'],
  },
  'type-change': {
    breaking: ['alter table flag alter column id type bigint'],
    safe: ['alter table flag add column long_id bigint'],
  },
  'not-null': {
    breaking: ['alter table flag add column note text not null', 'alter table flag alter column name set not null'],
    safe: [
      "alter table flag add column note text not null default ''",
      'alter table flag add column made_at timestamptz not null default now()',
      'create table t (id int not null)',
    ],
  },
  'blocking-index': {
    breaking: ['create index on flag (name)', 'create unique index flag_name on flag (name)'],
    safe: ['create table t (id int); create index on t (id)'],
  },
  'unsafe-concurrent-index': {
    breaking: [
      'create index concurrently flag_name on flag (name)',
      'create index concurrently if not exists i on flag (name)',
    ],
    safe: ['create table t (id int); create index t_id on t (id)'],
  },
  'validated-constraint': {
    breaking: [
      'alter table flag add constraint c check (id > 0)',
      'alter table flag add constraint f foreign key (id) references other (id)',
      'alter table flag add constraint u unique (name)',
      'alter table flag add column parent int references flag (id)',
      'alter table flag add column size int check (size > 0)',
      'alter table flag add constraint c check (id > 0) not valid; alter table flag validate constraint c',
    ],
    safe: [
      'alter table flag add constraint c check (id > 0) not valid',
      'alter table flag validate constraint c',
      'alter table flag add constraint u unique using index flag_name',
    ],
  },
  'table-rewrite': {
    breaking: [
      'alter table flag add column uid uuid default gen_random_uuid()',
      'alter table flag add column long text generated always as (name || name) stored',
      'alter table flag add column nth bigserial',
      'alter table flag set unlogged',
      'cluster flag using flag_pkey',
      'vacuum full flag',
    ],
    safe: ['alter table flag add column uid uuid', 'alter table flag alter column name set default gen_random_uuid()'],
  },
  'data-rewrite': {
    breaking: [
      "update flag set name = 'x'",
      'delete from flag',
      'create table t (id int); insert into t select id from flag',
      'create table t as select * from flag',
    ],
    safe: [
      "insert into flag values (1, 'x')",
      'create table t (id int); insert into t values (1); update t set id = 2',
    ],
  },
  'hidden-statement': {
    breaking: ["do $$ begin execute 'drop table flag'; end $$", 'select drop_everything()'],
    safe: ["create function f() returns int language sql as 'select 1'"],
  },
};

describe('the linter over migrations', () => {
  it.each(Object.entries(cases))(
    'refuses what breaks the rule %s and accepts what does not',
    async (rule, { breaking, safe }) => {
      for (const sql of breaking) expect([sql, await brokenBy([sql])]).toEqual([sql, [rule]]);
      for (const sql of safe) expect([sql, await brokenBy([sql])]).toEqual([sql, []]);
    },
  );

  it.each(Object.entries(cases))(
    'accepts what breaks the rule %s with the reason beside it',
    async (rule, { breaking }) => {
      for (const sql of breaking) {
        expect(await brokenBy([`-- allow ${rule}: no release has read it since 0.4\n${sql}`])).toEqual([]);
        expect(await brokenBy([`-- allow ${rule}: because\n${sql}`])).toEqual([rule]);
        const other = Object.keys(migrationRules).find((name) => name !== rule) ?? '';
        expect(await brokenBy([`-- allow ${other}: no release has read it since 0.4\n${sql}`])).toEqual([rule]);
      }
    },
  );

  it('accepts an index that is created concurrently and repaired after an interruption', async () => {
    const drop = 'drop index concurrently if exists flag_name';
    const create = 'create index concurrently flag_name on flag (name)';
    expect(await brokenBy([drop, create], true)).toEqual([]);
    expect(await brokenBy([create], true)).toEqual(['unsafe-concurrent-index']);
    expect(await brokenBy([drop, create])).toEqual(['drop', 'unsafe-concurrent-index']);
  });

  it('refuses a migration whose name does not say whether the version before runs on its schema', async () => {
    const add = ['alter table flag add column note text'];
    expect(await brokenBy(add, false, '2-note')).toEqual(['phase']);
    expect(await brokenBy(add, false, '2-expand-note')).toEqual([]);
    const drop = ['-- allow drop: no release has read it since 0.4\nalter table flag drop column name'];
    expect(await brokenBy(drop, false, '2-expand-name')).toEqual(['phase']);
    expect(await brokenBy(drop, false, '2-contract-name')).toEqual([]);
  });

  it('refuses what the version before may violate in an expansion, and accepts it in a contraction', async () => {
    const drop = 'drop index concurrently if exists flag_name';
    for (const [statements, concurrently] of [
      [['alter table flag add constraint c check (name is not null) not valid'], false],
      [['alter table flag add constraint f foreign key (id) references other (id) not valid'], false],
      [['alter table flag add constraint u unique using index flag_name'], false],
      [[drop, 'create unique index concurrently flag_name on flag (name)'], true],
    ] as const) {
      expect(await brokenBy(statements, concurrently, '2-expand-next')).toEqual(['new-constraint']);
      expect(await brokenBy(statements, concurrently, '2-contract-next')).toEqual([]);
      const reason = '-- allow new-constraint: every release writes the column\n';
      const withReason = statements.map((sql) => reason + sql);
      expect(await brokenBy(withReason, concurrently, '2-expand-next')).toEqual([]);
    }
    for (const [sql, rule] of [
      ['alter table flag alter column name set not null', 'not-null'],
      ['alter table flag add constraint c check (id > 0)', 'validated-constraint'],
      ['create unique index flag_name on flag (name)', 'blocking-index'],
    ] as const)
      expect(await brokenBy([sql], false, '2-expand-next')).toEqual([rule, 'new-constraint']);
    for (const statements of [
      [drop, 'create index concurrently flag_name on flag (name)'],
      ['create table t (id int); create unique index t_id on t (id); alter table t add constraint c check (id > 0)'],
      ['alter table flag validate constraint c'],
    ])
      expect(await brokenBy(statements, true, '2-expand-next')).toEqual([]);
  });

  it('finds nothing in the migrations of the services', async () => {
    for (const [service, migrations] of Object.entries(allMigrations))
      expect([service, await migrationFaults(migrations)]).toEqual([service, []]);
  });
});
